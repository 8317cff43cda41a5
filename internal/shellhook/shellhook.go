// Package shellhook holds the scripts by which shells tell Recount what was run.
// `recount hook SHELL` prints one; the shell's startup file evaluates it.
//
// What a script promises:
//
//   - It does not make the prompt wait. On Linux, in zsh and in bash 5 and later, one
//     recorder listens to the shell (recording.Listen), and a command is some writes of
//     the shell's own into a pipe, without a fork. Where there is none, where its pipe is
//     full because it was stopped, and for a line that HISTCONTROL keeps out of bash's
//     history, a command is one fork of the shell (fish, which has no fork, starts
//     /bin/sh); everything else happens in a process that nothing waits for.
//   - It looks at each prompt whether its recorder lives, by the pipe that the recorder's
//     process has as its standard input, and starts another one if not.
//   - No program inherits the pipe.
//   - It keeps what it finds: PROMPT_COMMAND, the DEBUG trap and PS0 in bash,
//     the hook arrays in zsh, the events in fish; $?, $_ and $! as they were.
//     Evaluated twice it works once.
//   - A command comes as typed, with its newlines, the directory it started in,
//     its exit code, when it started, and its duration in microseconds (fish:
//     milliseconds, and the start to the hundredth of a second, on Linux alone).
//   - A command that starts with a space is not told (bash: if HISTCONTROL or
//     HISTIGNORE keeps it out of the history), nor one that matches a pattern of
//     RECOUNT_IGNORE, which is written like HISTIGNORE.
//   - The text goes to the recorder by a pipe and is in nobody's list of processes. The
//     recorder waits for nobody, server or none. What fails is told in
//     the file that RECOUNT_HOOK_LOG names, by default recount-hook.log in the state
//     directory.
//
// In bash the text comes from the history, for only there bash has it whole. A
// repeat that HISTCONTROL=ignoreboth keeps out of the history is recognised by
// comparing the first two commands that the DEBUG trap saw with the history's last
// line; a repeated subshell in parentheses, for which bash runs no trap, is not.
package shellhook

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
)

//go:embed hook.bash
var bash string

//go:embed hook.zsh
var zsh string

//go:embed hook.fish
var fish string

var scripts = map[string]string{"bash": bash, "zsh": zsh, "fish": fish}

// Shells are the shells that have a script, in order.
func Shells() []string {
	var names []string
	for n := range scripts {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// Recorder is the program that records.
type Recorder struct {
	// Command is what a hook calls for a command, by its words: with flags that say what is
	// known of the command, and the text on the standard input.
	Command []string
	// Listens says that with --listen it records what a shell writes into a pipe
	// (recording.Listen). A hook does without where that fails.
	Listens bool
}

// Script is the shell's script.
func Script(shell string, r Recorder) (string, error) {
	s, ok := scripts[shell]
	if !ok {
		return "", fmt.Errorf("shell %q: there is a hook for %s", shell, strings.Join(Shells(), ", "))
	}
	words := make([]string, len(r.Command))
	for i, w := range r.Command {
		words[i] = quote(shell, w)
	}
	listen := ""
	if r.Listens {
		listen = "1"
	}
	return strings.NewReplacer("@RECORD@", strings.Join(words, " "), "@LISTEN@", listen).Replace(s), nil
}

// quote makes one word of s for the shell.
func quote(shell, s string) string {
	if shell == "fish" {
		return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(s) + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
