package danger

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
	"github.com/recountdb/recount/replay/shell"
)

// Words that stand for others of the same line: the items of an array, what a function is given, what an alias of git
// or a recipe of make says.

var (
	// ofArray matches a word that stands for all items of an array.
	ofArray = lazyregexp.New(`^"?\$\{(\w+)\[[@*]\]\}"?$`)
	// given matches what stands in a function for the words that it is called with, and what leaves the first of them out.
	given = lazyregexp.New(`"\$[@*1-9]"|"\$\{[@*1-9]\}"|\$[@*1-9]|\$\{[@*1-9]\}|\bshift\b`)
	// plainText matches a value that means the same within quotes and without.
	plainText = lazyregexp.New(`^[\w./:@%+=,-]*$`)
)

// unfolded returns a call as its shell runs it: with the items of arrays in the place of their names, or, of a function,
// what it does with the words that it is given. It is "" if the line says nothing of the kind.
func (c *call) unfolded() string {
	if body := c.line.Bodies[c.Name]; body != "" && given.MatchString(body) {
		return givenTo(body, c.Args)
	}
	ws, changed := slices.Concat([]shell.Word{c.Head}, c.Args), false
	var items []shell.Word
	for _, w := range ws {
		list := c.itemsOf(w)
		changed = changed || list != nil
		if list == nil {
			list = []shell.Word{w}
		}
		items = append(items, list...)
	}
	if !changed || len(items) == 0 {
		return ""
	}
	return joined(items)
}

// itemsOf returns all items that the line gives to the array which a word stands for.
func (c *call) itemsOf(w shell.Word) (items []shell.Word) {
	name := ofArray.FindStringSubmatch(w.Text)
	if name == nil {
		return nil
	}
	for _, v := range c.line.Assigned {
		if v.Name == name[1] {
			items = append(items, v.List...)
		}
	}
	return items
}

// givenTo returns the body of a function with the words that it is called with in the place of $1 and the like.
func givenTo(body string, ws []shell.Word) string {
	return given.ReplaceAllStringFunc(body, func(place string) string {
		if place == "shift" {
			ws = ws[min(1, len(ws)):]
			return "true"
		}
		which, these := strings.Trim(place, `"${}`), ws
		if n := int(which[0] - '0'); n > 0 && n < 10 {
			these = ws[min(n-1, len(ws)):min(n, len(ws))]
		}
		if place[0] == '"' || place[1] == '@' || !slices.ContainsFunc(these, func(w shell.Word) bool { return !plainText.MatchString(w.Value) }) {
			return joined(these)
		}
		return place
	})
}

// gitAlias returns the command line that an alias of git stands for.
func gitAlias(text string) string {
	if line, own := strings.CutPrefix(text, "!"); own {
		return line
	}
	return "git " + text
}

// recipes returns the command lines of the recipes in a makefile.
func recipes(text string) (lines []string) {
	for line := range strings.Lines(text) {
		recipe, ok := strings.CutPrefix(line, "\t")
		if _, after, rule := strings.Cut(line, ":"); !ok && rule {
			_, recipe, ok = strings.Cut(after, ";")
		}
		if ok {
			lines = append(lines, strings.ReplaceAll(strings.TrimLeft(strings.TrimSpace(recipe), "@-+"), "$$", "$"))
		}
	}
	return lines
}
