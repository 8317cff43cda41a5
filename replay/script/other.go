package script

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/recountdb/recount/replay"
)

// actions writes a workflow of GitHub Actions.
func (w *writer) actions() {
	w.printf("# %s\n# Plan %s\n%sname: replay\non: workflow_dispatch\njobs:\n  replay:\n    runs-on: ubuntu-latest\n    defaults:\n      run:\n        shell: bash\n    steps:\n", w.title(), w.p.ID, w.missing())
	for i := range w.p.Steps {
		s := &w.p.Steps[i]
		for _, line := range w.about(s) {
			w.printf("      # %s\n", line)
		}
		if manual(s) != "" {
			w.printf("%s\n", comment(s.Command, "      #   "))
			continue
		}
		w.printf("      - name: %s\n", yaml(fmt.Sprintf("%d: %s", s.Index+1, oneLine(s.Command))))
		if names := w.secrets(*s); len(names) > 0 {
			w.printf("        env:\n")
			for _, name := range names {
				w.printf("          %s: ${{ secrets.%s }}\n", name, name)
			}
		}
		w.printf("        run: %s\n", block(strings.Join(w.lines(s), "\n")))
	}
}

// block returns lines as a literal block, or quoted where a block could not hold them: a block must not
// begin with a space or an empty line, and has no way to write control characters.
func block(lines string) string {
	if strings.HasPrefix(lines, " ") || strings.HasPrefix(lines, "\n") || strings.ContainsFunc(lines, func(r rune) bool { return !held(r) }) {
		return yaml(lines)
	}
	return "|\n" + indent(expressions(lines), "          ")
}

// expressions keeps ${{ from being read as an expression.
func expressions(s string) string { return strings.ReplaceAll(s, "${{", "${{ '${{' }}") }

// yaml quotes a text; YAML reads JSON's strings, and has one more escape for what JSON leaves as it is.
func yaml(s string) string {
	var in, out strings.Builder
	e := json.NewEncoder(&in)
	e.SetEscapeHTML(false)       // people read && and >
	_ = e.Encode(expressions(s)) // a string always encodes
	for _, r := range strings.TrimSuffix(in.String(), "\n") {
		if held(r) {
			out.WriteRune(r)
		} else {
			fmt.Fprintf(&out, `\U%08x`, r)
		}
	}
	return out.String()
}

// dockerfile writes a file for BuildKit, which has here-documents.
func (w *writer) dockerfile() {
	w.printf("# syntax=docker/dockerfile:1\n# %s\n# Plan %s\n%s# The base has to have the programs that the steps run.\nARG BASE=debian:stable\nFROM ${BASE}\nSHELL [\"/bin/bash\", \"-ec\"]\n", w.title(), w.p.ID, w.missing())
	cwd := ""
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
		if s.Cwd != "" && s.Cwd != cwd {
			w.printf("WORKDIR %s\n", s.Cwd)
			cwd = s.Cwd
		}
		mounts := ""
		for _, name := range w.secrets(*s) {
			mounts += fmt.Sprintf(" --mount=type=secret,id=%s,env=%s", name, name)
		}
		own := *s
		own.Cwd = ""
		text := strings.Join(w.lines(&own), "\n")
		end := delimiter(text)
		w.printf("RUN%s <<'%s'\nset -e\n%s\n%s\n", mounts, end, text, end)
	}
}

// markdown writes a runbook for people.
func (w *writer) markdown() {
	w.printf("# %s\n\nPlan `%s`, %d steps.\n", w.title(), w.p.ID, len(w.p.Steps))
	for _, m := range w.p.Missing {
		w.printf("\nMissing: %s: %s\n", oneLine(m.Ref), oneLine(m.Text))
	}
	if names := w.secrets(w.p.Steps...); len(names) > 0 {
		w.printf("\nGive these first; they were redacted when they were recorded: `%s`.\n", strings.Join(names, "`, `"))
	}
	for i := range w.p.Steps {
		s := &w.p.Steps[i]
		w.printf("\n## %d. %s\n\n", s.Index+1, heading(s.Command))
		for _, why := range s.Why {
			w.printf("- %s.\n", upperFirst(why.Text))
		}
		w.printf("- Recorded at `%s`", s.Position)
		if s.Cwd != "" {
			w.printf(", to run in `%s`", s.Cwd)
		}
		w.printf(".\n")
		for _, d := range s.Danger {
			w.printf("- **Dangerous**: %s.\n", d.Why)
		}
		for _, a := range s.Asks {
			w.printf("- **Before**: %s.\n", a.Text)
		}
		fence := "```"
		for strings.Contains(s.Command, fence) {
			fence += "`"
		}
		w.printf("\n%ssh\n%s\n%s\n", fence, s.Command, fence)
		if text := afterwards(s); text != "" {
			w.printf("\nAfterwards: %s.\n", text)
		}
	}
	if len(w.p.Left) > 0 {
		w.printf("\n## Left out\n\n| command | why |\n|---|---|\n")
		for _, l := range w.p.Left {
			w.printf("| `%s` | %s |\n", cell(l.Command), cell(l.Why))
		}
	}
}

// afterwards says what is so after a step.
func afterwards(s *replay.Step) string {
	var parts []string
	for _, p := range s.Post {
		switch p.Kind {
		case replay.PostNone, replay.PostQuiet:
		case replay.PostAbsent:
			parts = append(parts, fmt.Sprintf("`%s` is gone", p.Target))
		case replay.PostFile, replay.PostDirectory:
			parts = append(parts, fmt.Sprintf("`%s` is there", p.Target))
		default:
			parts = append(parts, fmt.Sprintf("%s `%s` is there", p.Kind, p.Target))
		}
	}
	return strings.Join(parts, ", ")
}

func heading(s string) string {
	return strings.NewReplacer("#", `\#`, "`", "'", "<", `\<`, "*", `\*`, "_", `\_`).Replace(oneLine(s))
}

func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "`", "'").Replace(oneLine(s))
}

func upperFirst(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}
