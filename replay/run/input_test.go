package run

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

// TestStepsRunAfterTheirInputChanged has a file that somebody edited by hand: the step that writes to it runs
// again, and so does the one that reads it, unless the file came out as it was.
func TestStepsRunAfterTheirInputChanged(t *testing.T) {
	for _, isolation := range []sandbox.Isolation{sandbox.IsolationNone, sandbox.IsolationSandbox} {
		for _, c := range []struct {
			name, first, left, reader string
			want                      string
		}{
			{"appended to what was edited", "echo b >> log", "a\nb\n", "sort log > sorted", "done done"},
			{"written as it was", "printf 'a\\nb\\n' > log", "a\nb\n", "sort log > sorted", "done skipped"},
			{"removed", "rm log", "", "sort log > sorted || true", "done done"},
		} {
			w := newWorld(t)
			log, sorted := filepath.Join(w.dir, "log"), filepath.Join(w.dir, "sorted")
			for name, content := range map[string]string{log: "edited\n", sorted: "a\nb\n"} {
				if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			s := commands(c.first, c.reader)
			s[0].Post = []replay.Postcondition{{Kind: replay.PostFile, Target: log, Updates: true, Hash: sum(c.left)}}
			s[0].Outputs = []string{log}
			s[1].Post = []replay.Postcondition{{Kind: replay.PostFile, Target: sorted, Hash: sum("a\nb\n")}}
			s[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedFile, What: log}}
			w.o.Executor = w.open(isolation)
			if r := w.run(w.plan(s)); statuses(r) != c.want {
				t.Errorf("%s, %s: %s, want %s", isolation, c.name, statuses(r), c.want)
			}
		}
	}
}

// TestPatternsTakeWhatIsThere has a step that removes by a pattern what a step before it left under another name than
// when it was recorded: that the recorded name is gone says nothing. What was moved away meanwhile needs no removing.
func TestPatternsTakeWhatIsThere(t *testing.T) {
	for _, c := range []struct{ first, second, last, want string }{
		{"echo 1 > new/now", "true", "rm new/*", "done done done"},
		{"echo 1 > new/now", "true", "mv new/n* cur", "done done done"},
		{"echo 1 > new/now", "mv new/now cur/now", "rm new/*", "done done skipped"},
		{"echo 1 > cur/now", "true", "rm new/*", "done done skipped"},
		{"echo 1 > new/now", "true", "rm new/then", "done done skipped"},
	} {
		w := newWorld(t)
		for _, name := range []string{"new", "cur"} {
			if err := os.Mkdir(filepath.Join(w.dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		s := commands(c.first, c.second, c.last)
		for i := range s {
			s[i].Post = []replay.Postcondition{{Kind: replay.PostNone}}
		}
		s[2].Post = []replay.Postcondition{{Kind: replay.PostAbsent, Target: filepath.Join(w.dir, "new", "then")}}
		w.o.Executor = w.open(sandbox.IsolationSandbox)
		if r := w.run(w.plan(s)); statuses(r) != c.want {
			t.Errorf("%s; %s; %s: %s, want %s", c.first, c.second, c.last, statuses(r), c.want)
		}
	}
}

// TestUnknownInput has a step that leaves files of which the last replay says nothing: what the view shows as
// changed counts, and what is merely listed does not.
func TestUnknownInput(t *testing.T) {
	for isolation, want := range map[sandbox.Isolation]string{sandbox.IsolationNone: "done skipped", sandbox.IsolationSandbox: "done done"} {
		w := newWorld(t)
		out, last := filepath.Join(w.dir, "out"), filepath.Join(w.dir, "last")
		if err := os.WriteFile(last, []byte("1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		s := commands("mkdir out && echo 2 > out/a", "cat out/a > last")
		s[0].Post, s[0].Outputs = []replay.Postcondition{{Kind: replay.PostNone}}, []string{out}
		s[1].Post = []replay.Postcondition{{Kind: replay.PostFile, Target: last, Hash: sum("1\n")}}
		s[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedDirectory, What: out}}
		w.o.Executor = w.open(isolation)
		if r := w.run(w.plan(s)); statuses(r) != want {
			t.Errorf("%s: %s, want %s", isolation, statuses(r), want)
		}
	}
}

// TestCommitsWithOneMessage has a repository with a commit of the same message as the one that a step makes of what
// another one has just staged.
func TestCommitsWithOneMessage(t *testing.T) {
	for _, isolation := range []sandbox.Isolation{sandbox.IsolationNone, sandbox.IsolationSandbox} {
		w := newWorld(t)
		setup := exec.Command("sh", "-c", "git init -q -b main && git config user.name A && git config user.email a@example.org && echo 1 > f && git add f && git commit -qm wip")
		setup.Dir = w.dir
		if out, err := setup.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		f := filepath.Join(w.dir, "f")
		s := commands("echo 2 > f", "git add f", "git commit -qm wip", "git log --oneline | wc -l")
		s[0].Post, s[0].Outputs = []replay.Postcondition{{Kind: replay.PostFile, Target: f}}, []string{f}
		by := 2
		s[1].Post = []replay.Postcondition{{Kind: replay.PostStaged, Target: f, ReplacedBy: &by}}
		s[1].Needs = []replay.Need{{On: 0, Kind: replay.NeedFile, What: f}}
		s[2].Post = []replay.Postcondition{{Kind: replay.PostCommit, Target: "wip"}}
		s[2].Needs = []replay.Need{{On: 1, Kind: replay.NeedCommit, What: f}}
		s[3].Needs = []replay.Need{{On: 2, Kind: replay.NeedCommit, What: "HEAD"}}
		w.o.Executor = w.open(isolation)
		if r := w.run(w.plan(s)); statuses(r) != "done done done done" || strings.TrimSpace(r.Steps[3].Output) != "2" {
			t.Errorf("%s: %s: %+v", isolation, statuses(r), r.Steps[3])
		}
	}
}
