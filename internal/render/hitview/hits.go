package hitview

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
)

// Hits prints hits for people, with the rank and score of each path that found them if ranks is set.
func Hits(t *render.Terminal, r ask.FindResponse, now time.Time, ranks bool) {
	for _, v := range r.Variants {
		if len(r.Hits) > 0 && v.Kind != "shorter" {
			t.Printf("%s\n", t.Paint(render.Dim, fmt.Sprintf("no command has %q; found by %s", render.OneLine(v.Word), render.OneLine(strings.Join(v.As, ", ")))))
		}
	}
	for i, h := range r.Hits {
		if i > 0 {
			t.Printf("\n")
		}
		Hit(t, h, now, ranks)
	}
	if r.Status == query.StatusEmpty {
		t.Printf("nothing found\n")
	}
	if r.Hint != "" {
		t.Printf("%s\n", t.Paint(render.Dim, r.Hint))
	}
}

// Hit prints one command in two or three lines.
func Hit(t *render.Terminal, h ask.Hit, now time.Time, ranks bool) {
	// The complete id finds the command again, and so does its beginning.
	t.Printf("%s %s\n", t.ExitMark(h.ExitCode), t.Paint(render.Bold, render.Indent(render.PlainText(short(h.Command)), "    ")))
	parts := []string{t.Paint(render.Yellow, h.ID.String()[:13]), render.Ago(now, h.Time)}
	if h.Duration != nil {
		parts = append(parts, "took "+query.Took(time.Duration(*h.Duration)))
	}
	if h.Cwd != "" {
		parts = append(parts, t.Home(h.Cwd))
	} else if h.Host != "" {
		parts = append(parts, render.OneLine(h.User+"@"+h.Host))
	}
	if h.Author != "" {
		parts = append(parts, "by "+render.OneLine(h.Author))
	}
	t.Printf("  %s\n", strings.Join(parts, t.Paint(render.Dim, " · ")))
	if why := Because(h.Scores, ranks); why != "" {
		t.Printf("  %s\n", t.Paint(render.Dim, why))
	}
}

// short returns the beginning of a command for lists; show prints all of it.
func short(command string) string {
	const maxLines, maxRunes = 6, 400
	lines := strings.SplitN(command, "\n", maxLines+1)
	cut := len(lines) > maxLines
	s := strings.Join(lines[:min(len(lines), maxLines)], "\n")
	if r := []rune(s); len(r) > maxRunes {
		s, cut = string(r[:maxRunes]), true
	}
	if cut {
		s += " …"
	}
	return s
}

// byMeaning are the names of the paths that compare meanings, and no words.
var byMeaning = []string{"semantic", "dense"}

// Because describes which paths found a hit: each with its rank and score if ranks is set, and
// otherwise only that no word did, which makes a hit unsure.
func Because(scores []query.PathScore, ranks bool) string {
	if len(scores) == 0 {
		return ""
	}
	if !ranks {
		if slices.ContainsFunc(scores, func(s query.PathScore) bool { return !slices.Contains(byMeaning, s.Path) }) {
			return ""
		}
		return "found by its meaning alone"
	}
	var parts []string
	for _, s := range scores {
		parts = append(parts, fmt.Sprintf("%s #%d (%.3g)", s.Path, s.Rank, s.Score))
	}
	return "found by " + strings.Join(parts, ", ")
}
