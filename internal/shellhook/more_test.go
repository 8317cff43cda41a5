package shellhook

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestXonsh types into xonsh, which knows an exit code of Python too.
func TestXonsh(t *testing.T) {
	t.Parallel()
	term := newSession(t, "xonsh").open("", "")
	term.runs("true", "0")
	term.runs("false", "1")
	term.runs("sh -c 'exit 7'", "7")
	term.runs("1/0", "1")
	term.runs("x = 5", "0")
	term.runs("sh -c 'kill -KILL $$'", "137")
	term.runs("ls -d /usr | cat", "0")
	term.enters(" echo hidden", "")
	term.types("./" + waits + "\r")
	term.sees("begun")
	term.types("\x03")
	term.sees(ready)
	if got := term.told(); got.Command != "./"+waits || got.Exit != "130" {
		t.Errorf("ctrl-C: recorded %+v", got)
	}
	term.types("./" + waits + "\r")
	term.sees("begun")
	term.suspends()
	if got := term.told(); got.Command != "./"+waits || got.Exit != "148" {
		t.Errorf("ctrl-Z: recorded %+v", got)
	}
	term.runs("y = 6", "0")
	checkCwd(t, term)
}

// TestXonshReadline types into xonsh with its other way of reading lines, by which a command has lost the spaces
// before it when it is read.
func TestXonshReadline(t *testing.T) {
	t.Parallel()
	term := newSession(t, "xonsh").open("$SHELL_TYPE = 'readline'", "")
	term.runs("true", "0")
	term.enters(" echo hidden", "")
	term.runs("false", "1")
	term.runs("x = 5", "0")
}

// TestNu types into nu.
func TestNu(t *testing.T) {
	t.Parallel()
	s := newSession(t, "nu")
	term := s.open("", "")
	term.runs("echo a | str length", "0")
	term.runs("ls no-such-file", "1")
	term.runs("^sh -c 'exit 7'", "7")
	term.types("print $\"<($env.LAST_EXIT_CODE)>\"\r")
	term.sees("<7>")
	term.sees(ready)
	if got := term.told(); got.Exit != "0" {
		t.Errorf("recorded %+v", got)
	}
	term.runs("^sh -c 'kill -KILL $$'", "137")
	term.runs("let x = 5", "0")
	term.runs("echo \"it's\\\"\"", "0")
	term.enters(" echo hidden", "", "# nothing")
	term.types("./" + waits + "\r")
	term.sees("begun")
	term.types("\x03")
	term.sees(ready)
	if got := term.told(); got.Command != "./"+waits || got.Exit != "130" {
		t.Errorf("ctrl-C: recorded %+v", got)
	}
	checkCwd(t, term)
}

// checkCwd checks the directory that a command starts in, and its other properties.
func checkCwd(t *testing.T, term *terminal) {
	t.Helper()
	term.enters("cd /usr")
	first := term.told()
	term.enters("cd /")
	second := term.told()
	check(t, []told{first, second}, []told{{Command: "cd /usr", Cwd: term.dir, Exit: "0"}, {Command: "cd /", Cwd: "/usr", Exit: "0"}})
	if first.At == "" || first.At >= second.At {
		t.Errorf("started at %q and %q", first.At, second.At)
	}
}

// TestQuote checks a program's path with each character that a shell could read as its own.
func TestQuote(t *testing.T) {
	got := map[string]string{}
	for _, shell := range Shells() {
		got[shell] = quote(shell, `a 'b' "c" \d $e`)
	}
	if d := cmp.Diff(got, map[string]string{
		"bash":  `'a '\''b'\'' "c" \d $e'`,
		"zsh":   `'a '\''b'\'' "c" \d $e'`,
		"fish":  `'a \'b\' "c" \\d $e'`,
		"xonsh": `'a \'b\' "c" \\d $e'`,
		"nu":    `"a 'b' \"c\" \\d $e"`,
		"pwsh":  `'a ''b'' "c" \d $e'`,
	}); d != "" {
		t.Errorf("got - want +\n%s", d)
	}
}

// TestOrigin checks that each script says where to put it.
func TestOrigin(t *testing.T) {
	for _, shell := range Shells() {
		s, err := Script(shell, Recorder{Command: []string{"recount-record"}})
		first, _, _ := strings.Cut(s, "\n")
		if err != nil || !strings.Contains(first, "recount hook "+shell) {
			t.Errorf("%s: %q, %v", shell, first, err)
		}
	}
}
