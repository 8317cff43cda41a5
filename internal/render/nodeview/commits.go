package nodeview

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/render"
)

// Commits prints the result of an import.
func Commits(t *render.Terminal, r commits.Report) {
	t.Printf("%s: %s\n", render.OneLine(r.Repository), importedText(r))
	if m := r.Missing; m.Files+m.Commits+m.Renames > 0 {
		fmt.Fprintf(t.Err, "  %s\n", render.PlainText(missingText(m)))
	}
	for _, f := range r.RedactedFiles {
		fmt.Fprintf(t.Err, "  redacted %s\n", render.PlainText(f))
	}
	if more := int(r.Redacted) - len(r.RedactedFiles); more > 0 && len(r.RedactedFiles) > 0 {
		fmt.Fprintf(t.Err, "  redacted %d more, in messages of commits or in other files\n", more)
	}
	for _, p := range r.Problems {
		fmt.Fprintf(t.Err, "  %s\n", render.OneLine(p))
	}
}

// missingText describes what a clone lacks and how to get it.
func missingText(m commits.Missing) string {
	var parts []string
	if m.Files > 0 {
		parts = append(parts, render.Count(int(m.Files), "file's content", "files' contents"))
	}
	if m.Commits > 0 {
		parts = append(parts, "the trees of "+render.Count(int(m.Commits), "commit"))
	}
	if m.Renames > 0 {
		parts = append(parts, "what tells the renames of "+render.Count(int(m.Renames), "commit"))
	}
	return fmt.Sprintf("this clone lacks %s (%s, …): the rest is recorded; git fetch --refetch --no-filter completes a clone, and --repo with another name imports it again",
		strings.Join(parts, ", "), strings.Join(m.First, ", "))
}

func importedText(r commits.Report) string {
	n := r.Commits.Full + r.Commits.Changes + r.Commits.Metadata
	if n == 0 && r.Refs == 0 && r.WorkingTree == "" {
		return "nothing new at " + abbreviated(r.Head)
	}
	var parts []string
	if n > 0 {
		var how []string
		for _, k := range []struct {
			n   int64
			how string
		}{{r.Commits.Full, "whole"}, {r.Commits.Changes, "as changes"}, {r.Commits.Metadata, "by name only"}} {
			if k.n > 0 {
				how = append(how, render.Thousands(k.n)+" "+k.how)
			}
		}
		parts = append(parts, fmt.Sprintf("%s (%s)", render.Count(int(n), "commit"), strings.Join(how, ", ")))
	}
	if r.Files > 0 {
		parts = append(parts, fmt.Sprintf("%s of %s bytes", render.Count(int(r.Files), "file"), render.Thousands(r.Bytes)))
	}
	if len(r.Skipped) > 0 {
		var why []string
		for _, k := range slices.Sorted(maps.Keys(r.Skipped)) {
			why = append(why, fmt.Sprintf("%s %s", render.Thousands(r.Skipped[k]), k))
		}
		parts = append(parts, "left out "+strings.Join(why, ", "))
	}
	if len(r.Unread) > 0 {
		var what []string
		for _, k := range slices.Sorted(maps.Keys(r.Unread)) {
			what = append(what, render.Count(int(r.Unread[k]), k+" file"))
		}
		parts = append(parts, "not read for symbols: "+strings.Join(what, ", "))
	}
	if r.Refs > 0 {
		parts = append(parts, render.Count(int(r.Refs), "ref")+" moved")
	}
	if r.WorkingTree != "" {
		parts = append(parts, "the working tree as "+abbreviated(r.WorkingTree))
	}
	if r.Redacted > 0 {
		parts = append(parts, render.Count(int(r.Redacted), "secret")+" redacted")
	}
	if r.Present > 0 {
		parts = append(parts, render.Count(int(r.Present), "event")+" already there")
	}
	return strings.Join(parts, "; ")
}

// abbreviated returns the start of an object id.
func abbreviated(id string) string { return id[:min(len(id), 12)] }
