package danger

import (
	"strings"

	"github.com/recountdb/recount/internal/lazyregexp"
)

// Commands that an alias of git or a recipe of make stands for.

// plainText matches a value that means the same within quotes and without.
var plainText = lazyregexp.New(`^[\w./:@%+=,-]*$`)

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
