package nodeview

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/render"
)

// Imports prints what each source brought in, and on standard error what was skipped.
func Imports(t *render.Terminal, done *importing.Report) {
	for _, r := range done.Imports {
		what := " appended"
		if done.DryRun {
			what = " would be appended (--dry-run)"
		}
		parts := []string{render.Thousands(r.Appended) + what}
		if r.Unit != "" {
			parts = []string{render.Count(int(r.Held), r.Unit), render.Count(int(r.Appended), "event") + what}
		}
		if r.Format != "" {
			parts = append([]string{r.Format}, parts...)
		}
		if r.Present > 0 {
			parts = append(parts, render.Thousands(r.Present)+" already there")
		}
		if r.Before > 0 {
			parts = append(parts, render.Thousands(r.Before)+" lines imported before")
		}
		if r.Redacted > 0 {
			parts = append(parts, render.Count(int(r.Redacted), "secret")+" redacted")
		}
		if r.Skipped > 0 {
			parts = append(parts, render.Thousands(r.Skipped)+" skipped")
		}
		t.Printf("%s: %s\n", t.Home(r.From), strings.Join(parts, ", "))
		if len(r.LeftOut) > 0 {
			t.Printf("  left out: %s\n", render.OneLine(leftOut(r.LeftOut)))
		}
		for _, p := range r.Problems {
			fmt.Fprintf(t.Err, "  skipped %s\n", render.OneLine(p))
		}
		if more := r.Skipped - int64(len(r.Problems)); more > 0 {
			fmt.Fprintf(t.Err, "  and %s more\n", render.Thousands(more))
		}
	}
}

// mostLeftOut limits the kinds of what was left out that are named: a file may name any number.
const mostLeftOut = 20

// leftOut describes what was left out, the most frequent first.
func leftOut(counts map[string]int) string {
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		if n := counts[y] - counts[x]; n != 0 {
			return n
		}
		return strings.Compare(x, y)
	})
	more := 0
	for _, name := range names[min(len(names), mostLeftOut):] {
		more += counts[name]
	}
	names = names[:min(len(names), mostLeftOut)]
	for i, name := range names {
		names[i] = render.Count(counts[name], name)
	}
	if more > 0 {
		names = append(names, render.Thousands(more)+" of other kinds")
	}
	return strings.Join(names, ", ")
}
