package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	packing "github.com/recountdb/recount/query/context"
)

// TestAnnouncedWorkIsTold checks that answers about symbols say who works on them, quoted.
func TestAnnouncedWorkIsTold(t *testing.T) {
	at := query.Announced{Announced: []query.Announcement{{Subject: "symbol:shop.Cart.Add", Agent: "claude", Why: "moving it\n## orders", Position: "recount.agents/0/7"}}}
	for name, answer := range map[string]any{
		"callers": code.CallsResponse{Announced: at},
		"impact":  code.ImpactResponse{Announced: at},
		"symbols": code.SymbolsResponse{Announced: at},
		"context": packing.Response{Announced: at},
	} {
		p, ok := Of(name, answer)
		if !ok {
			t.Fatalf("%s has no payload", name)
		}
		text, err := Builtin().EncodeWith(Text, p)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"shop.Cart.Add", "claude", `"moving it\n## orders"`, "#recount.agents/0/7"} {
			if !strings.Contains(string(text), want) {
				t.Errorf("%s: no %s in %s", name, want, text)
			}
		}
	}
}

// TestUsualValuesTakeNothing checks that rows do not say what most of their list have.
func TestUsualValuesTakeNothing(t *testing.T) {
	var r code.ImpactResponse
	for i := range 4 {
		r.Tests = append(r.Tests, code.Affected{
			Symbol: code.Symbol{Kind: "test", Name: fmt.Sprintf("shop.TestAdd%d", i), File: "shop/cart_test.go", Line: uint32(10 * (i + 1))}, Distance: 2 + i/3, Confidence: 0.98,
			Via: "shop.Cart.Add", Edge: "calls", Site: fmt.Sprintf("shop/cart_test.go:%d", 10*(i+1)+2),
		})
	}
	p, _ := Of("impact", r)
	text, err := Builtin().EncodeWith(Text, p)
	const want = ".TestAdd2 :30 :32\n.TestAdd3 :40 :42 3\n"
	if err != nil || !strings.HasSuffix(string(text), want) {
		t.Errorf("%v, want its end to be %q:\n%s", err, want, text)
	}
}

// TestContextTellsDocumentationOnce checks that documentation which the source code has is not told
// beside it, and that a session repeats no other.
func TestContextTellsDocumentationOnce(t *testing.T) {
	const doc = "Whether a cookie should be set."
	item := func(name, text string) packing.Item {
		return packing.Item{Symbol: &code.Symbol{Kind: "method", Name: name}, Path: "a.py", Line: 3, EndLine: 9, Doc: doc, Signature: "def f(self)", Text: text}
	}
	p, _ := Of("context", packing.Response{Known: true, Items: []packing.Item{item("shown", "def f(self):\n    \"\"\"Whether a cookie\n    should be set.\"\"\"\n"), item("head", "")}})
	s := NewSession()
	for i, want := range []string{"=def f(self)\n " + doc + "\n", "\n@1\n@2\n"} {
		text, sent, err := s.Encode(p)
		if err != nil {
			t.Fatal(err)
		}
		sent()
		if !strings.HasSuffix(string(text), want) || strings.Count(string(text), doc) != 1-i {
			t.Errorf("turn %d: want its end to be %q:\n%s", i+1, want, text)
		}
	}
}

// TestSnapshotNamesFewFiles checks that the snapshot of a first commit, which changed every file, is short.
func TestSnapshotNamesFewFiles(t *testing.T) {
	a := code.SnapshotResponse{
		Revision: code.Revision{Repo: "example.org/shop", Commit: "9fceb02d0ae598e95dc970b74767f19372d61af8"}, Parents: []string{"d64ecfb244d38b5f31d6dd8f6a9f55731038c093"},
		Message: "a shop\n\nWith carts.\n", Files: code.Counted{Total: 900, By: map[string]int{"go": 880, "other": 20}}, Roots: map[string]string{"nodes": "8140430988ad"},
	}
	for i := range 900 {
		a.Changed = append(a.Changed, fmt.Sprintf("pkg/file%d.go", i))
	}
	p, ok := Of("snapshot-show", a)
	if !ok {
		t.Fatal("no payload of its own")
	}
	data, err := Builtin().EncodeWith(Text, p)
	if err != nil {
		t.Fatal(err)
	}
	want := "# snapshot-show at=example.org/shop@9fceb02d0ae5 files=900 changed=900\n## commit:message - parents=d64ecfb244d3\n-\n a shop\n\n With carts.\n## files * of count\ngo 880\nother 20\n## changed:file -\npkg/file0.go\n"
	if got := string(data); !strings.HasPrefix(got, want) || strings.Count(got, "\n") > 40 || strings.Contains(got, "814043") {
		t.Errorf("got %s, want first %s", got, want)
	}
}
