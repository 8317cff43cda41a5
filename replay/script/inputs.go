package script

import (
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/replay"
)

// expects returns comments about the files that have to be there before.
func (w *writer) expects() string {
	var b strings.Builder
	for _, in := range w.p.Inputs {
		if b.Len() == 0 {
			b.WriteString("# Expects these files, which no step makes:\n")
		}
		how := "reads it"
		if !in.Certain {
			how = "may read it"
		}
		fmt.Fprintf(&b, "#   %s (step %d %s)\n", visible(in.Path), in.Step+1, how)
	}
	return b.String()
}

// checks returns a line for each file that is certainly read, which ends a script if it is not there, and one for each
// change of a file whose text is not known: whoever writes it into the script takes that out.
func (w *writer) checks() (lines []string) {
	for i := range w.p.Steps {
		if s := &w.p.Steps[i]; unwritten(s) != "" {
			lines = append(lines, w.inShell(s))
		}
	}
	for _, in := range w.p.Inputs {
		if in.Certain && manual(&w.p.Steps[in.Step]) == "" {
			lines = append(lines, fmt.Sprintf("[ -e %s ] || { echo %s >&2; exit 1; }", said(in.Path), said(fmt.Sprintf("missing: %s, which step %d reads", in.Path, in.Step+1))))
		}
	}
	return lines
}

// said quotes a text for a shell so that shellcheck takes no $ in it for a slip.
func said(s string) string {
	if !strings.ContainsAny(s, "$`") {
		return quote(s)
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s) + `"`
}

// dollarsOf doubles the dollars of lines for make.
func dollarsOf(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, dollars(l))
	}
	return out
}

// enter returns what leads a shell into a step's directory. It makes the directory, unless that is what a step before
// does, which may be a clone or a link.
func (w *writer) enter(s *replay.Step) []string {
	cd := "cd " + quote(s.Cwd)
	if slices.ContainsFunc(s.Needs, func(n replay.Need) bool {
		return n.Kind == replay.NeedWorkingDir && manual(&w.p.Steps[n.On]) == ""
	}) {
		return []string{cd}
	}
	return []string{"mkdir -p " + quote(s.Cwd), cd}
}
