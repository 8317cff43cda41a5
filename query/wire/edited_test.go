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

// TestWhatIsNearIsToldShortly has the kind of the row above, places that are reached from the one before,
// names that are quoted in part, and rows that end alike.
func TestWhatIsNearIsToldShortly(t *testing.T) {
	p := Payload{Question: "export", Lists: []List{{Name: "symbols", Columns: []string{"site", "edge", "by", "sure"}, Rows: []Row{
		{Nodes: []Node{{Kind: "method", Name: "cart.Cart.Total", Path: "src/shop/cart/cart.go", Line: 7}}, Values: []string{"src/shop/cart/sum/sum.go:3", "calls", "types", "1"}},
		{Nodes: []Node{{Kind: "method", Name: "tax.Rate.Of", Path: "src/shop/tax/tax.go", Line: 2}}, Values: []string{"src/shop/tax/tax.go", "calls", "types", "1"}},
		{Nodes: []Node{{Kind: "route", Name: "tax.GET /rates", Path: "src/main.go", Line: 4}}, Values: []string{"src/main.go:5", "uses", "scope", "0.8"}},
		{Nodes: []Node{{Kind: "route", Name: "tax.GET /rates/{id}", Path: "src/main.go", Line: 6}}, Values: []string{"src/shop/tax/tax.go:9", "uses", "scope", "0.8"}},
		{Nodes: []Node{{Kind: "route", Name: "GET /", Path: "web/main.go", Line: 1}}, Values: []string{"web/main.go:1", "uses", "types", "1"}},
	}}}}
	want := `# export
## symbols site edge~uses by~types sure~1
method cart.Cart.Total src/shop/cart/cart.go:7 ./sum/sum.go:3 calls
tax.Rate.Of ../tax/tax.go:2 : ^
route ."GET /rates" src/main.go:4 :5 . scope .8
."GET /rates/{id}" :6 tax.go:9 ^^
route "GET /" web/main.go:1 :1
`
	data, err := Builtin().EncodeWith(Text, p)
	if diff := cmp.Diff(want, string(data)); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	if got, err := readers[Text](data); !reflect.DeepEqual(p, got) || err != nil {
		t.Fatalf("%v %s", err, cmp.Diff(p, got))
	}
}
