package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/evidenceview"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/question"
	"github.com/recountdb/recount/schemas"
)

// evidenceFlags are the flags of a question for evidence.
type evidenceFlags struct {
	verbs.MomentFlags
	r                evidence.Request
	since, until, at string
	hops             int

	versions, text, provenance, wide bool
}

func (e *evidenceFlags) add(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&e.r.Scope.Agent, "agent", "", "only objects of this agent")
	f.StringVar(&e.r.Scope.Session, "session", "", "only objects of this session")
	f.StringVar(&e.r.Scope.Workspace, "workspace", "", "only objects of this workspace")
	f.StringVar(&e.r.Scope.Task, "task", "", "only objects that are part of this task")
	f.StringVar(&e.since, "since", "", "only objects from this time or later: an age (2d), a day, or an RFC 3339 time")
	f.StringVar(&e.until, "until", "", "only what happened before this time")
	f.StringVar(&e.at, "at", "", "the time to use as now, for age and validity (default --as-of, else the time of the newest object)")
	f.StringSliceVar(&e.r.Types, "type", nil, "only objects of these types: memory, state, artifact, tool_call, task, handoff, announcement, event, recall (who used what); may be repeated")
	f.StringSliceVar(&e.r.Events, "event", nil, "only objects that events of these types stated, such as user_message or tool_result_returned; may be repeated")
	f.StringSliceVar(&e.r.Memory, "memory", nil, "only memories of these kinds: episodic, factual, procedural, reflective; may be repeated")
	f.StringSliceVar(&e.r.Kinds, "kind", nil, "kinds of results: objects, commands, commits, symbols, runtime; may be repeated (default objects, and what the question implies)")
	f.StringSliceVar(&e.r.Expand.Kinds, "relation", nil, "add only objects joined by these edges: caused_by, derived_from, supports, contradicts, supersedes, …; may be repeated")
	f.IntVar(&e.hops, "hops", 0, fmt.Sprintf("maximum distance of added objects from a hit, 0 to %d edges (default 1; subgraph 2, objects 0)", evidence.MaxHops))
	f.Float64Var(&e.r.Expand.MinConfidence, "min-confidence", 0, "follow only edges with at least this confidence to add objects, 0 to 1")
	f.IntVar(&e.r.Expand.Nodes, "nodes", evidence.DefaultNodes, fmt.Sprintf("maximum number of objects, including hits and their causes, up to %d", evidence.MaxNodes))
	f.StringVar(&e.r.Mode, "mode", evidence.ModeEvidence, "objects (the hits), evidence (and their causes), subgraph (and the objects around them), context (texts with citations, for a model)")
	f.IntVar(&e.r.Tokens, "tokens", evidence.DefaultTokens, fmt.Sprintf("maximum number of tokens in mode context, up to %d", evidence.MaxTokens))
	f.IntVarP(&e.r.Limit, "limit", "n", evidence.DefaultLimit, fmt.Sprintf("maximum number of hits, up to %d; for each other kind up to five more", evidence.MaxLimit))
	f.BoolVar(&e.versions, "versions", false, "show the versions of objects that have several")
	f.BoolVar(&e.text, "text", false, "show whole texts")
	f.BoolVar(&e.provenance, "provenance", false, "with --json: print all supporting events in full")
	f.BoolVar(&e.wide, "wide", false, "do not cut long lines")
	e.MomentFlags.Add(c)
	for name, words := range map[string][]string{
		"mode": {evidence.ModeObjects, evidence.ModeEvidence, evidence.ModeSubgraph, evidence.ModeContext},
		"type": {"memory", "state", "artifact", "tool_call", "task", "handoff", "announcement", "event", "recall"},
		"event": {
			"user_message", "assistant_message", "tool_call_issued", "tool_result_returned", "plan_updated", "critique_generated", "task_started", "task_finished",
			"handoff_occurred", "artifact_produced", "state_changed", "memory_stated", "work_announced", "work_ended", "recall.used",
		},
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
	m, err := e.Moment(now)
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
	if r.At.IsZero() && r.AsOf.IsZero() && evidence.NamesTime(text) {
		r.At = now // what "yesterday" is relative to stands in the request
	}
	if c.Flags().Changed("hops") {
		r.Expand.Hops = &e.hops
	}
	for _, part := range []struct {
		name string
		want bool
	}{
		{evidence.IncludeProof, e.Proof || people},
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
		Short: "Query what agents said, did and learned, with the evidence",
		Long: `Query what agents said, did and learned. The answer is evidence and not generated text:
what was found, who said it and when, what led to it, what replaced it, who contradicts
it, and which events in the log show that. Without words it lists the newest objects.

Ids, positions, paths, commits (9fceb02), issues (acme/shop#12) and KIND:NAME (tool:bash,
file:cart.go, url:https://…) in the question are looked up directly; agent:NAME and
session:NAME are --agent and --session. Replaced objects are marked and ranked behind
valid ones. --as-of answers from what was known at a time or watermark. recount show
prints everything about one object.
Exits with 1 if nothing is found.`,
		Example: `  recount ask why does checkout fail
  recount ask which port does staging use --memory factual
  recount ask --agent claude --since 2d                     what claude did since the day before yesterday
  recount ask --event user_message --session s-1            the prompts of a session
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
	return a.printAnswer(resp, resp.Rests(), flags.Proof, func() {
		d := evidenceview.Drawing{Drawing: a.NewDrawing(flags.wide, now), Whole: flags.text, Versions: flags.versions, Ranks: flags.Proof}
		d.Draw(resp)
	})
}

// showObject shows the agents' object that an id or a position names, if it is one.
func (a *app) showObject(ctx context.Context, by verbs.Answers, ref string, proof bool) (shown bool, err error) {
	r := evidence.Request{
		Text:    ref,
		Include: []string{evidence.IncludeProof, evidence.IncludeVersions, evidence.IncludeProvenance, evidence.IncludeText},
	}
	resp, err := a.objectOf(ctx, by, r)
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
func (a *app) objectOf(ctx context.Context, by question.Answerer, r evidence.Request) (*evidence.Response, error) {
	if _, err := schemas.ParseEventID(r.Text); err != nil {
		if _, err := schemas.ParsePosition(r.Text); err != nil {
			return nil, nil
		}
	}
	r.Limit, r.Kinds = 1, []string{evidence.KindObjects}
	// The result of a call is shown with the call, unless calls are left out.
	for _, types := range [][]string{r.Types, {"memory"}} {
		r.Types = types
		resp, err := evidence.Question.Ask(ctx, by, r)
		if err != nil {
			return nil, a.unanswered(err)
		}
		if len(resp.Objects) == 0 {
			return nil, nil
		}
		if o := resp.Objects[0]; o.ID == r.Text || o.EventID == r.Text || o.Position == r.Text {
			return &resp, nil
		}
	}
	return nil, nil // the text matched another object
}
