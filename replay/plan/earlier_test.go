package plan

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/replay/effects"
	"github.com/recountdb/recount/schemas"
)

// TestEarlierShell checks that a part of a session has what the commands before it told the shell, as far as it needs it, and
// that it is said of the rest.
func TestEarlierShell(t *testing.T) {
	n := narrative("export LVL=3", "helper() { echo \"h $1 $LVL\" >> h; }", "umask 027", "alias unused=ls", "mkdir x && N=$(ls | wc -l)", "echo $LVL > lvl", "helper one", "echo $N > n")
	n.Earlier = map[schemas.EventID]bool{}
	for i, c := range n.Commands[:5] {
		e := effects.Of(effects.Command{Text: c.Command, Shell: c.Shell, Cwd: c.Cwd})
		if onlyTells(e.Line) != (i < 4) {
			t.Errorf("%s: only tells its shell something: %v", c.Command, i >= 4)
		}
		if n.Earlier[c.ID] = i < 4; i == 4 {
			n.Setters = []setter{{c, e.Sets}}
		}
	}
	n.Commands = append(n.Commands[:4:4], n.Commands[5:]...)
	for _, all := range []bool{false, true} {
		p := made(t, n, Request{All: all})
		if got := kept(p); got != "0 1 2 5 6 7" || len(p.Left) > 0 {
			t.Errorf("kept %s, left %+v", got, p.Left)
		}
		if len(p.Missing) != 1 || !strings.Contains(p.Missing[0].Text, `"echo $N > n" uses N, which "mkdir x && N=$(ls | wc -l)" set before`) {
			t.Errorf("missing: %+v", p.Missing)
		}
	}
	for _, line := range []string{"export A=1 > f", "(export A=1)", "export A=$(date)", "cd x", "A=1 make", "trap 'rm -r x' EXIT", "{ export A=1; } | cat"} {
		if e := effects.Of(effects.Command{Text: line, Shell: "bash", Cwd: "/x"}); onlyTells(e.Line) {
			t.Errorf("%s only tells its shell something", line)
		}
	}
}
