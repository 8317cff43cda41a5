package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/replay"
)

// TestSessionsOfOtherShells has a session of fish and one of zsh, with options, lists, functions, and a step that sets
// something and writes.
func TestSessionsOfOtherShells(t *testing.T) {
	for shell, lines := range map[string][3]string{
		"fish": {"set n 3; set files 'a b' c; function hi; echo hi $argv[1]; end", "set -a files d; echo once >> log", "for f in $files; echo $f$n >> out; end; hi RECOUNT >> out"},
		"zsh":  {"setopt shwordsplit; n=3; files='a c'; hi() { echo hi $1 }", "files+=' d'; echo once >> log", "for f in $files; do echo $f$n >> out; done; hi RECOUNT >> out"},
	} {
		if _, err := exec.LookPath(shell); err != nil {
			continue
		}
		for kind, program := range map[string][]string{"bash": {"bash"}, "make": {"make", "-f"}} {
			dir := t.TempDir()
			need := func(on int) replay.Need {
				return replay.Need{On: on, Kind: replay.NeedEnvironment, What: "n"}
			}
			p := replay.Plan{Steps: []replay.Step{
				{Index: 0, Cwd: dir, Shell: shell, Session: "s", Command: lines[0], Sets: []string{"n", "files", "hi()", "option"}},
				{Index: 1, Cwd: dir, Shell: shell, Session: "s", Command: lines[1], Sets: []string{"files"}, Needs: []replay.Need{need(0)}},
				{Index: 2, Cwd: dir, Shell: shell, Session: "s", Command: lines[2], Needs: []replay.Need{need(0), need(1)}},
				{Index: 3, Cwd: dir, Shell: shell, Session: "other", Command: `echo "[$n]" > other`},
			}}
			run(t, program[0], append(program[1:], write(t, p, kind))...)
			want := map[string]string{"fish": "a b3\nc3\nd3\nhi RECOUNT\n", "zsh": "a3\nc3\nd3\nhi RECOUNT\n"}[shell]
			if b, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(b) != want {
				t.Errorf("%s, %s: %q, %v", shell, kind, b, err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "log")); kind == "bash" && (err != nil || string(b) != "once\n") {
				t.Errorf("%s: %q, %v", shell, b, err)
			}
			if b, err := os.ReadFile(filepath.Join(dir, "other")); err != nil || string(b) != "[]\n" {
				t.Errorf("%s, %s: %q, %v", shell, kind, b, err)
			}
		}
	}
}

// TestUnknownSyntaxWaits has a step of fish whose syntax is not known: the script runs it with a yes, and else ends.
func TestUnknownSyntaxWaits(t *testing.T) {
	if _, err := exec.LookPath("fish"); err != nil {
		t.Skip("fish is not installed")
	}
	for _, kind := range []string{"bash", "make"} {
		dir := t.TempDir()
		file := write(t, replay.Plan{Steps: []replay.Step{{
			Cwd: dir, Shell: "fish", Command: "for i in 1 2; echo $i > f$i; end", Asks: []replay.Ask{{Kind: replay.AskSyntax, Text: "its syntax is not known"}},
		}}}, kind)
		args := map[string][]string{"bash": {"bash", file}, "make": {"make", "-f", file}}[kind]
		for _, yes := range []string{"", "RECOUNT_YES=1"} {
			c := exec.Command(args[0], args[1:]...)
			c.SysProcAttr, c.Env = noTerminal(), []string{"PATH=" + os.Getenv("PATH"), yes}
			out, err := c.CombinedOutput()
			_, made := os.Stat(dir + "/f2")
			if (err == nil) != (yes != "") || (made == nil) != (yes != "") || yes == "" && !strings.Contains(string(out), "RECOUNT_YES") {
				t.Errorf("%s %q: %v %v %s", kind, yes, err, made, out)
			}
		}
	}
}
