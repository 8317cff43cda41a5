package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay/bisect"
)

// bisectFlags say how a search is done.
type bisectFlags struct {
	dir            string
	trials         int
	timeout        time.Duration
	needs, network bool
}

// defaultTrials bounds a search.
const defaultTrials = 200

func (a *app) bisectEnvCmd() *cobra.Command {
	var f bisectFlags
	c := &cobra.Command{
		Use:   "bisect-env BAD [GOOD]",
		Short: "Find the variables that make a command fail",
		Long: `Find which differences between two recorded environments make a command fail, by running
it with parts of them, in a sandbox that is thrown away after each trial. Nothing is
written into the log.

BAD is a command that failed, and GOOD a run of it that worked: by default the last one.
BAD may also be a replay, whose first failed step is then compared with what it replayed.
Only variables that were recorded can be compared: recount exec --env NAME,… and recount
record --env NAME,… record them. Redacted ones are named and left out.

The command runs alone, in the directory as it is; with --needs each trial runs first what
the command needs, as a replay does. Dangerous commands, and those that would ask
something, are refused. Each set of variables is tried twice, and a third time if it came
out otherwise; at the end both ends are tried again.
Exits with 1 if no variable is the cause, with 2 if the search did not come to its end or
the command fails by chance.`,
		Example: `  recount bisect-env 018f3c2                      against the last run that worked
  recount bisect-env 018f3c2 018f3b1 --needs      what it needs is run in each trial
  recount bisect-env r-7f3a91c2                   the first failed step of a replay
  recount bisect-env 018f3c2 --json | jq -r '.result.cause[]?.name'`,
		Args:              cobra.RangeArgs(1, 2),
		ValidArgsFunction: a.completeIDs("fail", 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.trials < 1:
				return usage.Errorf("--trials %d: want 1 or more", f.trials)
			case f.timeout < 0:
				return usage.Errorf("--timeout can't be negative")
			}
			good := ""
			if len(args) == 2 {
				good = args[1]
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				pair, err := replaying.FindPair(cmd.Context(), b, args[0], good)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				return a.bisectEnv(cmd.Context(), b, &f, pair)
			})
		},
	}
	s := c.Flags()
	s.StringVar(&f.dir, "dir", "", "the directory that the command may change in a trial (default: the command's workspace, or its own directory if that holds the home directory)")
	s.IntVar(&f.trials, "trials", defaultTrials, "how often the command is run at most")
	s.DurationVar(&f.timeout, "timeout", 0, "a trial that takes longer fails (default: no limit)")
	s.BoolVar(&f.needs, "needs", false, "run in each trial what the command needs, too")
	s.BoolVar(&f.network, "network", false, "let trials use the network")
	return c
}

// bisectEvent is what the verb prints with --json: one object a line.
type bisectEvent struct {
	Event string          `json:"event"` // pair, trial, done
	Pair  *replaying.Pair `json:"pair,omitempty"`
	*replaying.Trial
	Result *bisect.Result `json:"result,omitempty"`
	Took   time.Duration  `json:"search_ns,omitempty"`
}

// bisectEnv searches and prints what it does.
func (a *app) bisectEnv(ctx context.Context, b *connect.Backend, f *bisectFlags, pair *replaying.Pair) error {
	o, err := a.replaying(b, &replayRunFlags{dir: f.dir, network: f.network, timeout: f.timeout})
	if err != nil {
		return err
	}
	o.Confirm, o.Progress = nil, nil
	emit := func(e bisectEvent) {
		enc := render.JSON(a.Out)
		_ = enc.Encode(e) // a reader that is gone does not stop the search
	}
	if a.JSON {
		emit(bisectEvent{Event: "pair", Pair: pair})
	} else {
		a.printPair(pair)
	}
	if pair.Compared == 0 {
		fmt.Fprintln(a.Err, "recount: no variable was recorded with these commands; recount exec --env NAME,… records some")
		return exitError(exitNothing)
	}
	start := time.Now()
	r, err := replaying.Bisect(ctx, pair, o, replaying.Bisection{Trials: f.trials, Needs: f.needs, Progress: func(t replaying.Trial) {
		if a.JSON {
			emit(bisectEvent{Event: "trial", Trial: &t})
			return
		}
		a.printTrial(t, len(pair.Differences))
	}})
	if err != nil {
		return a.unanswered(err)
	}
	took := time.Since(start)
	if a.JSON {
		emit(bisectEvent{Event: "done", Result: &r, Took: took})
	} else {
		a.printCause(r, took)
	}
	switch r.State {
	case bisect.Found:
		return nil
	case bisect.Same:
		return exitError(exitNothing)
	}
	return exitError(exitFailed)
}

// printPair says what is compared.
func (a *app) printPair(p *replaying.Pair) {
	side := func(s replaying.Side) string {
		name := s.Run
		if name == "" {
			name = s.ID.String()[:8]
		}
		if s.Exit != nil {
			name += fmt.Sprintf(" (exit code %d)", *s.Exit)
		}
		return name
	}
	a.Printf("%s\n", a.Paint(render.Bold, render.OneLine(stepName(p.Bad.Command))))
	a.Printf("fails in %s, works in %s\n", side(p.Bad), side(p.Good))
	var names []string
	for _, d := range p.Differences {
		names = append(names, d.Name)
	}
	text := fmt.Sprintf("%d of %s differ", len(names), render.Count(p.Compared, "recorded variable"))
	if len(names) > 0 {
		text += ": " + strings.Join(names, ", ")
	}
	a.Printf("%s\n", render.OneLine(text))
	if len(p.Redacted) > 0 {
		a.Printf("%s\n", a.Paint(render.Yellow, "not compared, since their values were redacted: "+render.OneLine(strings.Join(p.Redacted, ", "))))
	}
	if p.Bad.Command != p.Good.Command && p.Bad.Run == "" {
		a.Printf("%s\n", a.Paint(render.Yellow, "the one that worked was another command: "+render.OneLine(stepName(p.Good.Command))))
	}
}

// printTrial prints a trial in a line.
func (a *app) printTrial(t replaying.Trial, all int) {
	what := a.Paint(render.Green, "works")
	switch {
	case t.TimedOut:
		what = a.Paint(render.Red, "fails, timed out")
	case t.Failed:
		what = a.Paint(render.Red, fmt.Sprintf("fails with %d", t.Exit))
	}
	set := fmt.Sprintf("with %d of %d as where it failed: %s", len(t.Bad), all, strings.Join(t.Bad, ", "))
	switch len(t.Bad) {
	case 0:
		set = "with all as where it worked"
	case all:
		set = "with all as where it failed"
	}
	a.Printf("%3d  %s  %s  %s\n", t.Number, what, render.OneLine(set), a.Paint(render.Dim, query.Took(t.Took)))
}

// printCause prints what was found.
func (a *app) printCause(r bisect.Result, took time.Duration) {
	value := func(v *string) string {
		if v == nil {
			return "not set"
		}
		return render.OneLine(*v)
	}
	trials := fmt.Sprintf("%s in %s", render.Count(r.Trials, "trial"), query.Took(took))
	switch r.State {
	case bisect.Same:
		if r.Fails {
			a.Printf("no variable is the cause: it fails with all as where it worked (%s)\n", trials)
		} else {
			a.Printf("no variable is the cause: it works with all as where it failed (%s)\n", trials)
		}
		return
	case bisect.Limited:
		if len(r.Cause) == 0 {
			a.Printf("stopped before anything is known (%s)\n", trials)
			return
		}
		a.Printf("stopped; the cause is among these (%s):\n", trials)
	case bisect.Flaky:
		a.Printf("%s, since it came out otherwise at the end; perhaps (%s):\n", a.Paint(render.Yellow, "it fails by chance"), trials)
	default:
		a.Printf("%s (%s):\n", a.Paint(render.Bold, "cause"), trials)
	}
	for _, d := range r.Cause {
		a.Printf("  %s\n    fails with  %s\n    works with  %s\n", a.Paint(render.Bold, d.Name), value(d.Bad), value(d.Good))
	}
	if r.Flaky > 0 {
		a.Printf("%s\n", a.Paint(render.Yellow, fmt.Sprintf("%s came out otherwise when repeated, and was decided by most of three", render.Count(r.Flaky, "set of variables", "sets of variables"))))
	}
}
