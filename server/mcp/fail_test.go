package mcp

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
)

// TestInstead checks what to call when a revision, a repository or a symbol was not found.
func TestInstead(t *testing.T) {
	for kind, want := range map[query.NotFoundKind]string{
		query.UnknownRevision: "call repository with view=log to see the known revisions",
		query.UnknownGraph:    "call repository with view=log to see which",
		query.UnknownImport:   "call import",
		"":                    "call symbols",
	} {
		if got := instead("impact", &query.NotFoundError{Ref: "x", Kind: kind}); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q; want %q", kind, got, want)
		}
	}
}
