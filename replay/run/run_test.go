package run

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/replay"
)

func TestRunsInOrderAndWritesDown(t *testing.T) {
	w := newWorld(t)
	r := w.run(w.plan(commands("echo one > a", "cat <<EOF >> a\nhere $((1+1))\nEOF", "cat a")))
	if r.Status != "complete" || statuses(r) != "done done done" || r.Steps[2].Output != "one\nhere 2\n" {
		t.Errorf("%+v", r)
	}
	want := "started 0, ended 0 done, started 1, ended 1 done, started 2, ended 2 done"
	if got := strings.Join(w.j.calls, ", "); got != want || w.j.planned != 1 || w.j.done != 1 {
		t.Errorf("journal: %s, %d planned, %d done", got, w.j.planned, w.j.done)
	}
}

func TestFailureStopsOrSkips(t *testing.T) {
	for policy, want := range map[string]string{OnFailureAbort: "done failed", OnFailureSkip: "done failed blocked done", OnFailureAsk: "done failed"} {
		w := newWorld(t)
		w.o.Policy.OnFailure = policy
		r := w.run(w.plan(commands("true", "echo why; exit 3", "touch needs-it", "touch free"), [2]int{2, 1}))
		if statuses(r) != want || r.Status != "incomplete" || r.Steps[1].Exit != 3 || r.Steps[1].Reason != "exit code 3" {
			t.Errorf("%s: %s: %+v", policy, statuses(r), r)
		}
		if _, err := os.Stat(filepath.Join(w.dir, "needs-it")); err == nil {
			t.Errorf("%s: a step ran whose need had failed", policy)
		}
	}
}

func TestRetriesWithBackoff(t *testing.T) {
	w := newWorld(t)
	var pauses []time.Duration
	w.o.Sleep = func(_ context.Context, d time.Duration) error { pauses = append(pauses, d); return nil }
	w.o.Policy = Policy{Attempts: 4, Backoff: time.Minute}
	r := w.run(w.plan(commands("echo x >> tries; test $(wc -l < tries) = 3")))
	if statuses(r) != "done" || r.Steps[0].Attempt != 3 || !slices.Equal(pauses, []time.Duration{time.Minute, 2 * time.Minute}) {
		t.Errorf("%+v after %v", r, pauses)
	}
	want := "started 0, ended 0 failed, started 0, ended 0 failed, started 0, ended 0 done"
	if got := strings.Join(w.j.calls, ", "); got != want {
		t.Errorf("journal: %s", got)
	}
	// One step's own policy counts, and asking may be answered with yes.
	w = newWorld(t)
	asked := 0
	w.o.Steps = map[int]Policy{0: {OnFailure: OnFailureAsk}}
	w.o.Confirm = func(_ context.Context, q Question) (bool, error) {
		asked++
		return q.Kind == QuestionRetry && asked < 3, nil
	}
	if r := w.run(w.plan(commands("echo x >> tries; false"))); statuses(r) != "failed" || w.read("tries") != "x\nx\nx\n" {
		t.Errorf("%+v", r)
	}
}

// TestMappedDirectoryIsMade has narratives that are mapped to a directory which is not there yet.
func TestMappedDirectoryIsMade(t *testing.T) {
	for name, want := range map[string]string{"": "done", "src": "failed"} {
		w := newWorld(t)
		to := filepath.Join(w.dir, "sub", "app")
		p := w.plan(commands("echo a > f"))
		p.Steps[0].Cwd = filepath.Join(to, name)
		p.Mappings = []replay.Mapping{{Kind: "path", From: "/home/ann/app", To: to, Uses: 1}}
		if err := p.Identify(); err != nil {
			t.Fatal(err)
		}
		if got := statuses(w.run(p)); got != want {
			t.Errorf("the step runs in %s: %s, want %s", p.Steps[0].Cwd, got, want)
		}
	}
}

func TestJobsRunSideBySide(t *testing.T) {
	w := newWorld(t)
	w.o.Jobs, w.o.Timeout = 2, 2*time.Minute
	// Each waits for the other.
	r := w.run(w.plan(commands("touch a; until test -e b; do sleep 0.01; done", "touch b; until test -e a; do sleep 0.01; done", "test -e a"), [2]int{2, 0}))
	if statuses(r) != "done done done" {
		t.Errorf("%+v", r)
	}
}

func TestCancelStopsAndWritesDown(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.o.Progress = func(e Event) {
		if strings.Contains(string(e.Output), "ready") {
			cancel()
		}
	}
	r, err := Run(ctx, w.plan(commands("trap 'touch cleaned; exit' TERM; echo ready; while :; do sleep 0.01; done", "touch never")), w.o)
	if err != nil || r.Status != "stopped" || statuses(r) != "stopped" {
		t.Errorf("%+v, %v", r, err)
	}
	w.read("cleaned")
	if got := strings.Join(w.j.calls, ", "); got != "started 0, ended 0 stopped" || w.j.done != 1 {
		t.Errorf("journal: %s, %d", got, w.j.done)
	}
}

func TestWhatIsAbsentIsSaid(t *testing.T) {
	w := newWorld(t)
	w.o.Policy.OnFailure = OnFailureSkip
	s := commands("no-such-program-x", "true", "true")
	p := w.plan(s)
	s[1].Cwd = w.dir + "/absent"
	s[2].Shell = "no-such-shell"
	if err := p.Identify(); err != nil {
		t.Fatal(err)
	}
	r := w.run(p)
	if statuses(r) != "failed failed failed" {
		t.Fatalf("%+v", r)
	}
	for i, want := range []string{"not there", "no such directory", "no-such-shell"} {
		if !strings.Contains(r.Steps[i].Reason, want) {
			t.Errorf("%d: %q has no %q", i, r.Steps[i].Reason, want)
		}
	}
}

func TestAnEditedPlanIsRefused(t *testing.T) {
	w := newWorld(t)
	p := w.plan(commands("true"))
	p.Steps[0].Command = "touch edited"
	if _, err := Run(t.Context(), p, w.o); err == nil {
		t.Error("it ran")
	}
	if w.j.planned > 0 {
		t.Error("it was written down")
	}
}
