package commands

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

const (
	// minRecurring is the minimum number of runs, or of similar failures, of a template to
	// be a pattern.
	minRecurring = 2
	// maxEvidence is the maximum number of positions that a pattern lists.
	maxEvidence = 5
)

// Insights returns what recurs among the newest commands that pass the filters, at most
// MaxInsightCommands: templates, sequences of them within sessions, similar failures, and
// what usually comes next. Counts are exact. Filtered commands are ignored: with a filter,
// a sequence consists of commands that pass it. Only a success that fixed a failure counts
// as that also where the filter of outcomes leaves it out.
//
// An error is a *RequestError, a *NotVisibleError, for After a *NotFoundError or
// an *AmbiguousError, the context's, or one of the projections.
func Insights(ctx context.Context, s Sources, r InsightsRequest) (InsightsResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return InsightsResponse{}, err
	}
	// The projection lexical is not needed.
	a, err := s.open(ctx, r.Moment, segment.Name, narrative.Name)
	if err != nil {
		return InsightsResponse{}, err
	}
	defer a.Close()
	n := insight{session: a, r: r}
	if err := n.run(); err != nil {
		return InsightsResponse{}, err
	}
	n.resp.Hint = s.knownSince(n.resp.Hint, r.Filters.Since)
	n.resp.Proof, n.resp.Timing = n.Proof, n.Timing()
	return n.resp, nil
}

// insight is the state of one query.
type insight struct {
	*session
	r    InsightsRequest
	runs *runs
	resp InsightsResponse
}

func (n *insight) run() error {
	n.resp = InsightsResponse{
		Basis:     query.Basis{Status: query.StatusOK, Watermark: n.Visible, AppliedFilters: []query.AppliedFilter{}},
		Templates: []TemplateStat{}, Sequences: []SequenceStat{}, Failures: []FailureCluster{}, Next: []Suggestion{},
	}
	runs, err := gather(n.session, n.r.Filters, MaxInsightCommands)
	if err != nil {
		return err
	}
	n.runs = runs
	filters := compile(n.r.Filters, n.as, n.exitCode)
	for _, m := range filters {
		n.resp.AppliedFilters = append(n.resp.AppliedFilters, m.AppliedFilter)
	}
	if n.as.Offsets != nil {
		n.resp.AppliedFilters = append(n.resp.AppliedFilters, query.AppliedFilter{Field: "as_of", Op: "below", Value: n.as.Offsets.String()})
	}
	n.resp.Commands = int64(len(runs.list))
	n.Step(runs.step(MaxInsightCommands))
	n.RecordTime("scan")
	for _, part := range []func() error{n.templates, n.sequences, n.failures, n.next} {
		if err := n.Ctx.Err(); err != nil {
			return err
		}
		if err := part(); err != nil {
			return err
		}
	}
	if joined := n.joined.Load(); joined > 0 {
		n.Step(query.Step{Operator: "outcome", Counts: map[string]int64{"looked_up": joined}})
	}
	switch {
	case len(runs.list) == 0:
		n.resp.Status = query.StatusEmpty
		n.resp.Hint = n.s.noCommands()
		if !n.as.IsZero() || len(filters) > 0 {
			n.resp.Hint = "no command passes the filters; remove some of them"
		}
	case runs.capped:
		n.resp.Hint = fmt.Sprintf("only the newest %d commands were read; narrow the selection with a filter", MaxInsightCommands)
	case len(n.resp.Templates) == 0:
		n.resp.Status = query.StatusEmpty
		n.resp.Hint = "no command was run twice; patterns need a longer history"
	}
	return nil
}

// show reads the commands of runs, in the given order.
func (n *insight) show(of []int32, put func(i int, in Intent)) error {
	return n.segment.ViewAt(n.Ctx, n.positions(of), func(i int, v *segment.View) error {
		in := intentOf(v)
		err := n.complete(&in)
		put(i, in)
		return err
	})
}

func (n *insight) positions(of []int32) []schemas.Position {
	ps := make([]schemas.Position, len(of))
	for i, run := range of {
		ps[i] = n.runs.position(run)
	}
	return ps
}

func (n *insight) time(run int32) time.Time { return time.Unix(0, n.runs.list[run].time).UTC() }

// templates counts the runs of each.
func (n *insight) templates() error {
	r := n.runs
	type stat struct {
		template            int32
		runs, failed, known int64
		newest              []int32
	}
	stats := make([]stat, len(r.template.all))
	for i := range r.list {
		x := &r.list[i]
		if x.template == none {
			continue
		}
		st := &stats[x.template]
		st.template = x.template
		st.runs++
		if x.known {
			st.known++
		}
		if x.failed {
			st.failed++
		}
		if len(st.newest) < maxEvidence {
			st.newest = append(st.newest, int32(i))
		}
	}
	stats = slices.DeleteFunc(stats, func(s stat) bool { return s.runs < minRecurring })
	found := len(stats)
	slices.SortFunc(stats, func(a, b stat) int {
		return cmp.Or(cmp.Compare(b.runs, a.runs), cmp.Compare(a.newest[0], b.newest[0]))
	})
	stats = stats[:min(found, n.r.Limit)]
	sessions := make(map[int32]map[int32]bool, len(stats))
	for _, st := range stats {
		sessions[st.template] = map[int32]bool{}
	}
	for i := range r.list {
		if x := &r.list[i]; x.session != none && sessions[x.template] != nil {
			sessions[x.template][x.session] = true
		}
	}
	var examples []int32
	for _, st := range stats {
		t := TemplateStat{
			Template: r.template.all[st.template], Runs: st.runs, Failed: st.failed, Unknown: st.runs - st.known, Sessions: int64(len(sessions[st.template])),
			Last: n.time(st.newest[0]), Evidence: n.positions(st.newest),
		}
		if st.known > 0 {
			t.FailureRate = float64(st.failed) / float64(st.known)
		}
		n.resp.Templates = append(n.resp.Templates, t)
		examples = append(examples, st.newest[0])
	}
	n.Step(query.Step{Operator: "templates", Inputs: map[string]string{"min_runs": strconv.Itoa(minRecurring)}, Counts: map[string]int64{"recurring": int64(found)}})
	err := n.show(examples, func(i int, in Intent) { n.resp.Templates[i].Example = in })
	n.RecordTime("templates")
	return err
}

func (n *insight) sequences() error {
	grams, st, counts, err := sequences(n.Ctx, n.runs, n.r.Limit)
	if err != nil {
		return err
	}
	for i := range grams {
		g := &grams[i]
		s := SequenceStat{Runs: g.runs, Sessions: g.sessions, Lift: g.lift, Evidence: n.positions(st.newest(g, maxEvidence))}
		for _, t := range st.templates(g) {
			s.Templates = append(s.Templates, n.runs.template.all[t])
		}
		n.resp.Sequences = append(n.resp.Sequences, s)
	}
	n.Step(query.Step{Operator: "sequences", Inputs: map[string]string{
		"min_runs": strconv.Itoa(minSequenceRuns), "templates": fmt.Sprintf("%d to %d", minSequence, maxSequence), "rank": "runs·ln(lift)",
		"without_session": "host, user and workspace, until " + sessionGap.String() + " pass idle",
	}, Counts: counts})
	n.RecordTime("sequences")
	return nil
}

func (n *insight) failures() error {
	clusters, found := clusterFailures(n.runs, n.r.Limit)
	var examples []int32
	for _, c := range clusters {
		n.resp.Failures = append(n.resp.Failures, FailureCluster{
			Template: n.runs.template.all[c.template], ExitCode: c.exit, Signature: n.runs.signature.all[c.signature],
			Runs: c.runs, Sessions: c.sessions, Fixed: c.fixed, First: n.time(c.first), Last: n.time(c.last),
			Evidence: n.positions(c.newest),
		})
		examples = append(examples, c.last)
	}
	n.Step(query.Step{
		Operator: "failures", Inputs: map[string]string{"alike": "template, exit code, signature", "min_runs": strconv.Itoa(minRecurring)},
		Counts: map[string]int64{"failed": int64(len(n.runs.failures)), "clusters": int64(found)},
	})
	err := n.show(examples, func(i int, in Intent) { n.resp.Failures[i].Example = in })
	n.RecordTime("failures")
	return err
}

// next suggests what comes after the requested command.
func (n *insight) next() error {
	g, pos, err := n.after()
	if err != nil || n.resp.After == nil {
		return err
	}
	s, found := suggest(n.runs, g, n.r.Limit)
	var commands []int32
	for _, c := range s.list {
		n.resp.Next = append(n.resp.Next, Suggestion{
			Template: n.runs.template.all[c.template], Probability: c.probability,
			Times: c.times[c.level], Of: s.of[c.level], Given: g.describe(n.runs, c.level), Evidence: n.positions(c.newest),
		})
		commands = append(commands, c.command)
	}
	st := query.Step{
		Operator: "next", Inputs: map[string]string{"smoothing": "Witten-Bell"},
		Counts: map[string]int64{"templates": int64(found)}, Hits: []query.Evidence{{Position: pos}},
	}
	for level, times := range s.of {
		if times > 0 {
			st.Counts["after "+g.describe(n.runs, level)] = times
		}
	}
	n.Step(st)
	err = n.show(commands, func(i int, in Intent) { n.resp.Next[i].Command = in.Command })
	n.RecordTime("next")
	return err
}

// after finds the command that suggestions follow, and the commands before it.
func (n *insight) after() (given, schemas.Position, error) {
	g := given{before: none, template: none, workspace: none}
	r := n.runs
	var pos schemas.Position
	at := none
	switch {
	case n.r.After != "":
		found, err := n.locate(n.r.After)
		if err != nil {
			return g, pos, err
		}
		pos = found.pos
		at = r.indexAt(pos)
	case len(r.list) == 0:
		return g, pos, nil
	default:
		at, pos = 0, r.position(0)
	}
	err := n.segment.ViewAt(n.Ctx, []schemas.Position{pos}, func(_ int, v *segment.View) error {
		in := intentOf(v)
		n.resp.After = &in
		err := n.complete(&in)
		if in.ExitCode != nil {
			result := resultOf(*in.ExitCode, v)
			g.known, g.failed = result != narrative.Interrupted, result == narrative.Failure
		}
		return err
	})
	if err != nil {
		return g, pos, err
	}
	in := n.resp.After
	g.template, g.workspace = r.template.find(in.Template), r.workspaces.find(in.Workspace)
	if at != none && r.list[at].session != none {
		s := r.list[at].session
		of := r.order[r.from[s]:r.from[s+1]]
		if i := slices.Index(of, at); i > 0 {
			g.before = r.list[of[i-1]].template
		}
	}
	return g, pos, nil
}
