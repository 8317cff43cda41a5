package runtime

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

// weights has the weight of each kind of evidence. A cause's score is the sum of its evidence,
// between 0 and 1. The weights are chosen by what a person would examine first; the proof lists
// those that were used.
var weights = map[string]float64{
	"handler":        0.45, // a commit changed the handler of the operation
	"callee":         0.35, // a commit changed what the handler calls: times 0.8 for each further call
	"file":           0.5,  // a factor: only the file is known to have changed
	"configuration":  0.25, // a commit changed configuration files of the service
	"deploy":         0.15, // a deploy
	"configured":     0.10, // a command that configures
	"about":          0.20, // the command concerns the service
	"version":        0.35, // a version of the service that was not seen before
	"first failing":  0.30, // the operation never failed before it, although it was requested, and failed after it
	"fails more":     0.15, // the failure rate at least doubled after it
	"failed already": -0.25,
	"deployed":       0.10, // of a commit: a deploy came between it and the failure
	"recent":         0.15, // times how close it is to the failure, relative to the searched days
}

const (
	farther    = 0.8
	reachDepth = 3
	// maxReached is the maximum number of symbols whose commits are examined.
	maxReached = 400
)

// find returns the possible causes of the span, the highest score first.
func (c *causes) find(own *Join) ([]SpanCause, error) {
	deploys, err := c.j.a.commands("deploy", c.from, c.until)
	if err != nil {
		return nil, err
	}
	configures, err := c.j.a.commands("configure", c.from, c.until)
	if err != nil {
		return nil, err
	}
	all, err := c.commits(own)
	if err != nil {
		return nil, err
	}
	conf, err := c.configurations(all)
	if err != nil {
		return nil, err
	}
	all = append(all, conf...)
	for i := range all {
		for _, d := range deploys {
			if d.Time.After(all[i].Time) {
				all[i].add("deployed", 1, "a deploy came between it and the failure: "+brief(d.Command))
				break
			}
		}
	}
	all = append(all, c.run("deploy", "deploy", deploys)...)
	for _, x := range c.run("command", "configured", configures) {
		if len(x.Evidence) > 1 { // of commands that configure, only those that concern the service
			all = append(all, x)
		}
	}
	all = append(all, c.versions()...)
	for i := range all {
		if err := c.judge(&all[i]); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(all, func(x, y SpanCause) int {
		return cmp.Or(cmp.Compare(y.Score, x.Score), y.Time.Compare(x.Time), cmp.Compare(x.Kind, y.Kind))
	})
	step := query.Step{Operator: "rank", Inputs: map[string]string{}, Counts: map[string]int64{"causes": int64(len(all))}}
	for name, w := range weights {
		step.Inputs[name] = fmt.Sprintf("%g", w)
	}
	for i, x := range all {
		if p := x.position(); p != nil && len(step.Hits) < maxHits {
			step.Hits = append(step.Hits, query.Evidence{Position: *p, Rank: i + 1, Score: x.Score})
		}
	}
	c.j.a.Step(step)
	c.j.a.RecordTime("rank")
	return all, nil
}

func (x *SpanCause) add(rule string, factor float64, shows string) {
	x.Evidence = append(x.Evidence, CauseEvidence{Shows: shows, Weight: round(weights[rule] * factor), Rule: rule})
}

func round(f float64) float64 { return math.Round(f*1000) / 1000 }

// commits returns the commits that changed the handler of the operation, or what it calls.
func (c *causes) commits(own *Join) (all []SpanCause, err error) {
	var reached []code.Handled
	var distance []int
	seen := map[string]bool{}
	for _, j := range []*Join{own, c.handler()} {
		if j == nil || j.handled == nil {
			continue
		}
		some, far := c.j.c.Reach(*j.handled, reachDepth)
		for i, h := range some {
			if k := h.Repo + "\x00" + string(h.Key); !seen[k] && len(reached) < maxReached {
				seen[k] = true
				reached, distance = append(reached, h), append(distance, far[i])
			}
		}
	}
	changes, err := c.j.c.Changes(reached, maxCommits)
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i := range reached {
		for _, ch := range changes[i] {
			if ch.Time.Before(c.from) || ch.Time.After(c.until) {
				continue
			}
			factor, rule, shows := 1.0, "handler", "changed what handles it: "+reached[i].Name
			if distance[i] > 0 {
				factor, rule = math.Pow(farther, float64(distance[i]-1)), "callee"
				shows = fmt.Sprintf("changed %s, %d %s away from what handles it", reached[i].Name, distance[i], plural(distance[i], "call"))
			}
			if ch.By == code.ByFile {
				factor *= weights["file"]
				shows = "changed the file of " + reached[i].Name + "; which symbols is not known"
			}
			x := SpanCause{Kind: "commit", Time: ch.Time, Commit: &ch, Symbol: &reached[i].Symbol, Distance: distance[i]}
			x.add(rule, factor, shows)
			k, ok := at[ch.Repo+"@"+ch.Commit]
			if !ok {
				at[ch.Repo+"@"+ch.Commit] = len(all)
				all = append(all, x)
			} else if x.Evidence[0].Weight > all[k].Evidence[0].Weight {
				all[k] = x
			}
		}
	}
	c.j.a.Step(query.Step{Operator: "changes", Counts: map[string]int64{"symbols": int64(len(reached)), "commits": int64(len(all))}})
	c.j.a.RecordTime("changes")
	return all, nil
}

// handler returns the join of the subject.
func (c *causes) handler() *Join {
	if c.of == nil {
		return nil
	}
	return c.of.Code
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// configurations returns commits that changed the service's configuration, except those already
// known as causes.
func (c *causes) configurations(known []SpanCause) (all []SpanCause, err error) {
	home := c.j.homes.homeOf(c.span.service)
	if home == nil {
		return nil, nil
	}
	changes, files, err := c.j.c.ConfigurationChanges(home.Repo, home.Dir, c.from, c.until, maxCommits)
	if err != nil {
		return nil, err
	}
	for i, ch := range changes {
		if slices.ContainsFunc(known, func(x SpanCause) bool { return x.Commit.Commit == ch.Commit }) {
			continue
		}
		x := SpanCause{Kind: "configuration", Time: ch.Time, Commit: &changes[i], Files: files[i]}
		x.add("configuration", 1, "changed "+files[i][0])
		all = append(all, x)
	}
	return all, nil
}

// run makes causes of commands.
func (c *causes) run(kind, rule string, commands []commands.Intent) (all []SpanCause) {
	for i, in := range commands {
		x := SpanCause{Kind: kind, Time: in.Time, Command: &commands[i]}
		x.add(rule, 1, map[string]string{"deploy": "a deploy", "command": "a command that configures"}[kind])
		if by := about(in, c.span.service, c.j.homes.homeOf(c.span.service)); by != "" {
			x.add("about", 1, by)
		}
		all = append(all, x)
	}
	return all
}

// versions returns the versions of the service that were first seen in the searched days, except
// the very first version.
func (c *causes) versions() (all []SpanCause) {
	versions := versionsOf(c.j.homes.observers[c.span.service].Observers)
	for i, v := range versions {
		if v.First.Before(c.from) || v.First.After(c.until) || v.Version+v.Revision == "" {
			continue
		}
		if !slices.ContainsFunc(versions, func(o Version) bool { return o.First.Before(v.First) }) {
			continue
		}
		x := SpanCause{Kind: "version", Time: v.First, Version: &versions[i]}
		x.add("version", 1, "spans of "+c.span.service+" say "+cmp.Or(v.Version, v.Revision)+" from then on")
		all = append(all, x)
	}
	return all
}

// judge adds the evidence that applies to every cause: the failure rate of the operation before and
// after it, and its closeness in time.
func (c *causes) judge(x *SpanCause) error {
	if c.of != nil {
		before, err := c.rate(x.Time)
		if err != nil {
			return err
		}
		whole := rate{c.of.Count, c.of.Errors}
		after := rate{whole.count - min(before.count, whole.count), whole.errors - min(before.errors, whole.errors)}
		switch {
		case whole.errors == 0 || after.errors == 0:
		case before.errors == 0 && before.count > 0:
			x.add("first failing", 1, fmt.Sprintf("%s was asked for %d times in the days before it and never failed; after it %d of %d failed", c.of.Operation, before.count, after.errors, after.count))
		case before.errors > 0 && after.share() >= 2*before.share():
			x.add("fails more", 1, fmt.Sprintf("failed %.3g %% before it, %.3g %% after it", 100*before.share(), 100*after.share()))
		case before.errors > 0:
			x.add("failed already", 1, fmt.Sprintf("%d of %d had failed before it", before.errors, before.count))
		}
	}
	near := 1 - float64(c.until.Sub(x.Time))/float64(c.days)
	x.add("recent", max(0, near), ago(c.until.Sub(x.Time))+" before the failure")
	for _, e := range x.Evidence {
		x.Score += e.Weight
	}
	x.Score = round(min(1, max(0, x.Score)))
	return nil
}

func (r rate) share() float64 {
	if r.count == 0 {
		return 0
	}
	return float64(r.errors) / float64(r.count)
}

// ago formats how long before the failure something happened.
func ago(d time.Duration) string {
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%ds", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 2*day:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/day)
}

// position returns the position of the cause in the log, or nil for a version, which many spans
// show.
func (x *SpanCause) position() *schemas.Position {
	switch {
	case x.Commit != nil:
		return &x.Commit.Position
	case x.Command != nil:
		return &x.Command.Position
	}
	return nil
}
