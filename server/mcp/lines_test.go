package mcp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/server/mcp"
)

// TestEndOfInputWaitsForAnswers sends requests and ends the input at once, as a pipe does: all are answered.
func TestEndOfInputWaitsForAnswers(t *testing.T) {
	for name, rest := range map[string][]string{
		"nothing was asked":      nil,
		"a call":                 {strings.Replace(longCall, `"id":7`, `"id":9`, 1)},
		"without a line break":   {strings.Replace(longCall, `"id":7`, `"id":9`, 1), `{"jsonrpc":"2.0","id":"p","method":"ping"}`},
		"a batch":                {`[` + strings.Replace(longCall, `"id":7`, `"id":9`, 1) + `,{"jsonrpc":"2.0","id":"p","method":"ping"}]`},
		"a cancelled call":       {longCall, cancelCall, `{"jsonrpc":"2.0","id":"p","method":"ping"}`},
		"a subscription":         {`{"jsonrpc":"2.0","id":5,"method":"subscriptions/listen","params":{}}`, `{"jsonrpc":"2.0","id":"p","method":"ping"}`},
		"a call that is refused": {`{"jsonrpc":"2.0","id":"p","method":"no/such/method"}`},
	} {
		t.Run(name, func(t *testing.T) {
			all := append([]string{initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`}, rest...)
			sent := strings.Join(all, "\n")
			var got strings.Builder
			if err := mcp.New(newWorld(t).options()).Serve(t.Context(), io.NopCloser(strings.NewReader(sent)), toBuilder{&got}); err != nil {
				t.Error(err)
			}
			if !strings.Contains(got.String(), `"serverInfo"`) {
				t.Errorf("initialize is not answered: %s", got.String())
			}
			if strings.Contains(sent, `"id":9`) && !strings.Contains(got.String(), "cart.Cart.Total") {
				t.Errorf("the call is not answered: %s", got.String())
			}
			if strings.Contains(sent, `"id":"p"`) && !strings.Contains(got.String(), `"id":"p"`) {
				t.Errorf("the last request is not answered: %s", got.String())
			}
		})
	}
}

type toBuilder struct{ *strings.Builder }

func (toBuilder) Close() error { return nil }

// TestStuckClient has clients that do not read their answers: the context ends the connection at any
// time, and a stream that was closed ends it by itself.
func TestStuckClient(t *testing.T) {
	sent := strings.Join([]string{initialize, longCall, `{"jsonrpc":"2.0","id":8,"method":"tools/list"}`, ""}, "\n")
	for name, goesOn := range map[string]bool{"input that ended": false, "input that goes on": true} {
		t.Run(name, func(t *testing.T) {
			in, client := io.Pipe()
			_, out := io.Pipe()
			ctx, stop := context.WithCancel(t.Context())
			done := make(chan error, 1)
			go func() { done <- mcp.New(newWorld(t).options()).Serve(ctx, in, out) }()
			_, _ = io.WriteString(client, sent)
			if !goesOn {
				_ = client.Close()
			}
			select {
			case err := <-done:
				t.Fatalf("it ended before: %v", err)
			case <-time.After(50 * time.Millisecond):
			}
			stop()
			if err := <-done; err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("a closed stream", func(t *testing.T) {
		s, _ := patientServer(t) // its call lasts until it is cancelled
		answers, out := io.Pipe()
		client := bufio.NewReader(answers)
		in := strings.NewReader(strings.Join([]string{initialize, longCall, `{"jsonrpc":"2.0","id":8,"method":"tools/list"}`}, "\n"))
		done := make(chan error, 1)
		go func() { done <- s.Serve(context.Background(), io.NopCloser(in), out) }()
		if _, err := client.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		_ = answers.Close()
		if err := <-done; !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	})
}
