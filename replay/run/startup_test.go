package run

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// guarded is how startup files begin that do nothing in a shell that is not interactive.
const guarded = "case $- in *i*) ;; *) return;; esac\necho hello\n"

// TestStartupFilesAreReadAsTyped has a step that reads a startup file, as people do after they edited it.
func TestStartupFilesAreReadAsTyped(t *testing.T) {
	for _, test := range []struct{ shell, file, guard string }{{"bash", ".bashrc", guarded}, {"bash", ".bashrc", `[ -z "$PS1" ] && return` + "\n"}, {"zsh", ".zshrc", "[[ -o interactive ]] || return\n"}} {
		if _, err := exec.LookPath(test.shell); err != nil {
			continue
		}
		w := newWorld(t)
		w.holds(test.file, test.guard+"export EDGE=7\nalias shout='echo loud'\ninto() { mkdir -p \"$1\" && cd \"$1\"; }\n")
		s := commands(". ~/"+test.file+" && echo $EDGE", "shout $EDGE", "into new/dir; echo x > here", "echo no > a; echo '!!' $-")
		for i := range s {
			s[i].Shell, s[i].Session = test.shell, "one"
		}
		s[0].Sets = []string{"*"}
		r := w.run(w.plan(s, [2]int{1, 0}, [2]int{2, 0}, [2]int{3, 0}))
		if statuses(r) != "done done done done" || r.Steps[1].Output != "loud 7\n" || w.read("new/dir/here") != "x\n" {
			t.Errorf("%s: %s: %+v", test.shell, statuses(r), r.Steps)
		}
		if out := r.Steps[0].Output; out != "7\n" && out != "hello\n7\n" {
			t.Errorf("%s says %q of its terminal", test.shell, out)
		}
	}
}

// TestWhatTheStartupFileDeclares has steps that call functions and aliases which their shell had from the beginning.
func TestWhatTheStartupFileDeclares(t *testing.T) {
	for _, test := range []struct{ shell, file string }{{"bash", ".bashrc"}, {"zsh", ".zshrc"}} {
		if _, err := exec.LookPath(test.shell); err != nil {
			continue
		}
		w := newWorld(t)
		w.holds(test.file, "echo hello\ninner() { echo inner \"$1\"; }\nouter() { inner \"$1\"; }\nalias short='echo short'\nown() { echo theirs; }\n")
		s := commands("outer 1", "short 2", "own() { echo mine; }; A=3", "own; outer $A", "nowhere")
		for i, names := range [][]string{{"outer"}, {"short"}, nil, {"outer"}, {"nowhere"}} {
			s[i].Shell, s[i].Session, s[i].Unknown = test.shell, "one", names
		}
		s[0].Session, s[1].Session = "", ""
		s[2].Sets = []string{"own()", "A"}
		w.o.Policy.OnFailure = OnFailureSkip
		w.o.Confirm = func(context.Context, Question) (bool, error) { return true, nil }
		r := w.run(w.plan(s, [2]int{3, 2}))
		var got []string
		for _, o := range r.Steps {
			got = append(got, o.Output)
		}
		if statuses(r) != "done done done done failed" || !slices.Equal(got[:4], []string{"inner 1\n", "short 2\n", "", "mine\ninner 3\n"}) {
			t.Errorf("%s: %s: %q", test.shell, statuses(r), got)
		}
	}
}

func (w *world) holds(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.dir, name), []byte(content), 0o600); err != nil {
		w.t.Fatal(err)
	}
}
