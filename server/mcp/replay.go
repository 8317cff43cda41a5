package mcp

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/wire"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/replay/run"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/runs"
)

// planned answers how a command would be run again. Nothing is executed.
func (c *call) planned(ctx context.Context, b gated, in commandsIn) (a answer, err error) {
	r, err := plan.Question.Ask(ctx, b, plan.Request{To: in.ID, Map: wordsOf(in.Map)})
	if err != nil {
		return a, err
	}
	basis := query.Basis{Status: r.Status, Hint: r.Hint, Watermark: r.Plan.Watermark}
	a.addPayload(plan.Question.Path, r, basis, planPayload(r))
	return a, nil
}

// wordsOf splits a list of mappings or hashes.
func wordsOf(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
}

// maxLeft is how many of the commands that a plan leaves out are listed.
const maxLeft = 20

func planPayload(r plan.Response) wire.Payload {
	p := wire.Payload{Question: "plan"}
	p.Set("plan", r.Plan.ID)
	p.Set("workspace", r.Plan.Workspace)
	hashes := map[int]string{}
	for _, d := range r.Agree {
		hashes[d.Step] = d.Hash
	}
	steps := p.List("steps", "cwd", "why", "asks", "danger", "agree")
	for i := range r.Plan.Steps {
		s := &r.Plan.Steps[i]
		var why, asks, danger []string
		for _, x := range s.Why {
			why = append(why, x.Text)
		}
		for _, x := range s.Asks {
			asks = append(asks, x.Text)
		}
		for _, x := range s.Danger {
			danger = append(danger, x.What+": "+x.Why)
		}
		steps.Add(stepNode(i, s.Command), s.Cwd, strings.Join(why, "; "), strings.Join(asks, "; "), strings.Join(danger, "; "), hashes[i])
	}
	left := p.List("left_out", "why")
	for _, l := range r.Plan.Left[max(0, len(r.Plan.Left)-maxLeft):] {
		left.Add(wire.Node{ID: l.Intent.String()[:wire.ShortID], Kind: "command", Name: l.Command}, l.Why)
	}
	return p
}

func stepNode(i int, command string) wire.Node {
	return wire.Node{ID: strconv.Itoa(i + 1), Kind: "step", Name: command}
}

type replayIn struct {
	Do     string `json:"do,omitempty" enum:"run,resume,apply,discard"`
	ID     string `json:"id,omitempty" doc:"command|run"`
	Map    string `json:"map,omitempty"`
	Agree  string `json:"agree,omitempty"`
	Unsure bool   `json:"unsure,omitempty"`
	// Skip lists steps to go on without, by their numbers in the plan.
	Skip string `json:"skip,omitempty"`
}

// replayed executes a plan, as far as the operator allows that.
func replayed(ctx context.Context, c *call, in replayIn) (a answer, err error) {
	do := cmp.Or(in.Do, "run")
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	if err := b.allow(ctx, "POST /v1/replay/"+do); err != nil {
		return a, err
	}
	if in.ID == "" {
		return a, &argumentError{toolReplay, "id is missing: of a command to run, or the name of a run to resume, apply or discard"}
	}
	how := runs.How{Agree: wordsOf(in.Agree), Yes: in.Unsure}
	for _, word := range wordsOf(in.Skip) {
		number, err := strconv.Atoi(word)
		if err != nil || number < 1 {
			return a, &argumentError{toolReplay, fmt.Sprintf("skip: %q: want numbers of steps: 1,3", word)}
		}
		how.Without = append(how.Without, number-1)
	}
	steps := 0
	each := func(e runs.Event) error {
		switch e.Event.Event {
		case replaying.EventRun:
			steps = e.Steps
		case replaying.EventStart:
			c.progress(ctx, api.Progress{Phase: e.Command, Done: int64(*e.Step), Total: int64(steps)})
		}
		return ctx.Err()
	}
	var report replaying.Report
	switch r := c.server.o.Runs; do {
	case "run":
		report, err = r.Start(ctx, runs.Request{Plan: plan.Request{To: in.ID, Map: wordsOf(in.Map)}, How: how}, each)
	case "resume":
		report, err = r.Resume(ctx, runs.Resumption{Run: in.ID, How: how}, each)
	case "apply":
		report, err = r.Apply(ctx, runs.Named{Run: in.ID}, each)
	default:
		if err = r.Discard(ctx, runs.Named{Run: in.ID}); err == nil {
			p := wire.Payload{Question: "replay"}
			p.Set("discarded", in.ID)
			a.addPayload("replay/discard", map[string]string{"discarded": in.ID}, query.Basis{Status: query.StatusOK}, p)
		}
		return a, err
	}
	if err != nil {
		return a, err
	}
	a.addPayload("replay/"+do, report, query.Basis{Status: query.StatusOK}, reportPayload(report))
	return a, nil
}

// maxChanges is how many of the changes of a run are listed.
const maxChanges = 50

func reportPayload(r replaying.Report) wire.Payload {
	p := wire.Payload{Question: "replay"}
	p.Set("run", r.Run)
	p.Set("status", r.Status)
	switch {
	case r.Applied:
		p.Set("changes", "applied")
	case r.Kept && r.Partly:
		p.Set("changes", "part of them may be in the real directory: do=apply goes on, do=discard leaves it so")
	case r.Kept && r.Complete():
		p.Set("changes", "not in the real directory yet: do=apply or do=discard")
	case !r.Complete():
		if r.Kept {
			p.Set("changes", "not in the real directory yet, since not all steps are done")
		}
		p.Set("next", "do=resume goes on; without the steps that skip numbers it may be complete")
	}
	if len(r.Differs) > 0 {
		ends := p.List("not as recorded", "what")
		for i, d := range r.Differs {
			if i == maxChanges {
				break
			}
			ends.Add(wire.Node{Kind: "file", Name: d.Path}, d.What)
		}
	}
	steps := p.List("steps", "status", "exit", "why", "output")
	for _, o := range r.Steps {
		exit, out := "", ""
		if o.Attempt > 0 {
			exit = strconv.Itoa(o.Exit)
		}
		if o.Status == run.Failed {
			out = tail(strings.TrimRight(o.Output, "\n"))
		}
		steps.Add(stepNode(o.Step, o.Command), string(o.Status), exit, o.Reason, out)
	}
	files := p.List("files", "change")
	for i, f := range r.Changes {
		if i == maxChanges {
			p.Set("more_files", fmt.Sprint(len(r.Changes)-maxChanges))
			break
		}
		files.Add(wire.Node{Kind: "file", Name: f.Path}, f.Kind)
	}
	return p
}
