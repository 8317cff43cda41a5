package code_test

import (
	"testing"

	"github.com/recountdb/recount/languages"
	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query/code"
)

// TestProgramsGoBeforeStyles checks that what a program declares goes before the rules of a style sheet
// for the same name, and the rules first if they are asked for.
func TestProgramsGoBeforeStyles(t *testing.T) {
	m := memoryOf(t, snapshots.Options{Resolvers: languages.Resolvers})
	m.commit(shop, "Ada", `shop
-- site.css --
table { color: red }
.card { color: red }
.cart { color: red }
-- shop.py --
class Table:
    pass

class ShoppingCart:
    pass

class Card:
    pass
`)
	for _, tt := range []struct {
		text, want string
		kinds      []string
	}{
		{"table", "shop.Table", nil},
		{"card", "shop.Card", nil},
		{"cart", "shop.ShoppingCart", nil},
		{".cart", ".cart", nil},
		{"table", "table", []string{"rule", "class"}},
	} {
		r, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: tt.text, Kinds: tt.kinds})
		if err != nil || len(r.Symbols) == 0 || r.Symbols[0].Name != tt.want {
			t.Errorf("%q of %v: got %s %v, want %s first", tt.text, tt.kinds, lines(r.Symbols, func(h code.SymbolHit) string { return h.Name + " in " + h.File }), err, tt.want)
		}
	}
}
