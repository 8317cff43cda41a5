// Package script writes plans as runbooks that stand alone: a bash script, a Makefile, a workflow of
// GitHub Actions, a Dockerfile, or Markdown for people.
//
// All kinds say for each step where it was recorded (the position in the log) and what it needs.
// A dangerous step waits for a yes where somebody can give it. A value that was redacted is taken
// from an environment variable or a secret, and checked for first. A step that needs a terminal, or
// of which nothing is known, is written as a comment, with the reason; what a shell other than bash knows by itself waits for
// a yes.
package script

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/recountdb/recount/replay"
	"github.com/recountdb/recount/replay/shell"
)

// Kinds are the kinds of scripts.
var Kinds = []string{"bash", "make", "github-actions", "dockerfile", "markdown"}

// Write returns a plan as a script of a kind.
func Write(p replay.Plan, kind string) (string, error) {
	w := &writer{p: p}
	switch kind {
	case "bash":
		w.bash()
	case "make":
		w.makefile()
	case "github-actions":
		w.actions()
	case "dockerfile":
		w.dockerfile()
	case "markdown":
		w.markdown()
	default:
		return "", fmt.Errorf("%q is no kind of script: want %s", kind, strings.Join(Kinds, ", "))
	}
	return w.b.String(), nil
}

type writer struct {
	p replay.Plan
	b strings.Builder
	// sessions are the sessions of zsh and fish whose steps change their shell, by numbers from 1, in a script that keeps
	// what they left.
	sessions map[string]int
}

func (w *writer) printf(format string, args ...any) { fmt.Fprintf(&w.b, format, args...) }

// title is a line about the plan.
func (w *writer) title() string {
	return fmt.Sprintf("Replays %s: %s", w.p.Goal.Kind, oneLine(w.p.Goal.What))
}

// missing returns comments about events that are not there any more.
func (w *writer) missing() string {
	var b strings.Builder
	for _, m := range w.p.Missing {
		fmt.Fprintf(&b, "# Missing: %s: %s\n", oneLine(m.Ref), oneLine(m.Text))
	}
	return b.String()
}

// about returns the comment of a step: where it was recorded, and what it needs.
func (w *writer) about(s *replay.Step) []string {
	lines := []string{fmt.Sprintf("Step %d, recorded at %s", s.Index+1, s.Position)}
	var on []string
	for _, n := range s.Needs {
		if n.Kind == replay.NeedOrder {
			continue
		}
		text := fmt.Sprintf("%d (%s)", n.On+1, oneLine(n.What))
		if !slices.Contains(on, text) && len(on) < 6 {
			on = append(on, text)
		}
	}
	if len(on) > 0 {
		lines = append(lines, "needs "+strings.Join(on, ", "))
	}
	for _, d := range s.Danger {
		lines = append(lines, "DANGER: "+oneLine(d.Why))
	}
	for _, a := range s.Asks {
		lines = append(lines, oneLine(a.Text))
	}
	return lines
}

// manual says why a step cannot be run by a script, "" if it can.
func manual(s *replay.Step) string {
	for _, a := range s.Asks {
		switch {
		case a.Kind == replay.AskTerminal, a.Kind == replay.AskSyntax && !ownShell(s), a.Kind == replay.AskRedacted && a.Name == "":
			return a.Text
		}
	}
	return ""
}

// confirms returns what a step waits for a yes about.
func confirms(s *replay.Step) (texts []string) {
	for _, d := range s.Danger {
		texts = append(texts, d.Why+": "+oneLine(d.What))
	}
	for _, a := range s.Asks {
		if a.Kind == replay.AskSyntax {
			texts = append(texts, a.Text+": "+oneLine(s.Command))
		}
	}
	return texts
}

// unwritten says of a change of a file that its text is not known, so that nothing can be run in its place.
func unwritten(s *replay.Step) string {
	for _, a := range s.Asks {
		if a.Kind == replay.AskUnwritten {
			return a.Text
		}
	}
	return ""
}

// secrets returns the variables that have to be given, in order.
func (w *writer) secrets(steps ...replay.Step) (names []string) {
	for _, s := range steps {
		for _, a := range s.Asks {
			if a.Name != "" && !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// inShell returns the command of a step for bash: as it is, or through the shell it was written for, which is told first
// what the step needs of its session.
func (w *writer) inShell(s *replay.Step) string {
	switch {
	case unwritten(s) != "":
		return "echo " + quote(fmt.Sprintf("step %d: %s", s.Index+1, unwritten(s))) + " >&2; exit 1"
	case s.OwnShell && !ownShell(s):
		return cmp.Or(s.Shell, "bash") + " -c " + quote(s.Command)
	case !ownShell(s):
		return s.Command
	case w.sessions[sessionOf(s)] > 0:
		end, text := delimiter(s.Command), cameFrom(s)+s.Command
		return fmt.Sprintf("in_%s %d <<'%s'\n%s\n%s", s.Shell, w.sessions[sessionOf(s)], end, text, end)
	case keeps(s.Shell):
		var lines []string
		for _, before := range w.preludeOf(s) {
			lines = append(lines, there(before, s, before.Command)...)
		}
		text := strings.Join(append(lines, cameFrom(s)+s.Command), "\n")
		if strings.HasSuffix(text, "}") {
			text += "\n" // see shell.EvaluateZsh
		}
		return s.Shell + " -c " + quote(text)
	}
	return s.Shell + " -c " + quote(cameFrom(s)+s.Command)
}

// cameFrom returns what tells the shell of a step in which directory it was before, if the step uses it.
func cameFrom(s *replay.Step) string {
	if from := s.Env["OLDPWD"]; from != "" {
		return shell.CameFrom(s.Shell, from)
	}
	return ""
}

// ownShell reports whether a step runs in a process of the shell it was written for.
func ownShell(s *replay.Step) bool {
	return !slices.Contains([]string{"", "bash", "sh", "dash", "ash", "ksh", "mksh"}, s.Shell)
}

// expecting returns a command that is right if it ends as it did when it was recorded. Of a line with
// several statements only the last one's end counts: the shell that it was typed into had no set -e.
func expecting(s *replay.Step, command string) string {
	if s.Exit == nil || *s.Exit == 0 {
		if l, err := shell.Read(s.Command, "bash", ""); err == nil && len(l.File.Stmts) > 1 && command == s.Command {
			return "{\n" + command + "\n} || exit"
		}
		return command
	}
	return "{\n" + command + "\n} || [ $? -eq " + fmt.Sprint(*s.Exit) + " ]"
}

// preludeOf returns the steps that set the variables and functions that a step needs of its session, for
// scripts whose steps have shells of their own.
func (w *writer) preludeOf(s *replay.Step) []*replay.Step {
	seen := map[int]bool{}
	var visit func(i int)
	visit = func(i int) {
		for _, n := range w.p.Steps[i].Needs {
			if n.Kind == replay.NeedEnvironment && !seen[n.On] {
				seen[n.On] = true
				visit(n.On)
			}
		}
	}
	visit(s.Index)
	var out []*replay.Step
	for i := range w.p.Steps {
		if seen[i] && manual(&w.p.Steps[i]) == "" {
			out = append(out, &w.p.Steps[i])
		}
	}
	return out
}

// prelude returns those steps as they are written for bash.
func (w *writer) prelude(s *replay.Step) (lines []string) {
	for _, before := range w.preludeOf(s) {
		lines = append(lines, there(before, s, w.inShell(before))...)
	}
	return lines
}

// there returns what runs the command of a step before in that step's directory, if it reads a file there: . ./env
func there(before, s *replay.Step, command string) []string {
	if before.Cwd != s.Cwd && slices.Contains(before.Sets, "*") {
		return []string{"cd " + quote(before.Cwd), command, "cd " + quote(s.Cwd)}
	}
	return []string{command}
}

// quote quotes a text for a shell.
func quote(s string) string {
	plain := s != "" && s[0] != '~'
	for i := 0; i < len(s) && plain; i++ {
		c := s[i]
		plain = c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("/._-+@%,:=", c) >= 0
	}
	if plain {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func oneLine(s string) string {
	s = visible(strings.Join(strings.Fields(s), " "))
	if r := []rune(s); len(r) > 120 {
		return string(r[:119]) + "…"
	}
	return s
}

// comment returns a text as comment lines, each with what begins it. Characters that a reader could take
// for the end of the line are escaped.
func comment(s, with string) string { return indent(visible(s), with) }

// visible escapes what is neither shown nor a tab or a new line, such as \r, U+0085 and the colours of a terminal.
func visible(s string) string {
	var b strings.Builder
	for _, r := range s {
		if held(r) {
			b.WriteRune(r)
		} else {
			b.WriteString(strings.Trim(strconv.QuoteRune(r), "'"))
		}
	}
	return b.String()
}

// held tells whether a text file of any kind can hold a character as it is.
func held(r rune) bool {
	return r == '\n' || r == '\t' || unicode.IsGraphic(r) && r != '\u2028' && r != '\u2029'
}

func indent(s, with string) string {
	lines := strings.Split(strings.TrimRight(s, "\n"), "\n")
	for i, l := range lines {
		if l != "" {
			lines[i] = with + l
		}
	}
	return strings.Join(lines, "\n")
}

func sortedEnv(env map[string]string) (names []string) {
	for name := range env {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
