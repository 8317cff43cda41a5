package main

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render/replayview"
	"github.com/recountdb/recount/internal/replaying"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/replay/plan"
	"github.com/recountdb/recount/replay/script"
)

// replayFlags name a narrative and say where it is to be run again.
type replayFlags struct {
	r      plan.Request
	moment verbs.MomentFlags
	set    []string
	plan   bool
	script string
	wide   bool
	trim   bool
	trials int
	run    replayRunFlags
}

func (f *replayFlags) add(c *cobra.Command) {
	s := c.Flags()
	s.StringVar(&f.r.To, "to", "", "this command and all that it needed; the same as an argument")
	s.StringVar(&f.r.Session, "session", "", "what the commands of this session left")
	s.StringVar(&f.r.From, "from", "", "with --session: begin at this command")
	s.StringVar(&f.r.Until, "until", "", "with --session: end with this command")
	s.StringVar(&f.r.Stitch, "stitch", "", "the narrative around this command")
	s.StringVar(&f.r.Find, "find", "", "the commands that this search finds")
	s.StringVar(&f.r.Mend, "mend", "", "how this failure was mended: the run that worked, with all that it needed")
	s.BoolVar(&f.r.All, "all", false, "leave nothing out")
	s.StringArrayVar(&f.r.Map, "map", nil, "FROM=TO: replace a path, or with user:, host:, port:, branch:, container: or image: before FROM a name; may be repeated")
	s.StringArrayVar(&f.set, "set", nil, "NAME=VALUE: set a parameter; may be repeated")
	s.StringVar(&f.r.Home, "home", "", "the home directory of whoever will run it (default: the recorded one, mapped); if it lies in --dir, the steps have it as HOME")
	s.IntVar(&f.r.Limit, "limit", plan.DefaultLimit, "the maximum number of commands to look at, the newest first")
	f.run.add(s)
	s.BoolVar(&f.plan, "plan", false, "print the plan and run nothing")
	s.StringVar(&f.script, "script", "", "print a script and run nothing: "+strings.Join(script.Kinds, ", "))
	s.BoolVar(&f.trim, "trim", false, "leave out also what trials in the sandbox, without one step after the other, show the same end without; nothing of a trial is kept")
	s.IntVar(&f.trials, "trials", defaultTrials, "with --trim: how often the plan is run at most")
	s.BoolVar(&f.wide, "wide", false, "do not cut long lines")
	s.StringVar(&f.moment.AsOf, "as-of", "", "plan from what was known at a time (2h, 3d, yesterday, 2026-11-20, RFC 3339) or at the watermark of an earlier answer")
	s.StringVar(&f.moment.AtLeast, "at-least", "", "wait until everything below these offsets is visible: TOPIC/PARTITION:NEXT,…")
	for name, values := range map[string][]string{"script": script.Kinds, "on-failure": onFailures, "isolation": {"sandbox", "docker", "podman", "none"}} {
		_ = c.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)) // fails only for a flag that does not exist
	}
}

// request returns the request that the flags and arguments describe.
func (f *replayFlags) request(a *app, args []string) (plan.Request, error) {
	r := f.r
	if len(args) == 1 {
		if r.To != "" {
			return r, usage.Errorf("%s and --to %s: give one command", args[0], r.To)
		}
		r.To = args[0]
	}
	if f.run.resume == "" && r.To+r.Session+r.Stitch+r.Find+r.Mend == "" {
		return r, usage.Errorf("say what to replay: a command's id, --session, --stitch, --find or --mend")
	}
	r.Map = slices.Clone(r.Map)
	for i, s := range r.Map {
		r.Map[i] = fullMapping(s, a.Getenv("HOME"))
	}
	for _, s := range f.set {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return r, usage.Errorf("--set %q: want NAME=VALUE", s)
		}
		if r.Set == nil {
			r.Set = map[string]string{}
		}
		r.Set[name] = value
	}
	switch {
	case f.plan && f.script != "":
		return r, usage.Errorf("--plan and --script: give one of them")
	case f.trim && f.run.resume != "":
		return r, usage.Errorf("--trim and --resume: the plan of a run that began stays as it is")
	case f.trim && len(f.run.without)+len(f.run.policies) > 0:
		return r, usage.Errorf("--trim with --without or --policy: trials change the numbers of steps")
	case f.trim && f.run.open() || f.trim && f.run.isolation != "sandbox":
		return r, usage.Errorf("--trim: trials do each step again and again, so they run in the sandbox and without the network only")
	case f.trials < 3:
		return r, usage.Errorf("--trials %d: want 3 or more", f.trials)
	}
	var err error
	if r.Moment, err = f.moment.Moment(time.Now()); err != nil {
		return r, err
	}
	r.Here = &plan.Here{User: recording.UserName(a.Getenv), Host: recording.HostName()}
	if shell := a.Getenv("SHELL"); shell != "" {
		r.Here.Shell = filepath.Base(shell)
	}
	return r, nil
}

// fullMapping returns a mapping of paths with ~ as the home directory, as a shell would have it at the
// start of a word, and with what is relative below the working directory. Other mappings are returned
// as they are.
func fullMapping(spec, home string) string {
	from, to, ok := strings.Cut(spec, "=")
	if !ok || from == "" || to == "" || strings.Contains(from, ":") {
		return spec
	}
	full := func(p string) string {
		if rest, ok := strings.CutPrefix(p, "~"); ok && home != "" && (rest == "" || rest[0] == '/') {
			return home + rest
		}
		if abs, err := filepath.Abs(p); err == nil && p[0] != '~' {
			return abs
		}
		return p
	}
	return full(from) + "=" + full(to)
}

// askPlan asks for a plan. The environment is compared by the names that were recorded, and no
// other variable leaves this process.
func (a *app) askPlan(ctx context.Context, b *connect.Backend, r plan.Request) (plan.Response, error) {
	resp, err := plan.Question.Ask(ctx, b, r)
	if err != nil {
		return resp, err
	}
	env := map[string]string{}
	for _, s := range resp.Plan.Steps {
		for name := range s.Env {
			env[name] = a.Getenv(name)
		}
	}
	if len(env) == 0 {
		return resp, nil
	}
	r.Here.Env = env
	return plan.Question.Ask(ctx, b, r)
}

func (a *app) replayCmd() *cobra.Command {
	var f replayFlags
	c := &cobra.Command{
		Use:   "replay [ID]",
		Short: "Run commands again, elsewhere, in a sandbox",
		Long: `Run recorded commands again: a command with all that it needed, a session, the
narrative around a command, the hits of a search, or how a failure was mended.

What only looked, failed, was undone or is not needed is left out, each with its reason.
The steps are in an order that what they need of each other allows. --map replaces paths
and names in them, and --set the values that differ between runs of the same command.
What is dangerous, what a mapping may not have reached and what was redacted is said.

The steps run in a sandbox: they change a copy-on-write view of one directory (--dir) and
can write nothing else, without the network and without your secrets. At the end the
difference is shown; --apply makes it real if all steps are done, and else it is kept.
Steps whose result is there already are skipped. Dangerous ones are asked about one by
one. --resume goes on with a run that was stopped or killed, or applies it.

--trim tries in the sandbox which steps the end does without: the plan runs without one
step after the other, and what leaves the same is left out. That takes as many runs as the
plan has steps, and needs the directory as it was before.

--plan prints the plan, and --script a script that stands alone; nothing is executed then.
Exits with 1 if the plan has no steps, with 2 if a step was not done.`,
		Example: `  recount replay 018f3c2 --plan                   a command and all that it needed
  recount replay 018f3c2 --apply                  run it and take over what it made
  recount replay --resume r-7f3a91c2              go on after a stop
  recount replay --session bash-4711-1795176000   what a session left
  recount replay --mend 018f3c2 --script markdown > mend.md
  recount replay 018f3c2 --dir ~/fresh --trim     only what the end is another one without
  recount replay 018f3c2 --map /home/ann/app=~/app --script bash > again.sh`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeIDs("", 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.request(a, args)
			if err != nil {
				return err
			}
			if err := f.run.check(); err != nil {
				return err
			}
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				if f.run.resume != "" {
					return a.resumeReplay(cmd.Context(), b, &f.run)
				}
				resp, err := a.askPlan(cmd.Context(), b, r)
				a.ClearProgress()
				if err != nil {
					return a.unanswered(err)
				}
				shown := f.plan || f.script != ""
				if resp.Status == query.StatusEmpty || shown && !f.trim {
					return f.print(a, resp)
				}
				o, err := a.replayingPlan(b, &f.run, &resp.Plan, r.Home)
				if err != nil {
					return err
				}
				if f.trim {
					r.All = true
					all, err := a.askPlan(cmd.Context(), b, r)
					if err != nil {
						return a.unanswered(err)
					}
					if err := a.trimPlan(cmd.Context(), &resp.Plan, &all.Plan, f.trials, &o); err != nil {
						return err
					}
				}
				if shown {
					return f.print(a, resp)
				}
				report, err := replaying.Start(cmd.Context(), &resp.Plan, o)
				return a.replayed(report, err)
			})
		},
	}
	f.add(c)
	c.AddCommand(a.replayDiffCmd())
	return c
}

// print prints a plan in the requested form.
func (f *replayFlags) print(a *app, resp plan.Response) error {
	switch {
	case f.script != "":
		text, err := script.Write(resp.Plan, f.script)
		if err != nil {
			return usage.Errorf("--script: %w", err)
		}
		a.Printf("%s", text)
	case a.JSON:
		if err := a.PrintJSON(resp); err != nil {
			return err
		}
	default:
		d := a.NewDrawing(f.wide, time.Now())
		replayview.Plan(d, resp.Plan, f.run.open())
		d.Hint(query.Basis{Hint: resp.Hint})
	}
	if resp.Status == query.StatusEmpty {
		return exitError(exitNothing)
	}
	return nil
}
