package effects

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/replay/shell"
)

// judgeRounds judges a call once for each word of a loop whose variable it names, if those are known.
func (f *finder) judgeRounds(c *shell.Call) {
	name, items := f.rounds(c)
	if name == "" {
		f.judgeCall(c)
		return
	}
	for _, item := range items {
		f.bound = map[string]string{name: item.Value}
		f.judgeCall(c)
	}
	f.bound = nil
}

// rounds returns the variable of the only loop that a call of the line itself names, with its words, "" if there is
// none or if they are not known.
func (f *finder) rounds(c *shell.Call) (name string, items []shell.Word) {
	if len(f.within) > 0 || f.bound != nil {
		return "", nil
	}
	for loop, words := range f.Line.Loops {
		if !slices.ContainsFunc(append([]shell.Word{c.Head}, c.Args...), func(w shell.Word) bool {
			return w.Dynamic && (strings.Contains(w.Value, "$"+loop) || strings.Contains(w.Value, "${"+loop))
		}) {
			continue
		}
		if name != "" || len(words) == 0 || len(words) > maxItems {
			return "", nil
		}
		name = loop
		for _, item := range words {
			if item = f.expand(item); item.Dynamic || item.Glob || strings.Contains(item.Value, "{") {
				return "", nil
			}
			items = append(items, item)
		}
	}
	return name, items
}
