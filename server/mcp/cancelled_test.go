package mcp_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/mcp"
)

// patientServer returns a server whose first call lasts until it is cancelled. It closes began when that
// call has begun.
func patientServer(t *testing.T) (s *mcp.Server, began chan struct{}) {
	t.Helper()
	o := newWorld(t).options()
	began = make(chan struct{})
	open, first := o.Open, true
	o.Open = func(ctx context.Context, writes bool) (api.Backend, func(), error) {
		if !first {
			return open(ctx, writes)
		}
		first = false
		close(began)
		<-ctx.Done()
		return nil, nil, ctx.Err()
	}
	return mcp.New(o), began
}

const (
	initialize = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	longCall   = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"symbols","arguments":{"text":"Total"}}}`
	cancelCall = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}`
)

// TestCancelledCallIsNotAnswered checks the rule of the specification 2025-06-18: a request that its client
// cancelled gets no response, and one with an id that nobody has asked by is answered later.
func TestCancelledCallIsNotAnswered(t *testing.T) {
	s, began := patientServer(t)
	in, client := io.Pipe()
	answers, out := io.Pipe()
	done := make(chan error, 1)
	go func() {
		err := s.Serve(context.Background(), in, out)
		_ = out.Close()
		done <- err
	}()
	go func() {
		send := func(lines ...string) {
			for _, line := range lines {
				_, _ = io.WriteString(client, line+"\n")
			}
		}
		send(initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`, strings.Replace(cancelCall, "7", "9", 1), longCall)
		<-began
		send(cancelCall, strings.Replace(longCall, `"id":7`, `"id":9`, 1), `{"jsonrpc":"2.0","id":"last","method":"ping"}`)
	}()
	lines := bufio.NewReader(answers)
	seen := map[string]bool{}
	for !seen["last"] || !seen["9"] {
		line, err := lines.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		switch {
		case strings.Contains(line, `"id":7`):
			t.Fatalf("the cancelled call is answered: %s", line)
		case strings.Contains(line, `"id":9`):
			if seen["9"] = true; !strings.Contains(line, "cart.Cart.Total") {
				t.Errorf("the call after it: %s", line)
			}
		case strings.Contains(line, `"id":"last"`):
			seen["last"] = true
		}
	}
	_ = client.Close()
	if err := <-done; err != nil {
		t.Error(err)
	}
	_ = answers.Close()
}

// TestCancelledCallEndsItsStream checks that a cancelled call over HTTP ends with an error that has a code.
func TestCancelledCallEndsItsStream(t *testing.T) {
	s, began := patientServer(t)
	srv := over(t, s, map[string]schemas.Principal{"": {Operator: true}})
	session := ""
	post := func(body string) *http.Response {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, srv.URL, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			r.Header.Set("Mcp-Session-Id", session)
			r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		return resp
	}
	read := func(resp *http.Response) string {
		t.Helper()
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	first := post(initialize)
	_ = read(first)
	session = first.Header.Get("Mcp-Session-Id")
	_ = read(post(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	call := make(chan string, 1)
	go func() { call <- read(post(longCall)) }()
	<-began
	_ = read(post(cancelCall))
	if got := <-call; !strings.Contains(got, `"code":-32800`) || !strings.Contains(got, "the call was cancelled") {
		t.Errorf("the cancelled call: %s", got)
	}
}
