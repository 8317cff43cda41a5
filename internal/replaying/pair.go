package replaying

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/replays"
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/bisect"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/schemas"
)

// Pair is a command that failed, and a run of it that worked, with what was recorded of the environment
// of both.
type Pair struct {
	Bad      Side `json:"bad"`
	Good     Side `json:"good"`
	Compared int  `json:"compared"` // the variables that both sides together have
	// Differences are what a search is about.
	Differences []bisect.Difference `json:"differences"`
	// Redacted are the variables that are left out, since the value of at least one side was redacted.
	Redacted []string `json:"redacted,omitempty"`

	plan      *replay.Plan
	step      int
	directory string
}

// Side is one of the two commands.
type Side struct {
	ID      schemas.EventID `json:"id"`
	Run     string          `json:"run,omitempty"` // of a replay's step: the run
	Command string          `json:"command"`
	Cwd     string          `json:"cwd,omitempty"`
	Exit    *int32          `json:"exit_code,omitempty"`

	env      map[string]string
	redacted []string
}

// FindPair finds what to compare. bad names a command that failed, or a replay: then its first step that
// failed is compared with the recorded run. good names a command that worked, which may be empty: then
// it is the last run of the same command that worked.
func FindPair(ctx context.Context, log Log, bad, good string) (*Pair, error) {
	p := &Pair{}
	var err error
	if strings.HasPrefix(bad, "r-") {
		if good != "" {
			return nil, &query.RequestError{Field: "good", Value: good, Reason: "a replay is compared with the commands that it replayed: name only the run"}
		}
		good, err = p.fromRun(ctx, log, bad)
	} else {
		p.plan, p.step, p.Bad, err = planOf(ctx, log, bad)
		if err == nil && good == "" {
			good, err = lastGood(ctx, log, bad)
		}
	}
	if err != nil {
		return nil, err
	}
	if p.Bad.Exit != nil && *p.Bad.Exit == 0 {
		return nil, &query.RequestError{Field: "bad", Value: bad, Reason: "it worked: name a run that failed, and after it one that worked"}
	}
	if _, _, p.Good, err = planOf(ctx, log, good); err != nil {
		return nil, err
	}
	switch {
	case p.Bad.Run == "" && p.Bad.ID == p.Good.ID:
		return nil, &query.RequestError{Field: "good", Value: good, Reason: "both are the same run of a command"}
	case p.Good.Exit != nil && *p.Good.Exit != 0:
		return nil, &query.RequestError{Field: "good", Value: good, Reason: fmt.Sprintf("it failed with exit code %d: name a run that worked", *p.Good.Exit)}
	}
	p.compare()
	return p, nil
}

// compare finds the differences of the recorded variables.
func (p *Pair) compare() {
	p.Redacted = slices.Concat(p.Good.redacted, p.Bad.redacted)
	slices.Sort(p.Redacted)
	p.Redacted = slices.Compact(p.Redacted)
	for _, name := range p.Redacted {
		delete(p.Good.env, name)
		delete(p.Bad.env, name)
	}
	p.Differences = bisect.Differences(p.Good.env, p.Bad.env)
	p.Compared = len(p.Good.env)
	for name := range p.Bad.env {
		if _, both := p.Good.env[name]; !both {
			p.Compared++
		}
	}
}

// planOf plans a command and what it needs, and returns the command's step.
func planOf(ctx context.Context, log Log, ref string) (*replay.Plan, int, Side, error) {
	shown, err := log.Show(ctx, ref)
	if err != nil {
		return nil, 0, Side{}, err
	}
	resp, err := plan.Question.Ask(ctx, log, plan.Request{To: shown.ID.String()})
	if err != nil {
		return nil, 0, Side{}, err
	}
	at := slices.IndexFunc(resp.Plan.Steps, func(s replay.Step) bool { return s.Intent == shown.ID })
	if at < 0 {
		return nil, 0, Side{}, fmt.Errorf("%s (%s) can't be replayed: it is left out of its own plan; see recount replay %s --plan", ref, shown.Command, ref)
	}
	s := &resp.Plan.Steps[at]
	return &resp.Plan, at, sideOf(s, shown.Intent.ExitCode), nil
}

func sideOf(s *replay.Step, exit *int32) Side {
	side := Side{ID: s.Intent, Command: s.Command, Cwd: s.Cwd, Exit: exit, env: map[string]string{}}
	for name, v := range s.Env {
		side.env[name] = v
	}
	for _, a := range s.Asks {
		if a.Kind == replay.AskEnvironment && a.Name != "" {
			side.redacted = append(side.redacted, a.Name)
		}
	}
	return side
}

// fromRun takes the first step of a replay that failed, and returns the command that it replayed.
func (p *Pair) fromRun(ctx context.Context, log Log, name string) (string, error) {
	resp, err := replays.Question.Ask(ctx, log, replays.Request{Run: name, Plan: true})
	if err != nil {
		return "", err
	}
	run := resp.Runs[0]
	at := slices.IndexFunc(run.Steps, func(s replays.Step) bool { return s.State == replays.StateFailed })
	if at < 0 {
		return "", &query.RequestError{Field: "bad", Value: name, Reason: "no step of this replay failed"}
	}
	if len(run.Plan) == 0 {
		return "", fmt.Errorf("the plan of run %s was erased, so its environment is not known", name)
	}
	p.plan, p.step, p.directory = new(replay.Plan), run.Steps[at].Step, run.Directory
	if err := json.Unmarshal(run.Plan, p.plan); err != nil {
		return "", fmt.Errorf("the plan of run %s: %w", name, err)
	}
	if p.step >= len(p.plan.Steps) {
		return "", fmt.Errorf("the plan of run %s has no step %d", name, p.step+1)
	}
	p.Bad = sideOf(&p.plan.Steps[p.step], run.Steps[at].ExitCode)
	p.Bad.Run = name
	return p.Bad.ID.String(), nil
}

// lastGood finds the last run of a command that worked.
func lastGood(ctx context.Context, log Log, bad string) (string, error) {
	shown, err := log.Show(ctx, bad)
	if err != nil {
		return "", err
	}
	of := shown.Intent
	runs, err := commands.FindQuestion.Ask(ctx, log, commands.FindRequest{
		Limit: commands.MaxLimit, Repeats: true, Filters: commands.Filters{Workspace: of.Workspace, Template: of.Template, Exit: "0"},
	})
	if err != nil {
		return "", err
	}
	var best *commands.Intent
	for i := range runs.Hits {
		h := &runs.Hits[i].Intent
		if h.Command != of.Command || h.ExitCode == nil || *h.ExitCode != 0 {
			continue
		}
		// A run in the same directory says more than a newer one elsewhere.
		if best == nil || (h.Cwd == of.Cwd) != (best.Cwd == of.Cwd) && h.Cwd == of.Cwd || (h.Cwd == of.Cwd) == (best.Cwd == of.Cwd) && h.Time.After(best.Time) {
			best = h
		}
	}
	if best == nil {
		return "", &query.RequestError{Field: "good", Value: "none", Reason: fmt.Sprintf("no run of %q that worked is known: name a command that worked", of.Command)}
	}
	return best.ID.String(), nil
}
