package script

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
)

func (w *writer) bash() {
	w.printf("#!/usr/bin/env bash\n# %s\n# Plan %s\n%s%s%sset -e\n", w.title(), w.p.ID, w.missing(), w.expects(), w.directive())
	aliases, jobs, danger := false, false, false
	for i := range w.p.Steps {
		s := &w.p.Steps[i]
		jobs = jobs || s.Background
		danger = danger || len(confirms(s)) > 0 && manual(s) == ""
		for _, name := range s.Sets {
			aliases = aliases || strings.HasPrefix(name, "alias ") && !ownShell(s)
		}
	}
	if aliases {
		w.printf("shopt -s expand_aliases\n")
	}
	main, shared := w.main()
	if shared {
		w.printf(`
# apart runs a step of another shell session, which had nothing of what is set here.
recount_env=()
while IFS= read -r -d '' recount_variable; do recount_env+=("$recount_variable"); done < <(env -0)
apart() { env -i "${recount_env[@]}" bash -ec "$(cat)" </dev/null; }
`)
	}
	w.keepSessions()
	if jobs {
		w.printf("set -m # jobs have numbers, as at a prompt\n")
	}
	for _, name := range w.secrets(w.p.Steps...) {
		w.printf(": \"${%s:?give it: it was redacted when it was recorded}\"\nexport %s\n", name, name)
	}
	if checks := w.checks(); len(checks) > 0 {
		w.printf("\n%s\n", strings.Join(checks, "\n"))
	}
	if danger {
		w.printf(`
# confirm asks for a yes. RECOUNT_YES=1 in the environment gives it to all.
confirm() {
  [ "${RECOUNT_YES:-}" = 1 ] && return
  if ! { : </dev/tty; } 2>/dev/null; then
    echo "$1: nobody can be asked; RECOUNT_YES=1 in the environment gives a yes to all" >&2
    exit 1
  fi
  read -r -p "$1 - go on? [yes/no] " answer </dev/tty
  [ "$answer" = yes ]
}
`)
	}
	cwd, entered := "", map[string]bool{}
	var env map[string]string
	for i := range w.p.Steps {
		s := &w.p.Steps[i]
		w.printf("\n")
		for _, line := range w.about(s) {
			w.printf("# %s\n", line)
		}
		if manual(s) != "" {
			w.printf("%s\n", comment(s.Command, "#   "))
			continue
		}
		for _, text := range confirms(s) {
			w.printf("confirm %s\n", quote(text))
		}
		if shared && s.Session != main && w.sessions[sessionOf(s)] == 0 {
			own := *s
			own.Danger = nil // confirmed above
			own.Asks = slices.DeleteFunc(slices.Clone(s.Asks), func(a replay.Ask) bool { return a.Kind == replay.AskSyntax })
			text := strings.Join(w.lines(&own), "\n")
			end := delimiter(text)
			w.printf("apart <<'%s'\n%s\n%s\n", end, text, end)
			continue
		}
		if s.Cwd != "" && s.Cwd != cwd {
			enter := w.enter(s)
			if entered[s.Cwd] {
				enter = enter[len(enter)-1:]
			}
			w.printf("%s\n", strings.Join(enter, "\n"))
			cwd, entered[s.Cwd] = s.Cwd, true
		}
		if !maps.Equal(env, s.Env) {
			for _, name := range sortedEnv(s.Env) {
				if env[name] != s.Env[name] {
					w.printf("export %s=%s\n", name, quote(s.Env[name]))
				}
			}
			env = s.Env
		}
		w.printf("%s\n", expecting(s, w.inShell(s)))
		if moves.MatchString(s.Command) {
			cwd = "" // the script's shell may be anywhere
		}
	}
}

// moves matches commands that may change the directory of their shell.
var moves = regexp.MustCompile(`\b(cd|pushd|popd)\b`)

// main returns the session whose steps run in the script's own shell, the first one in which a step
// changes its shell, and whether there are steps of other sessions, which must not see that.
func (w *writer) main() (session string, shared bool) {
	i := slices.IndexFunc(w.p.Steps, func(s replay.Step) bool { return len(s.Sets) > 0 && !ownShell(&s) })
	if i < 0 {
		return "", false
	}
	session = w.p.Steps[i].Session
	return session, slices.ContainsFunc(w.p.Steps, func(s replay.Step) bool { return s.Session != session })
}

// delimiter returns a word that ends a here-document and does not occur in a text.
func delimiter(text string) string {
	end := "RECOUNT"
	for strings.Contains(text, end) {
		end += "_"
	}
	return end
}

// makefile writes a target for each step. Each has a shell of its own, so what it needs of the
// shell is set again. The shell gets its text in a variable of the environment, because make takes tabs,
// @, - and + away from the beginnings of a recipe's lines; the step itself does not see it.
func (w *writer) makefile() {
	w.printf("# %s\n# Plan %s\n%s%s.DEFAULT_GOAL := all\n", w.title(), w.p.ID, w.missing(), w.expects())
	checks := w.checks()
	var names []string
	for i := range w.p.Steps {
		names = append(names, target(i))
	}
	w.printf(".PHONY: all %s\n\nall: %s\n", strings.Join(names, " "), strings.Join(names, " "))
	if len(checks) > 0 {
		w.printf("\n.PHONY: inputs\ninputs:\n\t@%s\n", strings.Join(dollarsOf(checks), "\n\t@"))
	}
	for i := range w.p.Steps {
		s := &w.p.Steps[i]
		w.printf("\n")
		for _, line := range w.about(s) {
			w.printf("# %s\n", line)
		}
		var on []string
		if len(checks) > 0 {
			on = append(on, "inputs")
		}
		for _, n := range s.Needs {
			if t := target(n.On); !slices.Contains(on, t) {
				on = append(on, t)
			}
		}
		w.printf("%s:%s\n", target(i), prefixed(on))
		if why := manual(s); why != "" {
			w.printf("\t@echo %s\n", dollars(quote("by hand: "+oneLine(s.Command)+" ("+oneLine(why)+")")))
			continue
		}
		w.printf("\t@env -u step bash -ec \"$$step\"\n%s: export step = $(step_%d)\ndefine step_%d\n%s\nendef\n", target(i), i+1, i+1, makeValue(strings.Join(w.lines(s), "\n")))
	}
}

func target(i int) string { return fmt.Sprintf("step-%d", i+1) }

func prefixed(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return " " + strings.Join(names, " ")
}

// dollars doubles the dollars for make.
func dollars(s string) string { return strings.ReplaceAll(s, "$", "$$") }

// makeValue writes a text as the value of a define: dollars are doubled, and $(), which stands for
// nothing, keeps a backslash from joining lines and a line from ending the value.
func makeValue(s string) string {
	lines := strings.Split(dollars(s), "\n")
	for i, line := range lines {
		if first := strings.TrimSpace(line); strings.HasPrefix(first, "endef") || strings.HasPrefix(first, "define") {
			line = "$()" + line
		}
		if strings.HasSuffix(line, `\`) {
			line += "$()"
		}
		lines[i] = line
	}
	return strings.Join(lines, "\n")
}

// namesAlias matches what may set an alias, which a shell without a terminal takes only if it is told to.
var namesAlias = regexp.MustCompile(`\balias\b`)

// lines returns what a step runs in a shell of its own.
func (w *writer) lines(s *replay.Step) (out []string) {
	if s.Cwd != "" {
		out = append(out, w.enter(s)...)
	}
	for _, name := range sortedEnv(s.Env) {
		out = append(out, "export "+name+"="+quote(s.Env[name]))
	}
	for _, name := range w.secrets(*s) {
		out = append(out, fmt.Sprintf(": \"${%s:?give it: it was redacted when it was recorded}\"", name))
	}
	if !ownShell(s) {
		told := w.prelude(s)
		if slices.ContainsFunc(told, func(text string) bool { return namesAlias.MatchString(text) }) {
			out = append(out, "shopt -s expand_aliases")
		}
		out = append(out, told...)
	}
	if texts := confirms(s); len(texts) > 0 {
		out = append(out, fmt.Sprintf("[ \"${RECOUNT_YES:-}\" = 1 ] || { echo %s >&2; exit 1; }", quote("set RECOUNT_YES=1 to allow: "+texts[0])))
	}
	return append(out, expecting(s, w.inShell(s)))
}
