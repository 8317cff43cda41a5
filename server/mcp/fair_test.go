package mcp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/mcp"
)

// TestOneTokenLeavesTurnsToOthers has one token make calls that do not end, as in a batch of thousands or
// from clients that never name their roots. Another token is answered meanwhile, and calls beyond the bound
// are refused.
func TestOneTokenLeavesTurnsToOthers(t *testing.T) {
	o := newWorld(t).options()
	o.Locate, o.Import, o.Dir = nil, nil, ""
	open := o.Open
	o.Open = func(ctx context.Context, writes bool) (api.Backend, func(), error) {
		if writes { // the calls that do not end
			<-ctx.Done()
			return nil, nil, ctx.Err()
		}
		return open(ctx, writes)
	}
	code := []string{schemas.GrantCode}
	srv := over(t, mcp.New(o), map[string]schemas.Principal{
		"greedy": {Workspaces: []string{"*"}, Agent: "greedy", Grants: code},
		"modest": {Workspaces: []string{"*"}, Agent: "modest", Grants: code},
	})
	greedy, modest := connectHTTP(t, srv.URL, "greedy"), connectHTTP(t, srv.URL, "modest")
	ctx, cancel := context.WithCancel(t.Context())
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel()
	refused := make(chan string, 300)
	flood := func(n int) {
		for range n {
			all.Go(func() {
				r, err := greedy.CallTool(ctx, &sdk.CallToolParams{Name: "remember", Arguments: map[string]any{"kind": "note", "text": "x"}})
				if err == nil && r.IsError {
					refused <- textOf(r)
				}
			})
		}
	}
	answered := func() {
		t.Helper()
		soon, stop := context.WithTimeout(t.Context(), 2*time.Minute)
		defer stop()
		r, err := modest.CallTool(soon, &sdk.CallToolParams{Name: "symbols", Arguments: map[string]any{"text": "Total"}})
		if err != nil || r.IsError {
			t.Errorf("another token is not answered: %v", err)
		}
	}
	flood(100)
	answered()
	flood(200)
	select {
	case why := <-refused:
		if !strings.Contains(why, "calls already wait") {
			t.Errorf("a call beyond the bound: %s", why)
		}
	case <-time.After(2 * time.Minute):
		t.Error("no call is refused")
	}
	answered()
}

// TestOneSessionLeavesTurnsToOthers checks that a session which has its share of the turns keeps no other
// session of its token waiting.
func TestOneSessionLeavesTurnsToOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		turns := mcp.NewTurns(8)
		taken := func(session string) int {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			n := 0
			for {
				done, err := turns.Take(ctx, "token", session)
				if err != nil {
					return n
				}
				t.Cleanup(done)
				n++
			}
		}
		for _, c := range []struct {
			session string
			want    int
		}{{"first", 4}, {"second", 2}, {"third", 0}} {
			if got := taken(c.session); got != c.want {
				t.Errorf("the %s session has %d turns, want %d", c.session, got, c.want)
			}
		}
	})
}

// poster sends messages to a server as somebody, with the header that says who.
type poster struct {
	t   *testing.T
	url string
}

func (p poster) post(header, who, session, body string) *http.Response {
	p.t.Helper()
	req, err := http.NewRequestWithContext(p.t.Context(), "POST", p.url, strings.NewReader(body))
	if err != nil {
		p.t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	req.Header.Set(header, who)
	if session != "" {
		req.Header.Set("Mcp-Session-Id", session)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		p.t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, resp.Body)
	_ = resp.Body.Close()
	return resp
}

const listTools = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`

// TestManySessionsEndTheirOwn checks that a token that begins too many sessions ends its own oldest ones.
func TestManySessionsEndTheirOwn(t *testing.T) {
	o := newWorld(t).options()
	o.Locate, o.Import, o.Dir = nil, nil, ""
	s := mcp.New(o)
	s.MostSessions(4)
	p := poster{t, over(t, s, map[string]schemas.Principal{"a": {Operator: true}, "b": {Tenant: "acme"}}).URL}
	begin := func(who string) string {
		return p.post("Authorization", "Bearer "+who, "", initialize).Header.Get("Mcp-Session-Id")
	}
	a := begin("a")
	var b []string
	for range 12 {
		b = append(b, begin("b"))
	}
	if got := p.post("Authorization", "Bearer a", a, listTools).StatusCode; got != http.StatusOK {
		t.Errorf("the session of another token: %d", got)
	}
	if got := p.post("Authorization", "Bearer b", b[11], listTools).StatusCode; got != http.StatusOK {
		t.Errorf("the newest session: %d", got)
	}
	for end := time.Now().Add(2 * time.Minute); p.post("Authorization", "Bearer b", b[8], listTools).StatusCode != http.StatusNotFound; {
		if time.Now().After(end) {
			t.Fatal("the oldest session of the token with the most goes on")
		}
	}
}

// TestSessionOfALogin checks that a session belongs to who began it also where requests carry no token: the
// guard has found a browser's login.
func TestSessionOfALogin(t *testing.T) {
	o := newWorld(t).options()
	o.Locate, o.Import, o.Dir = nil, nil, ""
	h := mcp.New(o).Handler()
	logins := map[string]schemas.Principal{"operator": {Operator: true}, "agent": {Tenant: "acme", Agent: "b"}}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(w, r.WithContext(access.NewContext(r.Context(), logins[r.Header.Get("Login")])))
	}))
	t.Cleanup(srv.Close)
	p := poster{t, srv.URL}
	session := p.post("Login", "operator", "", initialize).Header.Get("Mcp-Session-Id")
	for who, want := range map[string]int{"operator": http.StatusOK, "agent": http.StatusForbidden} {
		if got := p.post("Login", who, session, listTools).StatusCode; got != want {
			t.Errorf("%s: %d, want %d", who, got, want)
		}
	}
}

// TestLastEventIDPastTheEnd checks that there is nothing after the greatest index that a client can name.
func TestLastEventIDPastTheEnd(t *testing.T) {
	s := mcp.NewStreams()
	ctx := t.Context()
	if err := s.Open(ctx, "s", "1"); err != nil {
		t.Fatal(err)
	}
	if err := s.Append(ctx, "s", "1", []byte("x")); err != nil {
		t.Fatal(err)
	}
	for _, index := range []int{0, 1, int(^uint(0) >> 1)} {
		for m, err := range s.After(ctx, "s", "1", index) {
			t.Error(fmt.Sprint("after ", index, ":"), string(m), err)
		}
	}
}
