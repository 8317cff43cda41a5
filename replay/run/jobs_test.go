package run

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/sandbox"
)

func TestLastProcess(t *testing.T) {
	for line, want := range map[string]string{
		`echo $! > pid`:           `echo ${!:-${__recount_pid-}} > pid`,
		`kill -9 "$!"; wait ${!}`: `kill -9 "${!:-${__recount_pid-}}"; wait ${!:-${__recount_pid-}}`,
		`echo '$!' "\$!"`:         `echo '$!' "\$!"`,
		`echo $!x; echo é$!`:      `echo ${!:-${__recount_pid-}}x; echo é${!:-${__recount_pid-}}`,
		`echo ${!name} $!`:        `echo ${!name} ${!:-${__recount_pid-}}`,
		`echo $! )`:               `echo $! )`,
		`echo hello!`:             `echo hello!`,
	} {
		if got := lastProcess(line); got != want {
			t.Errorf("%s: got %s, want %s", line, got, want)
		}
	}
}

func openSandbox(t *testing.T, dir string) *sandbox.Sandbox {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Open(t.Context(), sandbox.Options{Dir: dir, State: filepath.Join(t.TempDir(), "state"), Helper: []string{self}})
	if refused := (*sandbox.RefusedError)(nil); errors.As(err, &refused) {
		t.Skip(refused)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Discard() })
	return box
}

// TestJobs runs lines of one session, each as a step of its own, that are about jobs of others.
func TestJobs(t *testing.T) {
	for name, lines := range map[string][]string{
		"kill by number":       {"sleep 1000 &", "kill %1 && while kill -0 %1 2>/dev/null; do sleep 0.01; done; echo gone > out"},
		"kill by $!":           {"sleep 1000 &", "echo $! > pid", "kill $(cat pid); while kill -0 $(cat pid) 2>/dev/null; do sleep 0.01; done; echo gone > out"},
		"wait":                 {"while ! test -f go; do sleep 0.01; done && echo gone > out &", "touch go", "wait"},
		"wait for a number":    {"sleep 1000 &", "while ! test -f go; do sleep 0.01; done && echo gone > out &", "touch go; wait %2; kill %1"},
		"fg":                   {"while ! test -f go; do sleep 0.01; done && echo gone > out &", "touch go; fg"},
		"the second":           {"sleep 1000 &", "sleep 1000 &", "kill %2; kill -0 %1 && while kill -0 %2 2>/dev/null; do sleep 0.01; done; echo gone > out; kill %1"},
		"the last":             {"sleep 1000 &", "sleep 1000 &", "echo $! > b; kill %%; kill -0 %- && test $(cat b) = $! && echo gone > out; kill %1"},
		"with a variable":      {"A=gone", "sleep 1000 & B=$!", "kill $B && echo $A > out"},
		"its own":              {"sleep 1000 &", "sleep 1000 & kill $! && wait $! 2>/dev/null; kill -0 %1 && echo gone > out; kill %1"},
		"none was started":     {"true", "kill %1 2>/dev/null || echo gone > out"},
		"a trap":               {"trap 'echo gone > out' USR1", "sleep 1000 &", "kill -USR1 $$; kill %1"},
		"an option that exits": {"set -e; sleep 1000 &", "kill $!; echo gone > out"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			p := &replay.Plan{Workspace: dir}
			for i, l := range lines {
				s := replay.Step{Index: i, Command: l, Original: l, Shell: "bash", Session: "s1", Cwd: dir, Why: []replay.Reason{}, Post: []replay.Postcondition{{Kind: replay.PostNone}}}
				if s.Background = strings.Contains(l, " &") && !strings.Contains(l, "&&") || strings.HasSuffix(l, "&"); i > 0 {
					s.Needs = []replay.Need{{On: i - 1, Kind: replay.NeedService, What: "background"}}
				}
				switch {
				case strings.HasPrefix(l, "A="):
					s.Sets = []string{"A"}
				case strings.Contains(l, "B=$!"):
					s.Sets = []string{"B"}
				case strings.HasPrefix(l, "set -e"), strings.HasPrefix(l, "trap"):
					s.Sets = []string{"option"}
				}
				p.Steps = append(p.Steps, s)
			}
			if err := p.Identify(); err != nil {
				t.Fatal(err)
			}
			box := openSandbox(t, dir)
			report, err := Run(t.Context(), p, Options{Run: "r-1", Executor: box, Journal: &memory{}, Env: map[string]string{"PATH": os.Getenv("PATH")}})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := box.Apply(); err != nil {
				t.Fatal(err)
			}
			if got, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(got) != "gone\n" {
				t.Errorf("%s, %v\n%+v", got, err, report.Steps)
			}
		})
	}
}
