package run

import (
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
)

// readsStartup finds lines that read a file which sets up the shells of people: . ~/.bashrc. Many such files end at
// once in a shell that is not interactive.
var readsStartup = regexp.MustCompile(`(?:^|[\s;&|({])(?:\.|source)\s+["']?[^\s;&|"']*(?:rc|profile|login)["']?(?:$|[\s;&|)}])`)

// asTyped returns the arguments of a shell so that it is interactive, as the one was into which its command was typed:
// $- has i, and PS1 is set. It has no terminal, and what it says about that is not shown.
func asTyped(args []string) []string {
	first, own := `--norc --noprofile`, "set +o history +o histexpand\n"
	if args[0] == "zsh" {
		first, own = "-f", "unsetopt zle banghist\n"
	}
	script := "exec 2>&9 9>&-\n__recount_record=off\n" + own + args[2] // no hook records a replay
	return append([]string{args[0], "-c", `exec "$0" ` + first + ` -i -c "$@" 9>&2 2>/dev/null`, args[0], script}, args[3:]...)
}

// plainName matches the names of functions and aliases.
var plainName = regexp.MustCompile(`^[\w.:+-]+$`)

// declaredAtStart returns the names in a step of which nothing is known but that its shell found them: they may be
// functions and aliases of a file that each interactive shell reads.
func declaredAtStart(s *replay.Step) []string {
	if s.Exit != nil && *s.Exit == 127 {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(s.Unknown), func(name string) bool { return !plainName.MatchString(name) || name[0] == '-' })
}

// withStartup is a script that asks an interactive shell for its functions and aliases if one of some names is
// neither a program nor declared. What the session itself has declared stays.
func withStartup(shell string, names []string) string {
	list, before, after := "alias -p", "", "shopt -s expand_aliases"
	if shell == "zsh" { // where no function is defined by the name of an alias
		list, before, after = "alias -L", "unsetopt aliases", "setopt aliases"
	}
	return strings.NewReplacer("NAMES", strings.Join(names, " "), "SHELL", shell, "LIST", list, "BEFORE", before, "AFTER", after).Replace(`BEFORE
for __recount_n in NAMES; do
  if type "$__recount_n" >/dev/null 2>&1; then continue; fi
  eval "$(__recount_record=off SHELL -i -c '{ typeset -f; LIST; } >&9' 9>&1 >/dev/null 2>&1 </dev/null)" 2>/dev/null
  if [ -f "${__recount_state-}" ]; then . "$__recount_state" 2>/dev/null; unset -f __recount_reopen 2>/dev/null; fi
  break
done
unset __recount_n
AFTER
`)
}
