package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/danger"
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

func TestDangerousPartsAreConfirmedOneByOne(t *testing.T) {
	dangerous := func() []replay.Step {
		s := commands("touch danger", "touch after", "touch free")
		s[0].Danger = []danger.Finding{{Kind: "remove", What: "a", Why: "b"}, {Kind: "publish", What: "c", Why: "d"}}
		s[0].Asks = []replay.Ask{{Kind: replay.AskFailed, Text: "it failed"}}
		return s
	}
	for _, answers := range []map[string]bool{{"ask": true, "a: b": true}, {"ask": true, "a: b": true, "c: d": true}, {}} {
		w := newWorld(t)
		var asked []string
		w.o.Policy.OnFailure = OnFailureSkip
		w.o.Confirm = func(_ context.Context, q Question) (bool, error) {
			asked = append(asked, q.Text)
			return answers[q.Kind] || answers[q.Text], nil
		}
		got := statuses(w.run(w.plan(dangerous(), [2]int{1, 0})))
		want := "refused blocked done"
		if len(answers) == 3 {
			want = "done done done"
		}
		if got != want {
			t.Errorf("%v: %s, want %s; asked %q", answers, got, want, asked)
		}
	}
}

// TestRepositoriesThatAreThere lets a plan change the history of a repository that it begins, and asks where one was there.
func TestRepositoriesThatAreThere(t *testing.T) {
	for name, want := range map[string]string{"": "done done", "own/.git/HEAD": "done refused", "own/HEAD": "done refused", "own/file": "done done"} {
		w := newWorld(t)
		w.o.Policy.OnFailure = OnFailureSkip
		w.o.Confirm = func(context.Context, Question) (bool, error) { return false, nil }
		if name != "" {
			if err := os.MkdirAll(filepath.Dir(filepath.Join(w.dir, name)), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(w.dir, name), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		s := commands("mkdir -p own/.git && touch own/HEAD", "touch reset")
		s[1].Danger = []danger.Finding{{Kind: "history", What: "git reset --hard", Why: "it discards changes", Unless: filepath.Join(w.dir, "own")}}
		if got := statuses(w.run(w.plan(s, [2]int{1, 0}))); got != want {
			t.Errorf("with %q: %s, want %s", name, got, want)
		}
	}
}

// TestWhatCanDoNoHarm has steps that are dangerous only where something is, which the run looks at.
func TestWhatCanDoNoHarm(t *testing.T) {
	w := newWorld(t)
	git := func(args ...string) {
		t.Helper()
		c := exec.Command("git", args...)
		c.Dir = w.dir
		c.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org")
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	for _, name := range []string{"clean", "changed", "stashed"} {
		git("init", "-q", name)
		if err := os.WriteFile(filepath.Join(w.dir, name, "f"), []byte("1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		git("-C", name, "add", "f")
		git("-C", name, "commit", "-qm", "one")
		if name != "clean" {
			if err := os.WriteFile(filepath.Join(w.dir, name, "f"), []byte("2\n"), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	git("-C", "stashed", "stash", "-q")
	git("clone", "-q", "clean", "untracked")
	git("-C", "untracked", "config", "status.showUntrackedFiles", "no")
	if err := os.WriteFile(filepath.Join(w.dir, "untracked", "g"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	git("-C", "clean", "branch", "old")
	git("init", "-q", "--bare", "remote.git")
	git("-C", "clean", "remote", "add", "origin", "../remote.git")
	git("-C", "changed", "remote", "add", "origin", "https://example.com/x.git")
	at := func(name string) string { return filepath.Join(w.dir, name) }
	for name, c := range map[string]struct {
		finding danger.Finding
		without map[int]bool
		want    string
	}{
		"known by a variable":      {danger.Finding{Whole: true}, nil, "done done"},
		"which is not set":         {danger.Finding{Whole: true}, map[int]bool{0: true}, "omitted refused"},
		"nothing to lose":          {danger.Finding{Clean: at("clean")}, nil, "done done"},
		"not there yet":            {danger.Finding{Clean: at("later")}, nil, "done done"},
		"changes that were there":  {danger.Finding{Clean: at("changed")}, nil, "done refused"},
		"a file that git lacks":    {danger.Finding{Clean: at("untracked")}, nil, "done refused"},
		"a stash that was there":   {danger.Finding{Clean: at("stashed")}, nil, "done refused"},
		"a new branch":             {danger.Finding{Clean: at("changed"), Branches: []string{"new"}}, nil, "done done"},
		"a branch that was there":  {danger.Finding{Clean: at("clean"), Branches: []string{"new", "old"}}, nil, "done refused"},
		"a file as it was":         {danger.Finding{Clean: at("changed"), Files: []string{"h", "new"}}, nil, "done done"},
		"a changed file":           {danger.Finding{Clean: at("changed"), Files: []string{"h", "f"}}, nil, "done refused"},
		"a file of its own":        {danger.Finding{Clean: at("untracked"), Files: []string{"g"}}, nil, "done refused"},
		"nothing that git lacks":   {danger.Finding{Clean: at("clean"), Files: []string{"."}}, nil, "done done"},
		"a folder with a change":   {danger.Finding{Clean: at("changed"), Files: []string{"."}}, nil, "done refused"},
		"a remote in the tree":     {danger.Finding{Remotes: at("clean")}, nil, "done done"},
		"a remote elsewhere":       {danger.Finding{Remotes: at("changed")}, nil, "done refused"},
		"no remote":                {danger.Finding{Remotes: at("stashed")}, nil, "done refused"},
		"nothing is known of this": {danger.Finding{}, nil, "done refused"},
	} {
		w.o.Policy.OnFailure, w.o.Without = OnFailureSkip, c.without
		w.o.Confirm = func(context.Context, Question) (bool, error) { return false, nil }
		s := commands("echo 3 > clean/f", "true", "echo 1 > clean/f")
		s[1].Danger = []danger.Finding{c.finding}
		if got := statuses(w.run(w.plan(s))); got != c.want+" done" {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for _, isolation := range []sandbox.Isolation{sandbox.IsolationNone, sandbox.IsolationSandbox} {
		w.o.Executor, w.o.Without = w.open(isolation), nil
		s := commands("true")
		s[0].Danger = []danger.Finding{{Open: true}}
		want := map[sandbox.Isolation]string{sandbox.IsolationNone: "refused", sandbox.IsolationSandbox: "done"}[isolation]
		if got := statuses(w.run(w.plan(s))); got != want {
			t.Errorf("a guess, %s: %s, want %s", isolation, got, want)
		}
	}
}

// TestStepsDoNotFindThemselves has steps that look for a process by words which they have in them, as the shell into
// which they were typed did not.
func TestStepsDoNotFindThemselves(t *testing.T) {
	for _, session := range []string{"", "one"} {
		w := newWorld(t)
		s := commands("sleep 4711 & X=1", "pgrep -fc 'sleep 4711' > found; pkill -f 'sleep 4711'; echo ended > out", "env | grep -c __recount || true")
		for i := range s {
			s[i].Session, s[i].Shell = session, "bash"
		}
		s[0].Background, s[0].Sets = true, []string{"X"}
		r := w.run(w.plan(s))
		if got := statuses(r); got != "done done done" || w.read("found")+w.read("out") != "1\nended\n" || r.Steps[2].Output != "0\n" {
			t.Errorf("session %q: %s, %q", session, got, r.Steps[2].Output)
		}
	}
}

// TestUnknownProgramsAreConfirmedOnce checks that a program about which nothing is known is asked about once
// for all steps, and only where they may reach more than the directory.
func TestUnknownProgramsAreConfirmedOnce(t *testing.T) {
	unknown := func() []replay.Step {
		s := commands("touch a", "touch b", "touch c", "touch free")
		s[0].Unknown, s[1].Unknown, s[2].Unknown = []string{"one"}, []string{"one", "two"}, []string{"one"}
		return s
	}
	for _, c := range []struct {
		isolation  sandbox.Isolation
		network    bool
		yes        string
		asked, got string
	}{
		{sandbox.IsolationSandbox, false, "", "", "done done done done"},
		{sandbox.IsolationSandbox, true, "one", "one two", "done refused done done"},
		{sandbox.IsolationNone, false, "one", "one two", "done refused done done"},
		{sandbox.IsolationNone, false, "two", "one", "refused refused refused done"},
		{sandbox.IsolationNone, true, "one two", "one two", "done done done done"},
	} {
		w := newWorld(t)
		w.o.Executor, w.o.Network, w.o.Policy.OnFailure, w.o.Jobs = w.open(c.isolation), c.network, OnFailureSkip, 4
		var asked []string
		w.o.Confirm = func(_ context.Context, q Question) (bool, error) {
			if q.Kind != QuestionProgram || !strings.Contains(q.Text, "nothing is known about "+q.Program) {
				t.Errorf("question %+v", q)
			}
			asked = append(asked, q.Program)
			return strings.Contains(c.yes, q.Program), nil
		}
		if got := statuses(w.run(w.plan(unknown()))); got != c.got || strings.Join(asked, " ") != c.asked {
			t.Errorf("%s, network %t, yes to %q: %s, asked %q; want %s, %q", c.isolation, c.network, c.yes, got, asked, c.got, c.asked)
		}
	}
}

func TestQuestionsWithNames(t *testing.T) {
	w := newWorld(t)
	s := commands(`printf %s "$RECOUNT_PASSWORD" > out`, `printf %s "$RECOUNT_PASSWORD$OTHER"`, "vi")
	s[0].Asks = []replay.Ask{{Kind: replay.AskRedacted, Name: "RECOUNT_PASSWORD", Text: "give it"}}
	s[1].Asks = []replay.Ask{{Kind: replay.AskRedacted, Name: "ABSENT", Text: "give ABSENT"}}
	s[2].Asks = []replay.Ask{{Kind: replay.AskTerminal, Text: "vi needs a terminal"}}
	w.o.Values = map[string]string{"RECOUNT_PASSWORD": "s3cret"}
	r := w.run(w.plan(s))
	if statuses(r) != "done refused terminal" || w.read("out") != "s3cret" || r.Steps[2].Reason != "vi needs a terminal" {
		t.Errorf("%+v", r)
	}
	if text := fmt.Sprintf("%+v", w.j.past); strings.Contains(text, "s3cret") {
		t.Errorf("the journal has the value: %s", text)
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

// TestValuesOfOneStep has steps of one session that ask for different values by the same name.
func TestValuesOfOneStep(t *testing.T) {
	w := newWorld(t)
	s := commands(`A="${RECOUNT_TOKEN}"; echo $A > first`, `echo "${RECOUNT_TOKEN}" $A > second`, `echo "${RECOUNT_TOKEN}" > third`)
	for i := range s {
		s[i].Session, s[i].Asks = "one", []replay.Ask{{Kind: replay.AskRedacted, Name: "RECOUNT_TOKEN", Text: "give it"}}
	}
	s[0].Sets = []string{"A"}
	w.o.Values = map[string]string{"RECOUNT_TOKEN": "blue", "RECOUNT_TOKEN_2": "red"}
	r := w.run(w.plan(s, [2]int{1, 0}, [2]int{2, 1}))
	if got := w.read("first") + w.read("second") + w.read("third"); statuses(r) != "done done done" || got != "blue\nred blue\nblue\n" {
		t.Errorf("%s, got %q", statuses(r), got)
	}
	for i := range s {
		s[i].Needs = nil
	}
	w.o.Values = map[string]string{"RECOUNT_TOKEN_2": "red"}
	if got := statuses(w.run(w.plan(s))); got != "refused done refused" {
		t.Errorf("with a value for one step alone: %s", got)
	}
}

func TestSessionStateIsCarried(t *testing.T) {
	w := newWorld(t)
	s := commands("export A='x y'; f() { echo \"f $1 $A\"; }; alias g='echo alias'; cd /tmp", "f 1; g 2; pwd", "A=changed; exit 4", "echo $A", "echo other $A")
	for i := range s {
		s[i].Session = "one"
	}
	s[0].Sets = []string{"A", "f()", "alias g"}
	s[2].Sets = []string{"A"}
	four := int32(4)
	s[2].Exit = &four
	s[4].Session = "two"
	w.o.Jobs = 4
	r := w.run(w.plan(s))
	if statuses(r) != "done done done done done" {
		t.Fatalf("%s: %+v", statuses(r), r)
	}
	if got, want := r.Steps[1].Output, "f 1 x y\nalias 2\n"+w.dir+"\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if r.Steps[3].Output != "changed\n" || r.Steps[4].Output != "other\n" {
		t.Errorf("%q %q", r.Steps[3].Output, r.Steps[4].Output)
	}
}

func TestConstantsAndParametersAreCarried(t *testing.T) {
	w := newWorld(t)
	s := commands("readonly LIMIT=10; set -- a 'b c'", "echo $LIMIT $# $2", "shift", "echo $1 $#")
	for i := range s {
		s[i].Session = "one"
	}
	s[0].Sets = []string{"LIMIT", "option"}
	s[2].Sets = []string{"option"}
	r := w.run(w.plan(s))
	if statuses(r) != "done done done done" || r.Steps[1].Output != "10 2 b c\n" || r.Steps[3].Output != "b c 1\n" {
		t.Errorf("%s: %q %q", statuses(r), r.Steps[1].Output, r.Steps[3].Output)
	}
}

// TestOpenFilesAreCarried has files that a shell opens in one line, and writes to, reads and closes in later ones.
func TestOpenFilesAreCarried(t *testing.T) {
	w := newWorld(t)
	s := commands("exec 3> log", "echo one >&3", "echo two >&3; cat log", "exec 3>&-; exec 4>> log {in}< log", "echo three >&4; read -r a <&$in; read -r b <&$in; echo $b $a", "cat <&$in", "exec 4>&-; echo x >&4")
	for i := range s {
		s[i].Session = "one"
	}
	for _, i := range []int{0, 3, 6} {
		s[i].Sets = []string{"option"}
	}
	one := int32(1)
	s[6].Exit = &one
	r := w.run(w.plan(s))
	if statuses(r) != "done done done done done done done" {
		t.Fatalf("%s: %+v", statuses(r), r.Steps)
	}
	if a, b, c := r.Steps[2].Output, r.Steps[4].Output, r.Steps[5].Output; a != "one\ntwo\n" || b != "two one\n" || c != "three\n" {
		t.Errorf("%q %q %q", a, b, c)
	}
}

// TestStreamsAreCarried has a shell that puts its standard output aside in one line, and back in a later one.
func TestStreamsAreCarried(t *testing.T) {
	w := newWorld(t)
	s := commands("exec 6>&1 > log", "echo one", "exec 1>&6 6>&-", "echo two; cat log")
	for i := range s {
		s[i].Session = "one"
	}
	s[0].Sets, s[2].Sets = []string{"option"}, []string{"option"}
	r := w.run(w.plan(s))
	if statuses(r) != "done done done done" || r.Steps[1].Output != "" || r.Steps[3].Output != "two\none\n" {
		t.Errorf("%s: %+v", statuses(r), r.Steps)
	}
}

func TestJobsRunSideBySide(t *testing.T) {
	w := newWorld(t)
	w.o.Jobs, w.o.Timeout = 2, 20*time.Second
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
