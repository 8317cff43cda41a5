package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/mcp"
	"github.com/recountdb/recount/server/node"
)

// served appends spans of the shop's service: one request for a cart, and none for the old route.
func (w *world) served(t *testing.T) {
	t.Helper()
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixNano()
	payload := fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}},{"key":"vcs.repository.url.full","value":{"stringValue":"https://example.org/shop"}}]},"scopeSpans":[{"spans":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b174","name":"GET /carts/{id}","kind":2,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[{"key":"http.request.method","value":{"stringValue":"GET"}},{"key":"http.route","value":{"stringValue":"/carts/{id}"}},{"key":"http.response.status_code","value":{"intValue":"200"}}]}]}]}]}`, at, at+int64(5*time.Millisecond))
	if _, err := w.Append(t.Context(), []schemas.Event{{Type: schemas.TypeSpansExported, Time: time.Unix(0, at), Payload: []byte(payload)}}); err != nil {
		t.Fatal(err)
	}
}

// TestSeedTools makes, for each tool of the system that Recount learned from, the call that
// docs/mcp.md names for it, and checks that the page names it.
func TestSeedTools(t *testing.T) {
	w := newWorld(t)
	w.served(t)
	s := mcp.New(w.options())
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "mcp.md"))
	if err != nil {
		t.Fatal(err)
	}
	type arguments = map[string]any
	for _, x := range []struct {
		theirs, tool string
		in           arguments
		want         string
	}{
		{"index_repo", "import", arguments{"path": w.repo.Dir}, "example.org/shop"},
		{"cross_repo_callers", "calls", arguments{"symbol": "Cart.Total", "depth": 3}, "\n4 .show :24 :24 web.render 2"},
		{"graph_query", "symbols", arguments{"text": "cart.C"}, "cart.Cart"},
		{"graph_query", "repository", arguments{"view": "graph", "symbol": "web.render", "edge": "calls"}, "cart.Cart.Total"},
		{"repo_graph", "repository", arguments{"view": "graph"}, "symbols=17"},
		{"blast_radius", "impact", arguments{"symbols": []string{"taxed"}}, "web.render"},
		{"trace_dataflow", "calls", arguments{"symbol": "web.show", "direction": "callees", "depth": 3}, "taxed"},
		{"semantic_diff", "diff", arguments{"base": "HEAD~1", "head": "HEAD"}, "cart.Cart.Empty"},
		{"pr_impact", "impact", arguments{"diff": "HEAD~1..HEAD"}, "web.render"},
		{"snapshot_diff", "diff", arguments{"base": "HEAD~1", "head": "HEAD", "impact": true}, "cart.taxed"},
		{"stale_edges", "stale", arguments{"since": "HEAD~1"}, "web.render"},
		{"ownership", "impact", arguments{"files": []string{"cart/cart.go"}, "only": "owners"}, "@carts"},
		{"runtime_traffic", "runtime", arguments{"view": "traffic"}, "GET /carts/{id}"},
		{"dead_routes", "runtime", arguments{"view": "dead_routes"}, "/old"},
		{"trace_stats", "runtime", arguments{"view": "stats"}, "spans=1"},
		{"context_for_task", "context", arguments{"task": "the sum of the items must not include tax"}, "cart/cart.go"},
		{"context_for_files", "context", arguments{"files": []string{"cart/cart.go"}}, "cart/cart_test.go"},
		{"context_for_pr", "context", arguments{"base": "HEAD~1", "head": "HEAD"}, "cart/cart.go"},
		{"feedback", "feedback", arguments{"task": "drop the tax", "useful": []string{"cart.taxed"}}, "recorded"},
		{"feedback", "feedback", arguments{"about": []string{"cart.taxed"}}, "symbol:cart.taxed"},
		{"test_scope", "impact", arguments{"files": []string{"cart/cart.go"}, "only": "tests"}, "cart.TestTotal"},
		{"flow_between", "calls", arguments{"symbol": "web.show", "to": "Cart.Total"}, "web.render"},
		{"communities", "repository", arguments{"view": "communities"}, "communities"},
	} {
		connectTo(t, s, nil).says(x.tool, x.in, x.want)
		if !strings.Contains(string(page), "\n| "+x.theirs+" | ") {
			t.Errorf("docs/mcp.md has no line of %s", x.theirs)
		}
	}
	r, err := connectTo(t, s, nil).GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "start_task", Arguments: map[string]string{"task": "drop the tax"}})
	if err != nil {
		t.Fatal(err)
	}
	if text := r.Messages[0].Content.(*sdk.TextContent).Text; !strings.Contains(text, "drop the tax") || !strings.Contains(text, "call context") {
		t.Errorf("plan_turn: %s", text)
	}
	if got := strings.Count(string(page), "\n| plan_turn |"); got != 1 {
		t.Errorf("plan_turn is in docs/mcp.md %d times", got)
	}
}

// TestResources reads each kind of resource.
func TestResources(t *testing.T) {
	w := newWorld(t)
	c := connectTo(t, mcp.New(w.options()), nil)
	r := c.call("symbols", map[string]any{"text": "Total"})
	for uri, want := range map[string]string{
		uriOf(t, r): `"watermark":"recount.`,
		"recount://symbol/example.org%2Fshop/Cart.Total": "cart.Cart.Total",
		"recount://snapshot/example.org%2Fshop/HEAD~1":   "cart: sum up",
		"recount://event/2d13f68b":                       "go test ./cart",
	} {
		got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if text := got.Contents[0].Text; !strings.Contains(text, want) {
			t.Errorf("%s: no %q in %.300s", uri, want, text)
		}
	}
	for _, uri := range []string{"recount://answer/000000000000", "recount://event/ffffffff", "recount://symbol/shop", "recount://snapshot/shop/nowhere"} {
		if got, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: %s", uri, got.Contents[0].Text)
		}
	}
}

// TestPagesHaveEachEntryOnce follows the cursors of a list to its end.
func TestPagesHaveEachEntryOnce(t *testing.T) {
	c := connectTo(t, mcp.New(newWorld(t).options()), nil)
	seen := map[string]int{}
	cursor := ""
	for pages := 0; ; pages++ {
		in := map[string]any{"text": "cart", "limit": 3}
		if cursor != "" {
			in["cursor"] = cursor
		}
		r, err := c.CallTool(t.Context(), &sdk.CallToolParams{Meta: sdk.Meta{"recount/format": "json"}, Name: "symbols", Arguments: in})
		if err != nil || r.IsError {
			t.Fatal(err, textOf(r))
		}
		out := r.StructuredContent.(map[string]any)
		data := out["data"].(map[string]any)["code/symbols"].(map[string]any)
		for _, s := range data["symbols"].([]any) {
			m := s.(map[string]any)
			seen[fmt.Sprint(m["name"], m["kind"], m["file"])]++
		}
		next, _ := out["next"].(string)
		if next == "" {
			if pages == 0 {
				t.Error("one page: the test tests nothing")
			}
			break
		}
		cursor = next
	}
	for name, n := range seen {
		if n != 1 {
			t.Errorf("%s: %d times", name, n)
		}
	}
}

// TestRememberedIsInTheNextAnswer checks that an agent's next question to a running server sees what it
// has just remembered.
func TestRememberedIsInTheNextAnswer(t *testing.T) {
	n, err := node.Open(t.Context(), node.Config{DataDir: filepath.Join(t.TempDir(), "data"), Version: "test", HTTP: node.HTTPConfig{Listen: "127.0.0.1:0"}, Kafka: node.KafkaConfig{Listen: "none"}, OTLP: node.OTLPConfig{GRPC: "none", HTTP: "none"}})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-done, n.Close()); err != nil {
			t.Error(err)
		}
	})
	b, err := httpapi.NewClient(n.Endpoints().HTTP, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	o := (&world{Node: n, repo: shop(t)}).options()
	o.Open = func(context.Context, bool) (api.Backend, func(), error) { return b, func() {}, nil }
	c := connectTo(t, mcp.New(o), nil)
	for i := range 20 {
		text := fmt.Sprintf("the queue number %d is drained by hand", i)
		c.says("remember", map[string]any{"kind": "decision", "text": text}, "remembered as")
		c.says("evidence", map[string]any{"text": text, "limit": 3}, text)
	}
}
