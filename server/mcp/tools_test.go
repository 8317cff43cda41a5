package mcp_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/internal/tokens"
	"github.com/recountdb/recount/server/mcp"
	"github.com/recountdb/recount/server/runs"
)

// TestToolsAnswer checks the answer of each tool.
func TestToolsAnswer(t *testing.T) {
	s := mcp.New(newWorld(t).options())
	for _, x := range []struct {
		tool  string
		in    map[string]any
		wants []string
	}{
		{"symbols", map[string]any{"text": "Total"}, []string{"cart.Cart.Total", "cart/cart.go:8", "proof: recount://answer/"}},
		{"symbols", map[string]any{"text": "Total", "detail": true}, []string{"@carts"}},
		{"calls", map[string]any{"symbol": "Cart.Total"}, []string{"web.render", "TestTotal"}},
		{"calls", map[string]any{"symbol": "web.render", "direction": "callees"}, []string{"cart.Cart.Total"}},
		{"calls", map[string]any{"symbol": "web.show", "to": "Cart.Total"}, []string{"web.render", "web/web.go"}},
		{"impact", map[string]any{"symbols": []string{"taxed"}}, []string{"web.render", "TestTotal", "@carts"}},
		{"impact", map[string]any{"diff": "HEAD~1..HEAD"}, []string{"web.render", "TestTotal", "@carts"}},
		{"impact", map[string]any{"files": []string{"cart/cart.go"}, "only": "tests"}, []string{"TestTotal"}},
		{"diff", map[string]any{}, []string{"cart.taxed", "cart.Cart.Empty", "@carts"}},
		{"repository", map[string]any{}, []string{"symbols"}},
		{"repository", map[string]any{"view": "log"}, []string{"add tax"}},
		{"repository", map[string]any{"view": "routes"}, []string{"/carts/{id}", "web/web.go:13"}},
		{"repository", map[string]any{"view": "communities"}, []string{"## communities"}},
		{"repository", map[string]any{"view": "graph", "symbol": "web.render"}, []string{"Cart.Total"}},
		{"stale", map[string]any{"since": "HEAD~1"}, []string{"web.render", "aged"}},
		{"runtime", map[string]any{"view": "stats"}, nil},
		{"runtime", map[string]any{"view": "dead_routes"}, nil},
		{"runtime", map[string]any{"view": "traces"}, nil},
		{"why", map[string]any{}, []string{"go test ./cart", "FAIL: TestTotal", "# mended_before", "vim cart/cart.go"}},
		{"why", map[string]any{"about": "go test"}, []string{"go test ./cart"}},
		{"commands", map[string]any{"text": "go test"}, []string{"go test ./cart"}},
		{"commands", map[string]any{"view": "recurring"}, []string{"go test"}},
		{"evidence", map[string]any{"text": "cart"}, nil},
		{"evidence", map[string]any{"view": "brief"}, []string{"note: "}},
		{"evidence", map[string]any{"view": "failed", "text": "go test ./cart\n--- FAIL: TestTotal"}, nil},
		{"evidence", map[string]any{"view": "open"}, nil},
		{"context", map[string]any{"task": "the sum of the items must not include tax", "budget": 300}, []string{"cart/cart.go"}},
		{"feedback", map[string]any{"task": "drop the tax", "useful": []string{"cart.taxed"}, "useless": []string{"web/web.go"}}, []string{"recorded"}},
		{"feedback", map[string]any{"task": "drop the tax", "useful": []string{"cart.taxd"}, "useless": []string{"web/wbe.go"}}, []string{"recorded", "symbol:cart.taxd: example.org/shop has no symbol", "file:web/wbe.go: example.org/shop has no symbol"}},
		{"feedback", map[string]any{"about": []string{"cart.taxed"}}, []string{"symbol:cart.taxed"}},
		{"remember", map[string]any{"kind": "decision", "text": "carts stay in memory", "about": []string{"Cart.Total"}}, []string{"remembered as"}},
		{"remember", map[string]any{"kind": "task", "id": "SHOP-7", "text": "drop the tax"}, []string{"remembered as"}},
		{"remember", map[string]any{"kind": "task_done", "id": "SHOP-7"}, []string{"remembered as"}},
		{"remember", map[string]any{"kind": "announce", "about": []string{"Cart.Total"}}, []string{"remembered as"}},
		{"remember", map[string]any{"kind": "announce", "about": []string{"cart/cart.go"}}, []string{"symbol:Cart.Total"}},
		{"import", map[string]any{}, []string{"example.org/shop"}},
	} {
		// A connection of its own: a later answer refers to what an earlier one defined.
		text := connectTo(t, s, nil).says(x.tool, x.in, x.wants...)
		t.Logf("%s %v\n%s\n", x.tool, x.in, text)
	}
}

// TestImportGoesFurtherBack checks that an agent can import the commits that a question about a change lacks.
func TestImportGoesFurtherBack(t *testing.T) {
	w := newWorld(t)
	s := mcp.New(w.options())
	for want, in := range map[int]map[string]any{-1: {}, 20: {"history": 20}} {
		if connectTo(t, s, nil).says("import", in, "example.org/shop"); w.history != want {
			t.Errorf("import %v: history %d, want %d", in, w.history, want)
		}
	}
}

// TestContextKeepsItsBudget counts the tokens of contexts as they are sent, in one connection.
func TestContextKeepsItsBudget(t *testing.T) {
	c := connectTo(t, mcp.New(newWorld(t).options()), nil)
	for budget := 256; budget < 1200; budget += 31 {
		text := textOf(c.call("context", map[string]any{"task": "the sum of the items must not include tax", "budget": budget}))
		if n := tokens.Count(text); n > budget {
			t.Errorf("budget %d: %d tokens\n%s", budget, n, text)
		}
	}
}

// TestToolsListIsSmall counts the bytes of the real answer, which every conversation pays for: of a server
// on standard input and output, and of one over HTTP that executes replays.
func TestToolsListIsSmall(t *testing.T) {
	w := newWorld(t)
	over := w.options()
	over.Import, over.Runs = nil, runs.New(runs.Options{Log: w.Node, State: t.TempDir()})
	for name, o := range map[string]mcp.Options{"import": w.options(), "replay": over} {
		c := connectTo(t, mcp.New(o), nil)
		r, err := c.ListTools(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		// What stands around the result: {"jsonrpc":"2.0","id":1,"result":…}, and "event: message",
		// "data: " over HTTP.
		const envelope = 64
		t.Logf("%s: %d tools, %d bytes", name, len(r.Tools), len(b))
		if len(r.Tools) > 14 || len(b) > 9000-envelope {
			t.Errorf("%s: %d tools, %d bytes: want at most 14 and %d", name, len(r.Tools), len(b), 9000-envelope)
		}
		if !slices.ContainsFunc(r.Tools, func(t *sdk.Tool) bool { return t.Name == name }) {
			t.Errorf("no tool %s", name)
		}
	}
}

// TestWhySaysWhatItChose checks that a failure from elsewhere, or one that only resembles what was asked, is
// not told as the one that was meant, and that its hint names what a client has.
func TestWhySaysWhatItChose(t *testing.T) {
	o := newWorld(t).options()
	o.Locate = func(context.Context, string) (mcp.Place, error) {
		return mcp.Place{Repo: "example.org/shop", Workspace: "/elsewhere"}, nil
	}
	s := mcp.New(o)
	connectTo(t, s, nil).says("why", map[string]any{}, "no such failure is known in /elsewhere: this is the newest anywhere")
	text := connectTo(t, s, nil).says("why", map[string]any{"about": "TestNeverFailed"}, "it says nothing of TestNeverFailed")
	if strings.Contains(text, "kind temporal") {
		t.Errorf("names what no tool has: %s", text)
	}
	here := connectTo(t, mcp.New(newWorld(t).options()), nil).says("why", map[string]any{"about": "TestTotal"})
	if strings.Contains(here, "anywhere") || strings.Contains(here, "says nothing") {
		t.Errorf("a failure here: %s", here)
	}
}

// TestAnswersSayThatTheCloneMovedOn checks that an answer about HEAD tells that HEAD is another commit now.
func TestAnswersSayThatTheCloneMovedOn(t *testing.T) {
	o := newWorld(t).options()
	o.Behind = func(_ context.Context, _, commit string) string { return "HEAD is not " + commit[:7] }
	s := mcp.New(o)
	connectTo(t, s, nil).says("calls", map[string]any{"symbol": "Cart.Total"}, "note: HEAD is not ")
	connectTo(t, s, nil).says("diff", map[string]any{}, "note: HEAD is not ")
	if text := connectTo(t, s, nil).says("calls", map[string]any{"symbol": "Cart.Total", "at": "HEAD~1"}); strings.Contains(text, "HEAD is not") {
		t.Errorf("of a revision that was named: %s", text)
	}
}
