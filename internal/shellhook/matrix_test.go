package shellhook

import (
	"strings"
	"testing"
)

var typed = []string{"bash", "zsh", "fish"}

// forEach runs a test with a terminal for each shell.
func forEach(t *testing.T, shells []string, test func(t *testing.T, shell string)) {
	t.Helper()
	for _, shell := range shells {
		t.Run(shell, func(t *testing.T) {
			t.Parallel()
			test(t, shell)
		})
	}
}

// TestExitCodes types commands that end in different ways.
func TestExitCodes(t *testing.T) {
	forEach(t, typed, func(t *testing.T, shell string) {
		term := newSession(t, shell).open("", "")
		term.runs("true", "0")
		term.runs("false", "1")
		term.runs("sh -c 'exit 42'", "42")
		term.runs("no-such-program", "127")
		term.runs("sh -c 'kill -KILL $$'", "137")
		if shell == "fish" {
			term.runs("false | true", "0")
			term.runs("not true", "1")
			term.runs("begin; false; end", "1")
			return
		}
		term.runs("(exit 3)", "3")
		term.runs("(exit 4) | true", "0")
		term.runs("set -o pipefail", "0")
		term.runs("(exit 4) | true", "4")
		term.runs("! true", "1")
		term.runs("x=$(exit 5)", "5")
		term.runs("{ false; }", "1")
	})
}

// TestKeys presses ctrl-C and ctrl-Z.
func TestKeys(t *testing.T) {
	forEach(t, typed, func(t *testing.T, shell string) {
		term := newSession(t, shell).open("", "")
		const wait = "./" + waits
		begin := func() {
			t.Helper()
			term.types(wait + "\r")
			term.sees("begun") // it runs, and has the terminal
		}
		ended := func(want string) {
			t.Helper()
			term.sees(ready)
			if got := term.told(); got.Command != wait || got.Exit != want {
				t.Errorf("recorded %q with exit code %s, want %s", got.Command, got.Exit, want)
			}
		}
		begin()
		term.types("\x03")
		ended("130")
		// A job in the background leaves what ctrl-C left.
		term.runs("sleep 0 &", "0")
		term.runs("false", "1")
		term.runs("wait", "0") // that job is over, so that the next one has its number
		begin()
		term.types("\x1a")
		ended("148")
		term.runs("kill -9 %1", "0")
		term.runs("true", "0")
	})
}

// TestLines types commands of several lines.
func TestLines(t *testing.T) {
	forEach(t, typed, func(t *testing.T, shell string) {
		term := newSession(t, shell).open(map[string]string{"bash": "shopt -s lithist"}[shell], "")
		lines := []string{"echo 'a\nb'"}
		if shell == "fish" {
			lines = append(lines, "for x in 1 2\necho $x\nend")
		} else {
			lines = append(lines, "for x in 1 2; do\necho $x\ndone", "cat <<END\nx $HOME\nEND")
		}
		if shell != "bash" { // bash itself joins these
			lines = append(lines, "echo a \\\nb")
		}
		for _, l := range lines {
			if shell == "fish" { // it reads them all at once
				term.enters(strings.ReplaceAll(l, "\n", "\r"))
			} else {
				term.enters(strings.Split(l, "\n")...)
			}
			got := term.told()
			if shell == "fish" { // it indents what it continues
				got.Command = strings.ReplaceAll(got.Command, "\n    ", "\n")
			}
			if got.Command != l || got.Exit != "0" {
				t.Errorf("%q: recorded %q with exit code %s", l, got.Command, got.Exit)
			}
		}
	})
}

// TestKeptOut types what is not to be recorded.
func TestKeptOut(t *testing.T) {
	forEach(t, typed, func(t *testing.T, shell string) {
		term := newSession(t, shell).open(map[string]string{"bash": "HISTCONTROL=ignorespace"}[shell], "")
		term.runs("ls -d /usr", "0")
		term.enters(" ls", " ls -d /usr", " false", "", "   ")
		if shell == "fish" {
			term.enters("# nothing")
		}
		term.runs("ls -d /usr", "0")
	})
}

// TestStrict sets the options that end a shell, or a command, at the first mistake: the hook makes
// none.
func TestStrict(t *testing.T) {
	forEach(t, []string{"bash", "zsh"}, func(t *testing.T, shell string) {
		for _, at := range []string{"before", "after"} {
			set := "set -euo pipefail"
			before, after := set, ""
			if at == "after" {
				before, after = "", set
			}
			term := newSession(t, shell).open(before, after)
			term.runs("true", "0")
			term.runs("true | true", "0")
			term.runs("! true", "1")
			term.runs("cd /usr", "0")
			term.runs("if false; then :; fi", "0")
			term.runs("false || true", "0")
			term.runs("echo $((1 + 1))", "0")
			term.enters("")
			term.runs("sleep 0 &", "0")
			term.runs("wait", "0")
		}
	})
}

// TestModes sets options that change how a shell reads scripts.
func TestModes(t *testing.T) {
	for shell, modes := range map[string][]string{
		"bash": {"set -o posix", "set -k", "set -a", "set -T; shopt -s extdebug", "IFS=:", "shopt -s failglob"},
		"zsh":  {"setopt ksharrays shwordsplit", "setopt allexport", "setopt nullglob globsubst", "setopt posixbuiltins"},
	} {
		for _, mode := range modes {
			t.Run(shell+", "+mode, func(t *testing.T) {
				t.Parallel()
				term := newSession(t, shell).open("", mode)
				term.runs("true", "0")
				term.runs("(exit 3)", "3")
				term.runs("x=7", "0")
				term.types("echo \"<$x>\"\r")
				term.sees("<7>") // it runs at all
				term.sees(ready)
				term.told()
			})
		}
	}
}

// TestBashWithoutClock checks that commands run after EPOCHREALTIME was unset.
func TestBashWithoutClock(t *testing.T) {
	t.Parallel()
	term := newSession(t, "bash").open("", "unset EPOCHREALTIME")
	term.types("echo \"<$((6 + 1))>\"\r")
	term.sees("<7>")
	term.sees(ready)
}

// TestLogCannotBeWritten checks that a command is recorded, and nothing is said at the prompt.
func TestLogCannotBeWritten(t *testing.T) {
	forEach(t, []string{"bash", "zsh", "fish", "xonsh", "nu"}, func(t *testing.T, shell string) {
		const log = "/dev/null/log"
		before, ok := map[string]string{"fish": "set -gx RECOUNT_HOOK_LOG ", "xonsh": "$RECOUNT_HOOK_LOG = '" + log + "' # ", "nu": "$env.RECOUNT_HOOK_LOG = '" + log + "' # "}[shell]
		if !ok {
			before = "export RECOUNT_HOOK_LOG="
		}
		term := newSession(t, shell).open(before+log, "")
		term.runs("echo one", "0")
		term.runs("echo two", "0")
		term.mu.Lock()
		defer term.mu.Unlock()
		if strings.Contains(term.output, log) {
			t.Errorf("the terminal: %q", term.output)
		}
	})
}

// TestOtherHooks loads the hook beside others that are called at each prompt and before each
// command, as starship and bash-preexec are.
func TestOtherHooks(t *testing.T) {
	for _, c := range []struct{ name, shell, before, after string }{
		{"PROMPT_COMMAND before", "bash", "PROMPT_COMMAND='saw=$?; true'", ""},
		{"PROMPT_COMMAND after", "bash", "", "PROMPT_COMMAND=\"saw=\\$?; true;$PROMPT_COMMAND\""},
		{"PROMPT_COMMAND after, an array", "bash", "", "PROMPT_COMMAND+=('saw=$?; true')"},
		{"PROMPT_COMMAND after, instead", "bash", "", "PROMPT_COMMAND='saw=$?; true'"},
		// starship keeps the other command and calls it with the exit code.
		{"wrapped", "bash", "", `back() { return $1; }; other=$PROMPT_COMMAND
precmd() { saw=$?; eval "back $saw; $other"; true; }
PROMPT_COMMAND=precmd`},
		{"a DEBUG trap before", "bash", "trap 'seen=$BASH_COMMAND' DEBUG", ""},
		{"a DEBUG trap after", "bash", "", "trap 'seen=$BASH_COMMAND' DEBUG"},
		// bash-preexec replaces the trap at the first prompt, from a PROMPT_COMMAND.
		{"preexec", "bash", `install() { trap - DEBUG; trap 'seen=$BASH_COMMAND' DEBUG; PROMPT_COMMAND="precmd
${PROMPT_COMMAND/install/:}"; }
precmd() { saw=$?; return $saw; }; PROMPT_COMMAND=$'install\n'"${PROMPT_COMMAND:-}"`, ""},
		{"precmd before", "zsh", "precmd() { saw=$?; true }", ""},
		{"precmd after", "zsh", "", "precmd() { saw=$?; true }"},
		{"precmd_functions before", "zsh", "mine() { saw=$?; true }; precmd_functions=(mine)", ""},
		{"precmd_functions after, first", "zsh", "", "mine() { saw=$?; true }; precmd_functions=(mine $precmd_functions)"},
		{"preexec_functions", "zsh", "", "mine() { seen=$1; false }; preexec_functions=(mine $preexec_functions)"},
		{"fish_prompt", "fish", "", "function fish_prompt; set -g saw $status; true; echo -n '> '; end"},
		{"fish_postexec before", "fish", "function mine --on-event fish_postexec; true; end", ""},
		{"fish_postexec after", "fish", "", "function mine --on-event fish_postexec; true; end"},
	} {
		t.Run(c.shell+", "+c.name, func(t *testing.T) {
			t.Parallel()
			term := newSession(t, c.shell).open(c.before, c.after)
			term.runs("true", "0")
			term.runs("false", "1")
			term.runs("sh -c 'exit 7'", "7")
			term.runs("sh -c 'exit 7'", "7")
			term.runs("true", "0")
			if strings.Contains(c.before+c.after, "saw") {
				term.runs("sh -c 'exit 9'", "9")
				term.types("echo \"<$saw>\"\r")
				term.sees("<9>")
				term.sees(ready)
				term.told() // before its directory is removed
			}
		})
	}
}
