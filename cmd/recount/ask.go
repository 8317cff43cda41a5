package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/evidenceview"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
)

// evidenceFlags are the flags of a question for evidence.
type evidenceFlags struct {
	momentFlags
	r                evidence.Request
	since, until, at string
	hops             int

	versions, text, provenance, wide bool
}

func (e *evidenceFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&e.r.Scope.Agent, "agent", "", "only what this agent said and did")
	f.StringVar(&e.r.Scope.Session, "session", "", "only of this session")
	f.StringVar(&e.r.Scope.Workspace, "workspace", "", "only of this workspace")
	f.StringVar(&e.r.Scope.Task, "task", "", "only what is part of this task")
	f.StringVar(&e.since, "since", "", "only what happened at this time or later: how long ago (2d), a day, or an RFC 3339 time")
	f.StringVar(&e.until, "until", "", "only what happened before this time")
	f.StringVar(&e.at, "at", "", "the moment that is now, for how old things are and what holds (default --as-of, else that of the newest object)")
	f.StringSliceVar(&e.r.Types, "type", nil, "only objects of these types: memory, state, artifact, tool_call, task, handoff, event, recall (who used what); may be repeated")
	f.StringSliceVar(&e.r.Memory, "memory", nil, "only memories of these kinds: episodic, factual, procedural, reflective; may be repeated")
	f.StringSliceVar(&e.r.Kinds, "kind", nil, "what may answer: objects, commands, commits, symbols, runtime; may be repeated (default objects, and what the words ask for)")
	f.StringSliceVar(&e.r.Expand.Kinds, "relation", nil, "add only what is joined by these edges: caused_by, derived_from, supports, contradicts, supersedes, …; may be repeated")
	f.IntVar(&e.hops, "hops", 1, fmt.Sprintf("how many edges away from a hit to add, 0 to %d (default 1, of subgraph 2, of objects 0)", evidence.MaxHops))
	f.Float64Var(&e.r.Expand.MinConfidence, "min-confidence", 0, "add only by edges that are at least as sure, 0 to 1")
	f.IntVar(&e.r.Expand.Nodes, "nodes", evidence.DefaultNodes, fmt.Sprintf("how many objects at most, hits and what led to them included, up to %d", evidence.MaxNodes))
	f.StringVar(&e.r.Mode, "mode", evidence.ModeEvidence, "objects (what was found), evidence (and what led to it), subgraph (and what lies around it), context (texts with citations, for a model)")
	f.IntVar(&e.r.Tokens, "tokens", evidence.DefaultTokens, fmt.Sprintf("how many tokens mode context may pack, up to %d", evidence.MaxTokens))
	f.IntVarP(&e.r.Limit, "limit", "n", evidence.DefaultLimit, fmt.Sprintf("how many hits, up to %d; of other kinds up to five each besides", evidence.MaxLimit))
	f.BoolVar(&e.versions, "versions", false, "show the versions of what has several")
	f.BoolVar(&e.text, "text", false, "show whole texts")
	f.BoolVar(&e.provenance, "provenance", false, "with --json: all events that the answer rests on, in full")
	f.BoolVar(&e.wide, "wide", false, "cut nothing, however long the lines")
	e.momentFlags.add(c)
	for name, words := range map[string][]string{
		"mode":     {evidence.ModeObjects, evidence.ModeEvidence, evidence.ModeSubgraph, evidence.ModeContext},
		"type":     {"memory", "state", "artifact", "tool_call", "task", "handoff", "event", "recall"},
		"memory":   {"episodic", "factual", "procedural", "reflective"},
		"kind":     {evidence.KindObjects, evidence.KindCommands, evidence.KindCommits, evidence.KindSymbols, evidence.KindRuntime},
		"relation": {"caused_by", "derived_from", "supports", "contradicts", "supersedes", "refers_to", "tool_produces", "part_of_task", "handed_to"},
	} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	}
}

// request returns the request that the flags describe. For people the defaults ask for more,
// because they do not read JSON.
func (e *evidenceFlags) request(c *cobra.Command, text string, now time.Time, people bool) (r evidence.Request, err error) {
	r = e.r
	r.Text = text
	m, err := e.moment()
	if err != nil {
		return r, err
	}
	r.AsOf, r.AtLeast = m.AsOf, m.AtLeast
	for _, f := range []struct {
		name, text string
		into       *time.Time
	}{{"since", e.since, &r.Since}, {"until", e.until, &r.Until}, {"at", e.at, &r.At}} {
		if *f.into, err = timespec.Parse(now, f.text); err != nil {
			return r, usage.Errorf("--%s %q: %w", f.name, f.text, err)
		}
	}
	if c.Flags().Changed("hops") {
		r.Expand.Hops = &e.hops
	}
	for _, part := range []struct {
		name string
		want bool
	}{
		{evidence.IncludeProof, e.proof || people},
		{evidence.IncludeVersions, e.versions},
		{evidence.IncludeProvenance, e.provenance || people},
		{evidence.IncludeText, e.text},
	} {
		if part.want {
			r.Include = append(r.Include, part.name)
		}
	}
	// Zero in a flag is invalid: unlike in a request, it is no default.
	for _, n := range []struct {
		name  string
		value int
	}{{"limit", r.Limit}, {"nodes", r.Expand.Nodes}, {"tokens", r.Tokens}} {
		if n.value <= 0 {
			return r, usage.Errorf("--%s %d: want 1 or more", n.name, n.value)
		}
	}
	if _, err := r.Normal(); err != nil {
		return r, usage.Wrap(err)
	}
	return r, nil
}

func (a *app) evidenceCmd() *cobra.Command {
	var flags evidenceFlags
	c := &cobra.Command{
		Use:   "ask [WORDS...]",
		Short: "Ask what agents said, did and learned, with the evidence",
		Long: `Ask what agents said, did and learned. The answer is evidence, not a text made up of
it: what was found, who said it and when, what led to it, what took its place, who says
otherwise, and by which events in the log that is known. Without words: the newest.

Ids, positions, paths, commits (9fceb02), issues (acme/shop#12) and KIND:NAME (tool:bash,
file:cart.go, url:https://…) in the question are looked up as they are. What something
else took the place of stays, marked, behind what holds; --as-of answers from what was
known at a time or below a watermark. recount show tells all of one object.
Exits with 1 if nothing is found.`,
		Example: `  recount ask why does checkout fail
  recount ask which port does staging use --memory factual
  recount ask --agent claude --since 2d                     what claude did since the day before yesterday
  recount ask flaky tests --mode context --tokens 4000      to paste into a prompt
  recount ask what changed in file:cart.go --relation caused_by --hops 3
  recount ask database --as-of 2026-11-20                   what was known then
  recount ask staging port --json | jq '.objects[0].superseded_by'`,
		RunE: func(cmd *cobra.Command, args []string) error {
			now := time.Now()
			r, err := flags.request(cmd, strings.Join(args, " "), now, !a.JSON)
			if err != nil {
				return err
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				return a.askEvidence(cmd.Context(), b, r, &flags, now)
			})
		},
	}
	flags.add(c)
	return c
}

func (a *app) askEvidence(ctx context.Context, b *connect.Backend, r evidence.Request, flags *evidenceFlags, now time.Time) error {
	resp, err := evidence.Question.Ask(ctx, b, r)
	a.ClearProgress()
	if err != nil {
		return a.unanswered(err)
	}
	switch {
	case a.JSON:
		if err := a.PrintJSON(resp); err != nil {
			return err
		}
	default:
		d := evidenceview.Drawing{Drawing: a.NewDrawing(flags.wide, now), Whole: flags.text, Versions: flags.versions}
		d.Draw(resp)
		if flags.proof {
			a.PrintProof(resp.Rests().Proof, resp.Watermark.String())
		}
	}
	if resp.Status == query.StatusEmpty {
		return exitError(exitNothing)
	}
	return nil
}

// showObject shows the agents' object that an id or a position names, if it is one.
func (a *app) showObject(ctx context.Context, b *connect.Backend, ref string, proof bool) (shown bool, err error) {
	r := evidence.Request{
		Text:    ref,
		Include: []string{evidence.IncludeProof, evidence.IncludeVersions, evidence.IncludeProvenance, evidence.IncludeText},
	}
	resp, err := a.objectOf(ctx, b, r)
	if resp == nil || err != nil {
		return false, err
	}
	if a.JSON {
		return true, a.PrintJSON(resp)
	}
	d := evidenceview.Drawing{Drawing: a.NewDrawing(false, time.Now()), Whole: true, Versions: true}
	d.Draw(*resp)
	if proof {
		a.PrintProof(resp.Rests().Proof, resp.Watermark.String())
	}
	return true, nil
}

// objectOf returns the answer about the object that the request's text, an id or a position, names;
// nil if there is none.
func (a *app) objectOf(ctx context.Context, b *connect.Backend, r evidence.Request) (*evidence.Response, error) {
	if _, err := schemas.ParseEventID(r.Text); err != nil {
		if _, err := schemas.ParsePosition(r.Text); err != nil {
			return nil, nil
		}
	}
	r.Limit, r.Kinds = 1, []string{evidence.KindObjects}
	resp, err := evidence.Question.Ask(ctx, b, r)
	if err != nil {
		return nil, a.unanswered(err)
	}
	if len(resp.Objects) == 0 {
		return nil, nil
	}
	if o := resp.Objects[0]; o.ID != r.Text && o.EventID != r.Text && o.Position != r.Text {
		return nil, nil // the text matched another object
	}
	return &resp, nil
}
