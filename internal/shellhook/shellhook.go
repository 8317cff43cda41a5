// Package shellhook contains the scripts with which shells report commands to Recount. `recount
// hook SHELL` prints one; the shell's startup file evaluates it.
//
// A script has these properties:
//
//   - It does not delay the prompt. On Linux, in zsh and in bash 5 and later, one recorder
//     listens to the shell (recording.Listen), and a command costs a few writes of the
//     shell itself into a pipe, without a fork. If there is no recorder, if its pipe is
//     full because it was stopped, or for a line that HISTCONTROL keeps out of bash's
//     history, a command costs one fork of the shell (fish, nu, PowerShell and xonsh, which
//     have no fork, start /bin/sh); everything else happens in a process that nothing waits
//     for.
//   - At each prompt it checks whether its recorder is alive, by the pipe on the
//     recorder's standard input, and starts another one if it is not.
//   - No program inherits the pipe.
//   - It preserves existing settings: PROMPT_COMMAND, the DEBUG trap and PS0 in bash, the
//     hook arrays in zsh, the events in fish and xonsh, the hooks in nu, the prompt in
//     PowerShell, and the values of $?, $_ and $!. Evaluating it twice has the effect of
//     once.
//   - A command is recorded as typed, with its newlines, the directory it started in, its
//     exit code, its start, and its duration in microseconds (fish: milliseconds, and the
//     start to the hundredth of a second, only on Linux).
//   - A command that starts with a space is not recorded, nor one that bash keeps out of its
//     history (HISTCONTROL, HISTIGNORE), nor one that matches a pattern of RECOUNT_IGNORE,
//     which has the form of HISTIGNORE.
//   - The text is passed to the recorder by a pipe and does not appear in a list of
//     processes. The recorder waits for nothing, whether there is a server or not. Errors
//     are written to the file named by RECOUNT_HOOK_LOG, by default recount-hook.log in
//     the state directory, or dropped if that can't be written.
//
// In bash the text comes from the history, since only there bash has all of it. A repetition that
// HISTCONTROL=ignoreboth keeps out of the history is recognised by comparing the first two commands
// seen by the DEBUG trap with the history's last line; a repeated subshell in parentheses, for
// which bash runs no trap, is not recognised.
//
// The tests run the scripts in the shells that are installed. The one for PowerShell has not been run.
package shellhook

import (
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
)

//go:embed hook.bash
var bash string

//go:embed hook.zsh
var zsh string

//go:embed hook.fish
var fish string

//go:embed hook.nu
var nu string

//go:embed hook.ps1
var pwsh string

//go:embed hook.xsh
var xonsh string

var scripts = map[string]string{"bash": bash, "zsh": zsh, "fish": fish, "nu": nu, "pwsh": pwsh, "xonsh": xonsh}

// Shells returns the shells that have a script, in order.
func Shells() []string { return slices.Sorted(maps.Keys(scripts)) }

// Recorder is the program that records.
type Recorder struct {
	// Command is the command line that a hook runs for each command, in words. Flags with the known
	// properties are added, and the text is on the standard input.
	Command []string
	// Listens means that with --listen it records what a shell writes into a pipe
	// (recording.Listen). If that fails, a hook runs Command for each command instead.
	Listens bool
}

// Script returns the shell's script.
func Script(shell string, r Recorder) (string, error) {
	s, ok := scripts[shell]
	if !ok {
		return "", fmt.Errorf("shell %q: hooks exist for %s", shell, strings.Join(Shells(), ", "))
	}
	words := make([]string, len(r.Command))
	for i, w := range r.Command {
		words[i] = quote(shell, w)
	}
	listen := ""
	if r.Listens {
		listen = "1"
	}
	between := " "
	if shell == "pwsh" || shell == "xonsh" {
		between = ", "
	}
	return strings.NewReplacer("@RECORD@", strings.Join(words, between), "@LISTEN@", listen).Replace(s), nil
}

// quote quotes s as one word of the shell.
func quote(shell, s string) string {
	escaped := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	switch shell {
	case "fish", "xonsh":
		return "'" + escaped.Replace(s) + "'"
	case "nu":
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	case "pwsh":
		return "'" + strings.ReplaceAll(s, "'", "''") + "'"
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
