package script

import (
	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/shell"
)

// keeps reports whether what a shell was left like can be kept for the next one.
func keeps(name string) bool { return name == "zsh" || name == "fish" }

// sessionOf returns what the steps have in common that share a shell.
func sessionOf(s *replay.Step) string { return s.Shell + " " + s.Session }

// keepSessions writes functions that run a step in zsh or fish with what the steps of its session before it left of
// variables and functions, if a step changes its shell.
func (w *writer) keepSessions() {
	w.sessions = map[string]int{}
	has := map[string]bool{}
	for i := range w.p.Steps {
		s := &w.p.Steps[i]
		if name := sessionOf(s); keeps(s.Shell) && len(s.Sets) > 0 && w.sessions[name] == 0 {
			w.sessions[name] = len(w.sessions) + 1
			has[s.Shell] = true
		}
	}
	if len(has) > 0 {
		w.printf("\n# What sessions of other shells were left like is kept here.\nrecount_sessions=$(mktemp -d)\ntrap 'rm -rf \"$recount_sessions\"' EXIT\n")
	}
	for _, in := range [][2]string{
		{"zsh", "__recount_command=$command zsh -c " + quote(shell.ZshSession+shell.EvaluateZsh) + " zsh"},
		{"fish", "fish -c " + quote(shell.FishSession) + `"$command"` + quote(shell.FishEnd)},
	} {
		if has[in[0]] {
			w.printf("in_%s() {\n  local command; command=$(cat)\n  # shellcheck disable=SC2016\n  %s \"$recount_sessions/$1\" keep </dev/null\n}\n", in[0], in[1])
		}
	}
}
