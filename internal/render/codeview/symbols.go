package codeview

import (
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query/code"
)

// Symbols prints symbols, each with its signature.
func Symbols(t *render.Terminal, r code.SymbolsResponse) {
	for _, h := range r.Symbols {
		t.Printf("%s\n", Symbol(t, h.Symbol))
		if h.Signature != "" {
			t.Printf("    %s\n", render.OneLine(h.Signature))
		}
	}
	t.Truncated(r.Truncated, "--limit shows more, --kind fewer")
}
