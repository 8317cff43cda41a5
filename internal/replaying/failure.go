package replaying

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/schemas"
)

// Failure is what the log knows about a step that failed: what led to the recorded run, whether the
// command is flaky, and how its last failure was fixed.
type Failure struct {
	Causes []Cause `json:"causes,omitempty" doc:"What led to the recorded run, the most likely first, at most 3."`
	Flaky  *Flaky  `json:"flaky,omitempty" doc:"How often the command failed and then succeeded with nothing else in between. The step is tried again only if the policy says so."`
	Mend   *Mend   `json:"mend,omitempty" doc:"What was done between the last recorded failure of the command and its next success."`
}

// Cause is a command that led to the recorded run.
type Cause struct {
	ID      schemas.EventID `json:"id" format:"uuid" doc:"The command's event."`
	Command string          `json:"command" example:"./configure" doc:"The command as recorded."`
	Why     string          `json:"why" example:"it wrote Makefile, which make reads" doc:"What joins them."`
	// Left says why the plan has no step for it.
	Left string `json:"left_out,omitempty" example:"it only displayed files" doc:"If the plan leaves it out: why."`
}

// Flaky counts the runs of a command.
type Flaky struct {
	Times int `json:"times" example:"3" doc:"How often it failed and succeeded when it was run again at once."`
	Runs  int `json:"runs" example:"12" doc:"Of how many recorded runs."`
}

// Mend is how a failure was fixed.
type Mend struct {
	Failed schemas.EventID `json:"failed" format:"uuid" doc:"The run that failed."`
	Steps  []string        `json:"steps" nullable:"false" doc:"What was done, in order; the last is the run that worked."`
}

const (
	// flakyTimes is how often a command must have failed and succeeded at once to be called flaky.
	flakyTimes = 2
	// askFor bounds the questions about one failure.
	askFor    = 5 * time.Second
	maxCauses = 3
	// maxMend is how many steps of a mend are listed: the last ones.
	maxMend = 8
)

// explain asks what is known about a step that failed. A question that can't be answered leaves its
// part out: the run does not depend on it.
func (o *Options) explain(ctx context.Context, p *replay.Plan, s *replay.Step) *Failure {
	ctx, cancel := context.WithTimeout(ctx, askFor)
	defer cancel()
	f := &Failure{Causes: o.causes(ctx, p, s)}
	if shown, err := o.Log.Show(ctx, s.Intent.String()); err == nil {
		f.Flaky, f.Mend = o.history(ctx, shown.Intent)
	}
	if len(f.Causes) == 0 && f.Flaky == nil && f.Mend == nil {
		return nil
	}
	return f
}

// causes asks why. That one ran just before another is none.
func (o *Options) causes(ctx context.Context, p *replay.Plan, s *replay.Step) []Cause {
	resp, err := commands.WhyQuestion.Ask(ctx, o.Log, commands.WhyRequest{Ref: s.Intent.String(), Limit: 4 * maxCauses})
	if err != nil {
		return nil
	}
	var all []Cause
	for _, c := range resp.Causes {
		if c.Command == s.Original || len(all) == maxCauses || onlyBefore(c, resp.Edges) {
			continue // the command's history has its other runs
		}
		cause := Cause{ID: c.ID, Command: c.Command, Why: c.Why}
		if at := slices.IndexFunc(p.Left, func(l replay.Left) bool { return l.Intent == c.ID }); at >= 0 {
			cause.Left = p.Left[at].Why
		}
		all = append(all, cause)
	}
	return all
}

// onlyBefore reports whether the way to a cause has two commands that nothing but their order joins.
func onlyBefore(c commands.Cause, edges []commands.Edge) bool {
	for i := 1; i < len(c.Path); i++ {
		if !slices.ContainsFunc(edges, func(e commands.Edge) bool {
			return e.From == c.Path[i] && e.To == c.Path[i-1] && e.Kind != "temporal"
		}) {
			return true
		}
	}
	return false
}

// history looks at the recorded runs of the same command, and at what came between them.
func (o *Options) history(ctx context.Context, of commands.Intent) (*Flaky, *Mend) {
	runs, err := commands.FindQuestion.Ask(ctx, o.Log, commands.FindRequest{
		Limit: commands.MaxLimit, Repeats: true, Filters: commands.Filters{Workspace: of.Workspace, Host: of.Host, Template: of.Template},
	})
	if err != nil {
		return nil, nil
	}
	var same []commands.Intent // the newest first
	for _, h := range runs.Hits {
		if h.Command == of.Command && h.Cwd == of.Cwd && h.ExitCode != nil {
			same = append(same, h.Intent)
		}
	}
	slices.SortStableFunc(same, func(a, b commands.Intent) int { return b.Time.Compare(a.Time) })
	flaky, mend := &Flaky{Runs: len(same)}, (*Mend)(nil)
	for i := len(same) - 1; i > 0; i-- {
		if *same[i].ExitCode == 0 || *same[i-1].ExitCode != 0 {
			continue
		}
		between, err := commands.FindQuestion.Ask(ctx, o.Log, commands.FindRequest{
			Limit: 2, Repeats: true, Filters: commands.Filters{Workspace: of.Workspace, Host: of.Host, Since: same[i].Time.Add(1), Until: same[i-1].Time},
		})
		if err == nil && len(between.Hits) == 0 {
			flaky.Times++
			continue
		}
		if resp, err := plan.Question.Ask(ctx, o.Log, plan.Request{Mend: same[i].ID.String()}); err == nil && len(resp.Plan.Steps) > 1 {
			mend = &Mend{Failed: same[i].ID}
			for _, s := range resp.Plan.Steps[max(0, len(resp.Plan.Steps)-maxMend):] {
				mend.Steps = append(mend.Steps, s.Original)
			}
		}
	}
	if flaky.Times < flakyTimes {
		flaky = nil
	}
	return flaky, mend
}

// Lines are the failure as sentences for people.
func (f *Failure) Lines() []string {
	var all []string
	if f.Flaky != nil {
		all = append(all, fmt.Sprintf("flaky: %d of %d recorded runs failed and succeeded when run again at once; --attempts N tries again", f.Flaky.Times, f.Flaky.Runs))
	}
	for _, c := range f.Causes {
		line := "led to the recorded run: " + c.Command + ": " + c.Why
		if c.Left != "" {
			line += " (left out of the plan: " + c.Left + ")"
		}
		all = append(all, line)
	}
	if f.Mend != nil {
		last := len(f.Mend.Steps) - 1
		for i, s := range f.Mend.Steps[:last] {
			if i == 0 {
				s = "mended before by: " + s
			} else {
				s = "then " + s
			}
			all = append(all, s)
		}
		all = append(all, "then "+f.Mend.Steps[last]+" worked")
	}
	return all
}
