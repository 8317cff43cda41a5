package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// counting is a plan whose steps each add their number to a file, so that one done twice shows.
func (w *world) counting() *replay.Plan {
	var s []replay.Step
	for i := range 5 {
		out := fmt.Sprintf("out%d", i)
		s = append(s, replay.Step{
			Command: fmt.Sprintf("echo %d >> count; echo made > %s", i, out),
			Post:    []replay.Postcondition{{Kind: "file", Target: w.dir + "/" + out, Hash: sum("made\n")}},
		})
	}
	return w.plan(s, [2]int{2, 1}, [2]int{4, 0})
}

// TestKilledAtEachCall kills the run before and after each call of the journal is written down, and
// goes on: every step is done once, whenever the kill was.
func TestKilledAtEachCall(t *testing.T) {
	for _, jobs := range []int{1, 3} {
		calls := 2 + 2*5
		for at := 1; at <= calls; at++ {
			for _, after := range []bool{false, true} {
				w := newWorld(t)
				w.o.Jobs = jobs
				w.j.failAt, w.j.after = at, after
				if _, err := Run(t.Context(), w.counting(), w.o); !errors.Is(err, errKilled) {
					t.Fatalf("call %d: %v", at, err)
				}
				// What the journal holds is all that the next process knows.
				past := Past{Ended: maps.Clone(w.j.past.Ended), Open: maps.Clone(w.j.past.Open), Numbers: maps.Clone(w.j.past.Numbers)}
				w.j.failAt, w.j.count = 0, 0
				w.o.Past = &past
				// A step that was written down and not run has no file, and is asked about.
				w.o.Confirm = func(_ context.Context, q Question) (bool, error) { return q.Kind == QuestionUnknown, nil }
				r, err := Run(t.Context(), w.counting(), w.o)
				if err != nil || r.Status != "complete" {
					t.Fatalf("jobs %d, call %d, after %v: %s, %v", jobs, at, after, statuses(r), err)
				}
				if len(w.j.wrong) > 0 {
					t.Errorf("jobs %d, call %d, after %v: %v", jobs, at, after, w.j.wrong)
				}
				lines := strings.Fields(w.read("count"))
				seen := map[string]int{}
				for _, l := range lines {
					seen[l]++
				}
				if len(lines) != 5 || len(seen) != 5 {
					t.Errorf("jobs %d, call %d, after %v: ran %v", jobs, at, after, lines)
				}
			}
		}
	}
}

func TestStepUnderWayIsAskedAbout(t *testing.T) {
	for _, yes := range []bool{false, true} {
		w := newWorld(t)
		w.o.Past = &Past{Open: map[int]bool{1: true}, Ended: map[int]Outcome{0: {Step: 0, Status: Done}}}
		asked := 0
		w.o.Confirm = func(_ context.Context, q Question) (bool, error) {
			asked++
			return yes && q.Kind == QuestionUnknown && q.Step.Index == 1, nil
		}
		r := w.run(w.plan(commands("touch again", "touch unsure", "touch last"), [2]int{2, 1}))
		want := "skipped refused blocked"
		if yes {
			want = "skipped done done"
		}
		if again := r.Steps[1].Reason == ReasonAgain; again != yes {
			t.Errorf("%v: %q", yes, r.Steps[1].Reason)
		}
		if statuses(r) != want || asked != 1 || !r.Steps[0].Before {
			t.Errorf("%v: %s, %d questions", yes, statuses(r), asked)
		}
	}
}

func TestSecondRunExecutesNothing(t *testing.T) {
	w := newWorld(t)
	if r := w.run(w.counting()); statuses(r) != "done done done done done" {
		t.Fatalf("%+v", r)
	}
	if r := w.run(w.counting()); statuses(r) != "skipped skipped skipped skipped skipped" {
		t.Errorf("%s", statuses(r))
	}
}

// TestGoesOnWithoutAStep has a step that needs a terminal: the run is complete only if the caller says to go
// on without it, and stays so when it goes on later.
func TestGoesOnWithoutAStep(t *testing.T) {
	w := newWorld(t)
	plan := func() *replay.Plan {
		s := commands("touch a", "vi notes", "touch b")
		s[1].Asks = []replay.Ask{{Kind: replay.AskTerminal, Text: "vi needs a terminal"}}
		return w.plan(s, [2]int{2, 1})
	}
	if r := w.run(plan()); statuses(r) != "done terminal blocked" || r.Status != "incomplete" {
		t.Fatalf("%s: %s", r.Status, statuses(r))
	}
	w.o.Past = &Past{Ended: maps.Clone(w.j.past.Ended), Open: map[int]bool{}, Numbers: map[int]int{}}
	w.o.Without = map[int]bool{1: true}
	if r := w.run(plan()); statuses(r) != "skipped omitted done" || r.Status != "complete" {
		t.Fatalf("%s: %s", r.Status, statuses(r))
	}
	w.o.Past.Ended, w.o.Without = maps.Clone(w.j.past.Ended), nil
	if r := w.run(plan()); statuses(r) != "skipped omitted skipped" || r.Status != "complete" {
		t.Errorf("later %s: %s", r.Status, statuses(r))
	}
}

// TestTerminalIsNotNeededForWhatIsThere has a step that needs a terminal, and whose file somebody made.
func TestTerminalIsNotNeededForWhatIsThere(t *testing.T) {
	w := newWorld(t)
	s := commands("printf x > notes", "vi notes")
	s[1].Asks = []replay.Ask{{Kind: replay.AskTerminal, Text: "vi needs a terminal"}}
	s[1].Post = []replay.Postcondition{{Kind: replay.PostFile, Target: w.dir + "/notes", Hash: sum("x"), Updates: true}}
	if r := w.run(w.plan(s, [2]int{1, 0})); statuses(r) != "done skipped" {
		t.Errorf("%s", statuses(r))
	}
}

// killed is a sandbox of a run that is killed when a command has written its first half.
type killed struct {
	*sandbox.Sandbox
	now bool
}

func (k *killed) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	k.now = slices.ContainsFunc(c.Args, func(arg string) bool { return strings.Contains(arg, "echo 2") })
	return k.Sandbox.Run(ctx, c)
}

func (k *killed) Changes() ([]sandbox.Change, error) {
	if k.now {
		return nil, errKilled
	}
	return k.Sandbox.Changes()
}

// TestAStepThatAKillInterrupted goes on after a step was killed that adds to a file: what it added is taken back, and it
// runs again without a question. With --jobs others may have run beside it, so it is asked about.
func TestAStepThatAKillInterrupted(t *testing.T) {
	for jobs, want := range map[int]string{1: "1 2 3", 2: "1 2 2 3"} {
		w := newWorld(t)
		steps := commands("echo 1 >> log", "echo 2 >> log", "echo 3 >> log")
		for i := range steps {
			steps[i].Outputs = []string{w.dir + "/log"}
		}
		plan := w.plan(steps, [2]int{1, 0}, [2]int{2, 1})
		state := filepath.Join(t.TempDir(), "state")
		w.o.Scratch, w.o.Jobs = "", jobs
		w.o.Executor = &killed{Sandbox: w.openIn(sandbox.IsolationSandbox, state)}
		if _, err := Run(t.Context(), plan, w.o); !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		w.o.Executor = w.openIn(sandbox.IsolationSandbox, state)
		w.o.Past = &Past{Ended: maps.Clone(w.j.past.Ended), Open: maps.Clone(w.j.past.Open), Numbers: maps.Clone(w.j.past.Numbers)}
		asked := 0
		w.o.Confirm = func(context.Context, Question) (bool, error) { asked++; return true, nil }
		r := w.run(plan)
		res, err := w.box.Run(t.Context(), sandbox.Command{Args: []string{"sh", "-c", "echo $(cat log)"}, Dir: w.dir, Env: []string{"PATH=" + os.Getenv("PATH")}})
		if got := strings.TrimSpace(res.Output); err != nil || got != want || asked != jobs-1 || statuses(r) != "skipped done done" {
			t.Errorf("%d jobs: log: %s, want %s; %d questions; %s; %v", jobs, got, want, asked, statuses(r), err)
		}
	}
}
