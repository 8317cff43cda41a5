package mcp

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
)

// TestInstead checks what to call when a revision, a repository or a symbol was not found.
func TestInstead(t *testing.T) {
	for hint, want := range map[string]string{
		"no ref or commit": "call repository with view=log",
		"commit b0e18cb03895 of shop: no graph: the content of its files is not on the log; recount import git PATH --history N goes further back": "call repository with view=log",
		"imported are shop": "call import",
		"no symbol has it":  "call symbols",
	} {
		if got := instead("impact", &query.NotFoundError{Ref: "x", Hint: hint}); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q; want %q", hint, got, want)
		}
	}
}
