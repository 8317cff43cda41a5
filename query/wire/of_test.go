package wire

import (
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
