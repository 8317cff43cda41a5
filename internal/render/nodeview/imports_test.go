package nodeview

import (
	"bytes"
	"fmt"
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

// TestImportsLeftOut imports a file that names 10,000 kinds of lines: the most frequent are told, and
// how many the others are.
func TestImportsLeftOut(t *testing.T) {
	kinds := map[string]int{"common line": 3}
	for i := range 10_000 {
		kinds[fmt.Sprintf("line of kind %05d", i)] = 1
	}
	var out bytes.Buffer
	Imports(&render.Terminal{Out: &out, Err: &out}, &importing.Report{Imports: []importing.Result{{From: "a", LeftOut: kinds}}})
	if got := out.String(); len(got) > 1000 || !strings.Contains(got, "left out: 3 common lines, 1 line of kind 00000, ") || !strings.HasSuffix(got, ", 9,981 of other kinds\n") {
		t.Errorf("%d bytes: %.1000s", len(got), got)
	}
}
