package code_test

import (
	"slices"
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

// TestSymbolsAskedFor checks how the words of a description and of a name may differ, and what goes
// before what.
func TestSymbolsAskedFor(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `a walker
-- walk/walk.toy --
package walk
struct Walk // Iterates over a directory.
struct WalkBuilder // Builds a walk.
method WalkBuilder.maxDepth // The depth of the walk of a directory.
method WalkBuilder.followLinks // Whether the walk of a directory follows links.
function openWebSocket // Starts a session.
function streamSSE // Writes each of them.
function removeEntry // Of the cache.
function envLookup // Of a process.
function parse // Reads a size.
function parse = again // Reads a size, with a unit.
function size // Reads the size of a unit.
-- examples/walk/main.toy --
package main
function walkDirectory // Iterates over a directory.
`)
	for _, tt := range []struct {
		name, text string
		want       []string // the first ones
	}{
		{"the kind that is asked for", "the struct that iterates over directories", []string{"walk.Walk"}},
		{"another kind", "method for a walk that follows the links", []string{"walk.WalkBuilder.followLinks"}},
		{"two words of a name as one", "begin a websocket session", []string{"walk.openWebSocket"}},
		{"initials", "writes of server sent events", []string{"walk.streamSSE"}},
		{"another word of the same meaning", "delete from the cache", []string{"walk.removeEntry"}},
		{"another word, both inflected", "what is deleted", []string{"walk.removeEntry"}},
		{"an abbreviation", "lookups in the environment", []string{"walk.envLookup"}},
		{"one name once before others", "parse sizes with units", []string{"walk.parse", "walk.size", "walk.parse"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: tt.text})
			if err != nil {
				t.Fatal(err)
			}
			got := lines(r.Symbols, func(h code.SymbolHit) string { return h.Name })
			if diff := cmp.Diff(tt.want, got[:min(len(got), len(tt.want))]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if i := slices.Index(got, "main.walkDirectory"); i >= 0 && i < len(got)-1 {
				t.Errorf("an example goes before the code: %v", got)
			}
		})
	}
}

// TestDescribedInItsFile checks that of two symbols that have the same words of a description, the
// one whose file has more of it goes first.
func TestDescribedInItsFile(t *testing.T) {
	m := newMemory(t)
	m.commit(shop, "Ada", `two files
-- a/alpha.toy --
package a
function Open // Reads a header.
-- a/omega.toy --
package a
function Close // Reads a header.
function Parse // Reads a compressed archive with its header.
`)
	r, err := code.Symbols(t.Context(), m.s, code.SymbolsRequest{Text: "reads the header of a compressed archive"})
	if err != nil {
		t.Fatal(err)
	}
	got := lines(r.Symbols, func(h code.SymbolHit) string { return h.Name })
	if diff := cmp.Diff([]string{"a.Parse", "a.Close", "a.Open"}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
