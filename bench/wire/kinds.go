package main

import (
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"

	"github.com/recountdb/recount/internal/tokens"
)

// parts are the parts of the text, in the order in which they are looked for.
var parts = []struct {
	name string
	is   *regexp.Regexp
}{
	{"content", regexp.MustCompile(`(?m)^[ \t].*\n`)},
	{"signature", regexp.MustCompile(`(?m)^=.*\n`)},
	{"legend, head, lists", regexp.MustCompile(`(?m)^#.*\n`)},
	{"number", regexp.MustCompile(`@[0-9]+:?`)},
	{"place", regexp.MustCompile(` [^ "\n]*:[0-9]+(-[0-9]+)?`)},
	{"quoted", regexp.MustCompile(` "(\\.|[^"\\])*"`)},
	{"name", regexp.MustCompile(` [^ \n]*[a-zA-Z_][./][^ \n]*`)},
	{"decimal", regexp.MustCompile(` [0-9]*\.[0-9]+`)},
}

// kinds prints how many tokens each part of the first answers takes, about: a part alone may have
// other tokens than in its line.
func (s scorecard) kinds(w io.Writer) {
	for _, r := range s.rows {
		count := map[string]int{}
		rest := r.first
		for _, p := range parts {
			rest = p.is.ReplaceAllStringFunc(rest, func(x string) string {
				count[p.name] += tokens.Count(x)
				return ""
			})
		}
		count["other words"] = tokens.Count(rest)
		fmt.Fprintf(w, "%s:", r.name)
		for _, name := range slices.SortedFunc(maps.Keys(count), func(a, b string) int { return count[b] - count[a] }) {
			fmt.Fprintf(w, " %s %d,", name, count[name])
		}
		fmt.Fprintln(w)
	}
}
