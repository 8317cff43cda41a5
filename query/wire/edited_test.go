package wire

import (
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEdited(t *testing.T) {
	for why, x := range map[string]struct{ before, after, want string }{
		"a word added":          {"def open(self, resource: str) -> IO", "def open(self, resource: str, mode: str) -> IO", "def open(self, resource: str{+, mode: str+}) -> IO"},
		"a word removed":        {"func Total(tax float64) error", "func Total() error", "func Total([-tax float64-]) error"},
		"whole words":           {"job: uses checkout version20", "job: uses checkout version21", "job: uses checkout [-version20-]{+version21+}"},
		"one in the other":      {"aaaa aaaa aaaa aaaa", "aaaa aaaa aaaa aaaa aaaa", "aaaa aaaa aaaa aaaa{+ aaaa+}"},
		"ends in a mark's sign": {"let the rest be x - for all", "let the rest be y [ for all", "let the rest be [-x --]{+y [+} for all"},
		"little in common":      {"func a()", "func b()", ""},
		"equal":                 {"func Total(tax float64) error", "func Total(tax float64) error", ""},
		"a mark in one":         {"some text with [-a mark-] in it", "some text with a mark in it", ""},
		"a mark's beginning":    {"some text of many words {", "some text of many words {+", "some text of many words {{+++}"},
		"a line's end":          {"some text of many\nwords", "some text of many words", ""},
		"nothing before":        {"", "func Total(tax float64) error", ""},
	} {
		got, ok := edited(x.before, x.after)
		if ok != (x.want != "") || ok && got != x.want {
			t.Errorf("%s: got %q, %v, want %q", why, got, ok, x.want)
		}
		if !ok {
			continue
		}
		if before, after, ok := unedited(got); before != x.before || after != x.after || !ok {
			t.Errorf("%s: read back as %q and %q", why, before, after)
		}
	}
}

// TestWhatIsAlikeIsToldOnce compares lists whose rows have much in common with a text that is read as a
// whole.
func TestWhatIsAlikeIsToldOnce(t *testing.T) {
	node := func(name string) Node { return Node{Kind: "package", Name: name} }
	p := Payload{Question: "diff", Lists: []List{
		{Name: "packages", Columns: []string{"count"}, Rows: []Row{
			{Nodes: []Node{node("shop/cart")}, Values: []string{"12"}},
			{Nodes: []Node{node("shop/tax")}, Values: []string{"7"}},
		}},
		{Name: "joined", Columns: []string{"edge"}, Rows: []Row{
			{Nodes: []Node{node("shop/cart"), node("shop/tax")}, Values: []string{"calls"}},
			{Nodes: []Node{node("shop/cart"), node("shop/web")}, Values: []string{"imports"}},
		}},
		{Name: "symbols", Columns: []string{"change", "was"}, Rows: []Row{
			{Nodes: []Node{{Kind: "method", Name: "cart.Cart.Total", Path: "cart/cart.go", Line: 7, Signature: "func (c *Cart) Total(tax float64) Money", Text: "func (c *Cart) Total(tax float64) Money {\n\tsum := c.sum()\n\n\treturn sum\n}"}}, Values: []string{"signature", "func (c *Cart) Total() Money"}},
			{Nodes: []Node{{Kind: "method", Name: "cart.Cart.Sum", Path: "cart/cart.go", Line: 3}}, Values: []string{"added", "±"}},
		}},
		{Name: "edges", Columns: []string{"from", "to", "site"}, Rows: []Row{
			{Values: []string{"cart.Cart.Total", "tax.Of", "cart/cart.go:9"}},
			{Values: []string{"cart.Cart.Sum", "tax.Rate", "cart/cart.go:3"}},
			{Values: []string{"web.Show", "cart.New", "web/show.go:44"}},
			{Values: []string{"web.Show", "cart.Cart.Total", "web/show.go:46"}},
		}},
	}}
	want := `# diff
## packages:package :- count
1 shop/cart 12
2 .tax 7
## joined:package :- edge
@1 > @2 calls
> .web imports
## symbols:method change was
cart.Cart.Total cart/cart.go:7 signature ±
=±func (c *Cart) Total({+tax float64+}) Money
 func (c *Cart) Total(tax float64) Money {
	sum := c.sum()

	return sum
 }
..Sum :3 added "±"
## edges * from to site
cart.Cart.Total tax.Of :9
..Sum .Rate :3
web.Show cart.New web/show.go:44
^ .Cart.Total :46
`
	data, err := Builtin().EncodeWith(Text, p)
	if diff := cmp.Diff(want, string(data)); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	if got, err := readers[Text](data); !reflect.DeepEqual(p, got) || err != nil {
		t.Fatalf("%v %s", err, cmp.Diff(p, got))
	}
}
