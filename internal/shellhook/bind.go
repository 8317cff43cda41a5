package shellhook

import (
	_ "embed"
	"maps"
	"slices"
	"strings"
)

//go:embed bind.bash
var bindBash string

//go:embed bind.zsh
var bindZsh string

//go:embed bind.fish
var bindFish string

// binding is the script that binds the keys of a shell, and how the shell writes keys.
type binding struct {
	script string
	// search is ctrl-R, up the two sequences that terminals send for arrow-up.
	search, up string
}

var bindings = map[string]binding{
	"bash": {bindBash, `'\C-r'`, `'\e[A' '\eOA'`},
	"zsh":  {bindZsh, `'^R'`, `'^[[A' '^[OA'`},
	"fish": {bindFish, `\cr`, `\e\[A \eOA`},
}

// Bound returns the shells that have bindings, in order.
func Bound() []string { return slices.Sorted(maps.Keys(bindings)) }

// Bindings returns the script with which a shell searches at ctrl-R, and with up at arrow-up too, by
// running a program with the verb search. It is empty for a shell without one.
func Bindings(shell, program string, up bool) string {
	b, ok := bindings[shell]
	if !ok {
		return ""
	}
	keys := b.search
	if up {
		keys += " " + b.up
	}
	return strings.NewReplacer("@FRONT@", quote(shell, program), "@KEYS@", keys).Replace(b.script)
}
