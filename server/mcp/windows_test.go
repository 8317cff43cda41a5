package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/server/mcp"
)

// TestTwoWindowsOfOneAgent checks that two connections of one agent are two sessions: the second to announce work is
// told of the first, and does not replace what it announced.
func TestTwoWindowsOfOneAgent(t *testing.T) {
	w := newWorld(t)
	if err := os.WriteFile(filepath.Join(w.repo.Dir, "Makefile"), []byte("all:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := mcp.New(w.options())
	one, two := connectTo(t, s, nil), connectTo(t, s, nil)
	said := one.says("remember", map[string]any{"kind": "announce", "about": []string{"Cart.Total", "Makefile"}, "text": "the first rewrites it"}, "remembered as")
	if strings.Contains(said, "announced") || strings.Contains(said, "working on") {
		t.Errorf("the first is told of others: %s", said)
	}
	two.says("remember", map[string]any{"kind": "announce", "about": []string{"Cart.Total"}, "text": "the second deletes it"},
		"test in another session is working on Cart.Total", "the first rewrites it")
	two.says("evidence", map[string]any{"view": "announced"}, "the first rewrites it", "the second deletes it", "file:Makefile")
	one.says("remember", map[string]any{"kind": "announce_end", "about": []string{"Cart.Total", "Makefile"}})
	if text := two.says("evidence", map[string]any{"view": "announced", "about": []string{"cart/cart.go"}}, "the second deletes it"); strings.Contains(text, "the first") {
		t.Errorf("the first has ended its work: %s", text)
	}
}

// TestOpenKeepsToTheWorkspace checks that what is open elsewhere is listed only if asked for, and no text twice.
func TestOpenKeepsToTheWorkspace(t *testing.T) {
	w := newWorld(t)
	here, o := mcp.New(w.options()), w.options()
	o.Dir = t.TempDir()
	connectTo(t, mcp.New(o), nil).says("remember", map[string]any{"kind": "decision", "text": "elsewhere carts are on disk"})
	c := connectTo(t, here, nil)
	c.says("remember", map[string]any{"kind": "decision", "text": "here carts stay in memory"})
	text := c.says("evidence", map[string]any{"view": "open"}, "here carts stay in memory")
	if strings.Contains(text, "elsewhere") || strings.Count(text, "stay in memory") != 1 {
		t.Errorf("of other workspaces, or twice: %s", text)
	}
	c.says("evidence", map[string]any{"view": "open", "here": false}, "here carts", "elsewhere carts")
}
