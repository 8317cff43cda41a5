package context

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/query/code"
)

// TestDocBeside checks that documentation which the source code has is not told twice.
func TestDocBeside(t *testing.T) {
	const doc = "Determine whether a cookie should be set for this response."
	for name, tt := range map[string]struct{ doc, text, want string }{
		"a docstring on two lines": {doc, "def f():\n    \"\"\"Determine whether a cookie should\n    be set for this response. Twice.\"\"\"", ""},
		"a docstring that was cut": {"Determine whether…", "def f():\n    \"\"\"Determine whether a cookie should", ""},
		"a comment before":         {doc, "func f() {}\n", doc},
		"a head alone":             {doc, "", doc},
		"no documentation":         {"", "func f() {}\n", ""},
	} {
		i := Item{Symbol: &code.Symbol{Kind: "function", Name: "f"}, Path: "f.py", Line: 1, Doc: tt.doc, Text: tt.text}
		if got := i.DocBeside(); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		text := Response{Known: true, Items: []Item{i}}.Text()
		if first, _, _ := strings.Cut(text, "\n"); strings.Contains(first, ": D") != (tt.want != "") {
			t.Errorf("%s: the answer begins %q", name, first)
		}
	}
}
