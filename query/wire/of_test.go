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
