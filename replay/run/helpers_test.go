package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

func TestMain(m *testing.M) {
	sandbox.Init()
	os.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	os.Exit(m.Run())
}

// memory is a journal in memory.
type memory struct {
	mu      sync.Mutex
	calls   []string // "started 0", "ended 0 done"
	past    Past
	planned int
	done    int
	// failAt makes the call of this number (from 1) fail; then nothing works any more, as after a kill.
	// It fails before it is written down, or after.
	failAt int
	after  bool
	count  int
	wrong  []string
}

var errKilled = errors.New("killed")

func (m *memory) call(note func()) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.count++
	if m.failAt > 0 && (m.count > m.failAt || m.count == m.failAt && !m.after) {
		return errKilled
	}
	note()
	if m.count == m.failAt {
		return errKilled
	}
	return nil
}

func (m *memory) Planned(context.Context, Planned) error {
	return m.call(func() { m.planned++ })
}

func (m *memory) Started(_ context.Context, s Started) error {
	return m.call(func() {
		m.calls = append(m.calls, fmt.Sprintf("started %d", s.Step))
		m.number(s.Step, s.Number)
		m.past.Open[s.Step] = true
	})
}

func (m *memory) Ended(_ context.Context, o Outcome) error {
	return m.call(func() {
		m.calls = append(m.calls, fmt.Sprintf("ended %d %s", o.Step, o.Status))
		m.number(o.Step, o.Number)
		delete(m.past.Open, o.Step)
		m.past.Ended[o.Step] = o
	})
}

// number notes the number of an entry. Another one with the same number would be taken for a copy, but
// for the end of what was started.
func (m *memory) number(step, n int) {
	if m.past.Open == nil {
		m.past = Past{Open: map[int]bool{}, Ended: map[int]Outcome{}, Numbers: map[int]int{}}
	}
	if last := m.past.Numbers[step]; n < last || n == last && !m.past.Open[step] {
		m.wrong = append(m.wrong, fmt.Sprintf("step %d has number %d again", step, n))
	}
	m.past.Numbers[step] = n
}

func (m *memory) Done(context.Context, Report) error { return m.call(func() { m.done++ }) }

// world is a directory, and an executor without isolation in it.
type world struct {
	t   *testing.T
	dir string
	o   Options
	j   *memory
	box *sandbox.Sandbox // the executor
}

func newWorld(t *testing.T) *world {
	dir := t.TempDir()
	w := &world{t: t, dir: dir, j: &memory{}}
	w.o = Options{
		Run: "run", Journal: w.j, Executor: w.open(sandbox.IsolationNone), Scratch: filepath.Join(t.TempDir(), "scratch"), Grace: 100 * time.Millisecond,
		Env: map[string]string{"PATH": os.Getenv("PATH"), "HOME": dir},
	}
	return w
}

func (w *world) open(isolation sandbox.Isolation) *sandbox.Sandbox {
	w.t.Helper()
	return w.openIn(isolation, filepath.Join(w.t.TempDir(), "state"))
}

// openIn opens a sandbox with a state directory, which may be that of an earlier one.
func (w *world) openIn(isolation sandbox.Isolation, state string) *sandbox.Sandbox {
	w.t.Helper()
	if w.box != nil { // it has the lock of the directory
		_ = w.box.Close()
	}
	self, err := os.Executable()
	if err != nil {
		w.t.Fatal(err)
	}
	s, err := sandbox.Open(w.t.Context(), sandbox.Options{Dir: w.dir, State: state, Isolation: isolation, Helper: []string{self}})
	if refused := (*sandbox.RefusedError)(nil); errors.As(err, &refused) {
		w.t.Skip(refused)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.box = s
	w.t.Cleanup(func() { _ = s.Discard() })
	return s
}

// plan makes a plan of the steps; needs are pairs of indexes.
func (w *world) plan(steps []replay.Step, needs ...[2]int) *replay.Plan {
	w.t.Helper()
	p := &replay.Plan{Workspace: w.dir, Steps: steps}
	for i := range p.Steps {
		s := &p.Steps[i]
		s.Index, s.Cwd = i, w.dir
		s.Original = s.Command
	}
	for _, n := range needs {
		p.Steps[n[0]].Needs = append(p.Steps[n[0]].Needs, replay.Need{On: n[1], Kind: replay.NeedFile, What: "file"})
	}
	if err := p.Identify(); err != nil {
		w.t.Fatal(err)
	}
	return p
}

func (w *world) run(p *replay.Plan) Report {
	w.t.Helper()
	r, err := Run(w.t.Context(), p, w.o)
	if err != nil {
		w.t.Fatal(err)
	}
	return r
}

func statuses(r Report) string {
	var out []string
	for _, o := range r.Steps {
		out = append(out, string(o.Status))
	}
	return strings.Join(out, " ")
}

func commands(texts ...string) []replay.Step {
	var out []replay.Step
	for _, text := range texts {
		out = append(out, replay.Step{Command: text})
	}
	return out
}

func (w *world) read(name string) string {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(w.dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(b)
}
