package shellhook

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestBashHiddenIsNoRepeat checks a command that HISTCONTROL keeps out of the history: a repetition
// of the previous line is recorded, and another line that the user hides is not, even if it begins
// like the previous one.
func TestBashHiddenIsNoRepeat(t *testing.T) {
	for _, c := range []struct {
		why, first, then string
		repeat           bool
	}{
		{"the same", "ls -la /", "ls -la /", true},
		{"a word less", "ls -la /", " ls", false},
		{"a shorter word", "lsx() { :; }; ls -d /", " l", false},
		{"a part of a pipeline", "ls / | wc -l", " ls /", false},
		{"the same pipeline", "ls / | wc -l", "ls / | wc -l", true},
		{"the first of two", "ls /; pwd", " ls /", false},
		{"both of two", "ls /; pwd", "ls /; pwd", true},
		{"the first of two that would have gone on", "true && pwd", " true", false},
		{"a list that ends early", "false && pwd", "false && pwd", true},
		{"a list that ends early, by or", "true || pwd", "true || pwd", true},
		{"a loop", "for i in 1 2; do echo $i; done", "for i in 1 2; do echo $i; done", true},
		{"a condition", "if true; then echo x; fi", "if true; then echo x; fi", true},
		{"in the background", "true &", "true &", true},
		{"with a comment", "ls / # look", "ls / # look", true},
		{"with redirections", "ls / >/dev/null 2>&1", "ls / >/dev/null 2>&1", true},
		{"with quotes", `echo "a  b" 'c;d'`, `echo "a  b" 'c;d'`, true},
		{"a hidden one with arguments", "git status", " git statusx", false},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := newSession(t, "bash")
			want := []string{c.first}
			if c.repeat {
				want = append(want, c.first)
			}
			want = append(want, "end")
			_, calls := s.run("HISTCONTROL=ignoreboth\nend() { :; }\n", c.first+"\n"+c.then+"\nend\n", len(want))
			var got []string
			for _, call := range calls {
				got = append(got, call.Command)
			}
			if d := cmp.Diff(got, want); d != "" {
				t.Errorf("got - want +\n%s", d)
			}
		})
	}
}

// TestBashPromptCommandBefore checks that a PROMPT_COMMAND that is added before the hook later does
// not change the recorded exit codes, and runs once per prompt.
func TestBashPromptCommandBefore(t *testing.T) {
	for name, set := range map[string]string{
		"a string":  `PROMPT_COMMAND="mine; $PROMPT_COMMAND"`,
		"in front":  `PROMPT_COMMAND="mine;$PROMPT_COMMAND"`,
		"an array":  `PROMPT_COMMAND=(mine "${PROMPT_COMMAND[@]}")`,
		"an and":    `PROMPT_COMMAND="mine && $PROMPT_COMMAND"`,
		"and after": `PROMPT_COMMAND="mine; $PROMPT_COMMAND; true"`,
	} {
		t.Run(name, func(t *testing.T) {
			s := newSession(t, "bash")
			out, calls := s.run("mine() { ran=$ran+; true; }\n", set+"\n(exit 7)\nfalse\necho \"ran=$ran\"\n", 4)
			var got []string
			for _, c := range calls {
				got = append(got, c.Command+" "+c.Exit)
			}
			if d := cmp.Diff(got, []string{set + " 0", "(exit 7) 7", "false 1", `echo "ran=$ran" 0`}); d != "" {
				t.Errorf("got - want +\n%s", d)
			}
			if !strings.Contains(out, "ran=+++\n") {
				t.Errorf("in\n%s", out)
			}
		})
	}
}

// TestLongCommand checks a text that is longer than the limit of an argument.
func TestLongCommand(t *testing.T) {
	for _, shell := range []string{"bash", "zsh"} {
		t.Run(shell, func(t *testing.T) {
			s := newSession(t, shell)
			// It is longer than a pipe's buffer, too.
			line := ": " + strings.Repeat("0123456789abcde ", 180<<10/16) + "end"
			_, calls := s.run("", line+"\n", 1)
			if got := calls[0].Command; got != line {
				t.Errorf("%d bytes came, of %d", len(got), len(line))
			}
		})
	}
}

// TestFishStatus checks that in fish a background job and a set variable leave the previous
// command's $status, and that comments are not commands.
func TestFishStatus(t *testing.T) {
	s := newSession(t, "fish")
	script, err := Script("fish", s.recorder())
	if err != nil {
		t.Fatal(err)
	}
	run := strings.Replace(script, "if status is-interactive; and not", "if not", 1) + `
set CMD_DURATION 7
function leave; return $argv[1]; end
function typed # a line, the status that it finds, the status that it leaves
    leave $argv[2]; emit fish_preexec $argv[1]
    leave $argv[3]; emit fish_postexec $argv[1]
end
typed 'sleep 1 &' 130 130
typed 'set x y' 1 1
typed 'false again' 1 1
typed 'set x (false)' 1 1
typed '# nothing' 1 1
typed 'make &; wait' 2 2
typed 'true' 1 0
`
	cmd := exec.Command("fish", "-c", run)
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir, "XDG_DATA_HOME="+s.dir)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := s.pipe.SetReadDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for range 6 {
		rec, err := s.calls.ReadString('\035')
		if err != nil {
			t.Fatalf("%v; got %v; hook log: %s", err, got, s.log())
		}
		c := s.parse(strings.Split(strings.TrimSuffix(rec, "\036\035"), "\036"))
		got[c.Command] = c.Exit
		if _, err := os.Stat("/proc/uptime"); err == nil && c.At == "" {
			t.Errorf("%s: no start", c.Command)
		}
	}
	if d := cmp.Diff(got, map[string]string{
		"sleep 1 &": "0", "set x y": "0", "false again": "1", "set x (false)": "1", "make &; wait": "2", "true": "0",
	}); d != "" {
		t.Errorf("got - want +\n%s", d)
	}
}
