package code_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query/code"
)

// TestSymbolsByDescription checks that several words that are not a name find what they describe,
// by any of its fields.
func TestSymbolsByDescription(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `shop
-- retry/backoff.toy --
package retry
function Backoff // Waits longer after each failure.
function drain // Empties the queue.
function sendBatch // Sends what was gathered.
field waitFailure
-- retry/backoff_test.toy --
package retry
test TestBackoff // Waits longer after each failure.
`)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"documentation, stemmed", "how does it wait after failures?", []string{"retry.Backoff text", "retry.waitFailure text", "retry.TestBackoff text"}},
		{"words of a name", "where are batches sent from", []string{"retry.sendBatch text"}},
		{"a name's words go first", "send batch", []string{"retry.sendBatch words"}},
		{"words that join others say nothing", "where is it from", []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 { // the second time the index is cached
				r, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: tt.text})
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(tt.want, lines(r.Symbols, func(h code.SymbolHit) string { return h.Name + " " + h.Match })); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			}
		})
	}
	r, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: "wait after failures", Kinds: []string{"field"}, Tests: true})
	if err != nil || len(r.Symbols) != 1 || r.Symbols[0].Name != "retry.waitFailure" {
		t.Errorf("of a kind: %+v %v", r.Symbols, err)
	}
}
