package nodeview

import (
	"bytes"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/render"
)

// TestImportsControlNoTerminal names a file, and what was left out and skipped of it, by texts of the file.
func TestImportsControlNoTerminal(t *testing.T) {
	var out bytes.Buffer
	const hostile = "\x1b]0;owned\a\u009b2J\u202e"
	Imports(&render.Terminal{Out: &out, Err: &out}, &importing.Report{Imports: []importing.Result{{
		From: "a" + hostile, LeftOut: map[string]int{"odd" + hostile + " line": 1}, Problems: []string{"line 1: " + hostile}, Skipped: 1,
	}}})
	if strings.ContainsFunc(out.String(), render.Controls) {
		t.Errorf("controls a terminal: %q", out.String())
	}
}
