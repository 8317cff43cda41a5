package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/internal/commits"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/git/gittest"
	"github.com/recountdb/recount/internal/importing"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/mcp"
	"github.com/recountdb/recount/server/node"
)

// shop is a small repository: a handler, what it calls, a test, an owner, and two commits.
func shop(t testing.TB) *gittest.Repo {
	t.Helper()
	g := gittest.Init(t)
	g.Write("go.mod", "module example.org/shop\n\ngo 1.26\n")
	g.Write("CODEOWNERS", "/cart/ @carts\n")
	g.Write("cart/cart.go", `// Package cart sums up carts.
package cart

// Cart has items.
type Cart struct{ Items []int }

// Total returns the sum of the items.
func (c *Cart) Total() int {
	sum := 0
	for _, i := range c.Items {
		sum += i
	}
	return sum
}

// Empty reports whether there are no items.
func (c *Cart) Empty() bool { return len(c.Items) == 0 }
`)
	g.Write("cart/cart_test.go", `package cart

import "testing"

func TestTotal(t *testing.T) {
	if (&Cart{Items: []int{1, 2}}).Total() != 3 {
		t.Fatal("wrong")
	}
}
`)
	g.Write("web/web.go", `// Package web serves carts.
package web

import (
	"fmt"
	"net/http"

	"example.org/shop/cart"
)

// Routes registers the handlers.
func Routes(mux *http.ServeMux) {
	mux.HandleFunc("GET /carts/{id}", show)
	mux.HandleFunc("GET /old", old)
}

// New returns the handler of the whole program.
func New() http.Handler {
	mux := http.NewServeMux()
	Routes(mux)
	return mux
}

func show(w http.ResponseWriter, r *http.Request) { render(w, &cart.Cart{}) }

func old(w http.ResponseWriter, r *http.Request) {}

func render(w http.ResponseWriter, c *cart.Cart) { fmt.Fprintln(w, c.Total()) }
`)
	g.Git("add", "-A")
	g.Git("commit", "-q", "-m", "cart: sum up")
	g.Write("cart/cart.go", `// Package cart sums up carts.
package cart

// Cart has items.
type Cart struct{ Items []int }

// Total returns the sum of the items, with tax.
func (c *Cart) Total() int {
	sum := 0
	for _, i := range c.Items {
		sum += taxed(i)
	}
	return sum
}

func taxed(i int) int { return i + i/5 }
`)
	g.Git("add", "-A")
	g.Git("commit", "-q", "-m", "cart: add tax, drop Empty")
	return g
}

// world is a data directory with the shop, and a server over it.
type world struct {
	*node.Node
	repo *gittest.Repo
	cfg  node.Config
	// history is that of the last import.
	history int
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{repo: shop(t), cfg: node.Config{DataDir: filepath.Join(t.TempDir(), "data"), Version: "test"}}
	importShop(t, w.cfg.DataDir, w.repo.Dir)
	n, err := node.OpenLocal(t.Context(), w.cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	w.Node = n
	w.ran(t)
	return w
}

func importShop(t testing.TB, data, dir string) {
	t.Helper()
	con := &connect.Connector{
		Terminal: &render.Terminal{Out: io.Discard, Err: io.Discard, Silence: time.Hour},
		Getenv:   func(string) string { return "" }, DataDir: data, Version: "test",
	}
	if _, err := importing.Repositories(t.Context(), con, importing.GitOptions{History: 10, MaxPaths: 1000}, []string{dir}, func(commits.Report) {}); err != nil {
		t.Fatal(err)
	}
}

// ran records a test that failed, was mended, and fails again.
func (w *world) ran(t testing.TB) {
	t.Helper()
	start := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	var events []schemas.Event
	for i, c := range []struct {
		command, output string
		exit            int
	}{
		{"go test ./cart", "--- FAIL: TestTotal\ncart_test.go:6: wrong", 1},
		{"vim cart/cart.go", "", 0},
		{"go test ./cart", "ok", 0},
		{"git commit -am wip", "", 0},
		{"go test ./cart", "--- FAIL: TestTotal\ncart_test.go:6: wrong", 1},
	} {
		at := start.Add(time.Duration(i) * time.Minute)
		payload, err := json.Marshal(map[string]any{
			"command": c.command, "cwd": w.repo.Dir, "workspace": w.repo.Dir, "session": "s1", "exit_code": c.exit,
			"started_at": at.Format(time.RFC3339), "duration": "2s", "output_tail": c.output, "author": "ada",
		})
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, schemas.Event{ID: schemas.ProducerID("test", fmt.Sprint(i)), Type: schemas.TypeCommandExecuted, Time: at, Payload: payload})
	}
	if _, err := w.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
}

// options are those of a server over the world, for a client in the shop's directory.
func (w *world) options() mcp.Options {
	return mcp.Options{
		Version: "test", Dir: w.repo.Dir,
		Open: func(context.Context, bool) (api.Backend, func(), error) { return w.Node, func() {}, nil },
		Locate: func(_ context.Context, dir string) (mcp.Place, error) {
			return mcp.Place{Repo: "example.org/shop", Workspace: dir}, nil
		},
		Import: func(_ context.Context, dir string, history int, _ bool, progress func(api.Progress)) (any, error) {
			w.history = history
			progress(api.Progress{Phase: "import", Done: 1, Total: 2})
			return commits.Report{Repository: "example.org/shop", Path: dir}, nil
		},
	}
}

// client is a client of a server.
type client struct {
	*sdk.ClientSession
	t testing.TB
}

// connectTo connects a client to a server over pipes.
func connectTo(t testing.TB, s *mcp.Server, o *sdk.ClientOptions) *client {
	t.Helper()
	return connectAs(t, "", s, o)
}

// connectAs connects a client of a version of the protocol; "" is the newest.
func connectAs(t testing.TB, version string, s *mcp.Server, o *sdk.ClientOptions) *client {
	t.Helper()
	serverIn, clientOut := io.Pipe()
	clientIn, serverOut := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- s.Serve(ctx, serverIn, serverOut) }()
	c, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).Connect(t.Context(), &sdk.IOTransport{Reader: clientIn, Writer: clientOut}, &sdk.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Close()
		stop()
		if err := <-done; err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	return &client{c, t}
}

// call calls a tool, with an answer that is no error.
func (c *client) call(tool string, arguments map[string]any) *sdk.CallToolResult {
	c.t.Helper()
	r, err := c.CallTool(c.t.Context(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		c.t.Fatalf("%s %v: %v", tool, arguments, err)
	}
	if r.IsError {
		c.t.Fatalf("%s %v: %s", tool, arguments, textOf(r))
	}
	return r
}

// says calls a tool and checks that its text has what is wanted.
func (c *client) says(tool string, arguments map[string]any, wants ...string) string {
	c.t.Helper()
	text := textOf(c.call(tool, arguments))
	for _, want := range wants {
		if !strings.Contains(text, want) {
			c.t.Errorf("%s %v: no %q in\n%s", tool, arguments, want, text)
		}
	}
	return text
}

func textOf(r *sdk.CallToolResult) string {
	var all []string
	for _, c := range r.Content {
		if t, ok := c.(*sdk.TextContent); ok {
			all = append(all, t.Text)
		}
	}
	return strings.Join(all, "\n")
}
