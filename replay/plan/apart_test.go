package plan

import (
	"slices"
	"testing"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/schemas"
)

// TestShellsOfAgents checks that of what a command of a coding agent sets in its shell nothing is left for the next one.
func TestShellsOfAgents(t *testing.T) {
	lines := []string{"export X=5; umask 077", "echo \"x=$X\" > x", "fun() { echo f; }; fun > fn", "fun > fn2 || echo none > fn2", "alias rm='rm -f'", "set -e; false; true", "cd sub && cp - x", "echo $? > y"}
	n := narrative(lines...)
	n.Apart = map[schemas.EventID]bool{}
	for _, c := range n.Commands {
		n.Apart[c.ID] = true
	}
	p := made(t, n, Request{})
	if got := kept(p); got != "1 2 3 6 7" {
		t.Errorf("kept %s", got)
	}
	for _, s := range p.Steps {
		if len(s.Sets) > 0 || slices.ContainsFunc(s.Needs, func(n replay.Need) bool { return n.Kind == replay.NeedEnvironment }) {
			t.Errorf("%q sets %v and needs %v", s.Original, s.Sets, s.Needs)
		}
		if s.OwnShell != (s.Original == lines[2]) {
			t.Errorf("%q: own shell %v", s.Original, s.OwnShell)
		}
	}
	if s := p.Steps[len(p.Steps)-1]; s.Command != "echo 0 > y" {
		t.Errorf("%q becomes %q", s.Original, s.Command)
	}
	if got := kept(made(t, narrative(lines...), Request{})); got == "1 2 3 6 7" {
		t.Error("typed into one shell nothing is kept of it either")
	}
	for source, want := range map[string]bool{"recount/agent-hook": true, "import/mini-swe-agent/untimed": true, "import/openhands": false, "import/traj/untimed": false, "recount/hook": false} {
		if inOwnShell(source) != want {
			t.Errorf("%s: %v", source, !want)
		}
	}
}
