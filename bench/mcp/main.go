// Command mcp measures what MCP adds to the same question over HTTP, and what an answer and the list
// of tools cost in bytes and tokens:
//
//	go -C bench run ./mcp -bin $PWD/bin REPOSITORY SYMBOL
//
// It starts a server and imports the newest commit of the git repository in the directory REPOSITORY;
// SYMBOL is a symbol of it that has callers. Both clients keep their connection; the calls alternate.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/bench/served"
	"github.com/recountdb/recount/internal/tokens"
)

const (
	warm  = 50
	times = 500
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "mcp:", err)
		os.Exit(1)
	}
}

func run() (err error) {
	bin := flag.String("bin", "../bin", "the folder with the programs of make")
	flag.Parse()
	if flag.NArg() != 2 {
		return errors.New("usage: mcp [-bin DIR] REPOSITORY SYMBOL")
	}
	repository, err := filepath.Abs(flag.Arg(0))
	if err != nil {
		return err
	}
	symbol, ctx := flag.Arg(1), context.Background()
	server, err := served.Start(ctx, *bin)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	if err := server.Run(ctx, "import", "git", "--wait", repository); err != nil {
		return err
	}
	return measure(client{url: server.URL}, symbol)
}

func measure(c client, symbol string) error {
	before := served.Load()
	if _, err := c.post("initialize", map[string]any{"protocolVersion": "2025-11-25", "capabilities": map[string]any{}, "clientInfo": map[string]any{"name": "bench", "version": "1"}}); err != nil {
		return err
	}
	if _, err := c.post("notifications/initialized", nil); err != nil {
		return err
	}
	list, err := c.post("tools/list", map[string]any{})
	if err != nil {
		return err
	}
	fmt.Printf("tools/list: %d bytes, %d tokens\n", len(list), tokens.Count(string(list)))

	question := map[string]any{"symbol": symbol, "limit": 31}
	call := map[string]any{"name": "calls", "arguments": map[string]any{"symbol": symbol}}
	var direct, through []time.Duration
	var plain, answer []byte
	for i := range warm + times {
		start := time.Now()
		if plain, err = c.ask(question); err != nil {
			return err
		}
		middle := time.Now()
		if answer, err = c.post("tools/call", call); err != nil {
			return err
		}
		if i >= warm {
			direct, through = append(direct, middle.Sub(start)), append(through, time.Since(middle))
		}
	}
	fmt.Printf("load %s before, %s after\n", before, served.Load())
	slices.Sort(direct)
	slices.Sort(through)
	at := func(d []time.Duration, p float64) time.Duration {
		return d[int(p*float64(len(d)-1))].Round(time.Microsecond)
	}
	for _, p := range []float64{0.5, 0.95, 0.99} {
		fmt.Printf("callers of %s, p%.0f of %d: HTTP %v, MCP %v, added %v\n", symbol, 100*p, times, at(direct, p), at(through, p), at(through, p)-at(direct, p))
	}
	var result struct {
		Content           []struct{ Text string }
		StructuredContent json.RawMessage
	}
	if err := json.Unmarshal(answer, &result); err != nil || len(result.Content) == 0 {
		return fmt.Errorf("an answer without text: %.200s", answer)
	}
	var minified bytes.Buffer
	if err := json.Compact(&minified, plain); err != nil {
		return err
	}
	fmt.Printf("the answer: JSON over HTTP %d tokens, text %d, structured content %d\n",
		tokens.Count(minified.String()), tokens.Count(result.Content[0].Text), tokens.Count(string(result.StructuredContent)))
	return nil
}

// client asks one server both ways.
type client struct {
	url, session string
	id           int
}

func (c *client) do(path string, body any, headers ...string) ([]byte, http.Header, error) {
	b, err := json.Marshal(body)
	if err != nil {
		return nil, nil, err
	}
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+path, bytes.NewReader(b))
	if err != nil {
		return nil, nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(headers); i += 2 {
		if headers[i+1] != "" {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	if token := os.Getenv("RECOUNT_TOKEN"); token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	out, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s: %s: %.300s", path, resp.Status, out)
	}
	return out, resp.Header, err
}

func (c *client) ask(question any) ([]byte, error) {
	out, _, err := c.do("/v1/code/callers", question)
	return out, err
}

// post sends one message, and returns the result of a request.
func (c *client) post(method string, params any) (json.RawMessage, error) {
	message := map[string]any{"jsonrpc": "2.0", "method": method}
	if params != nil {
		c.id++
		message["id"], message["params"] = c.id, params
	}
	out, header, err := c.do("/mcp", message, "Accept", "application/json, text/event-stream", "Mcp-Session-Id", c.session)
	if err != nil || params == nil {
		return nil, err
	}
	c.session = cmp.Or(c.session, header.Get("Mcp-Session-Id"))
	for line := range strings.Lines(string(out)) {
		data, found := strings.CutPrefix(line, "data: ")
		if !found || strings.TrimSpace(data) == "" { // an event without data names where to read on
			continue
		}
		var answer struct {
			Result json.RawMessage
			Error  *struct{ Message string }
		}
		if err := json.Unmarshal([]byte(data), &answer); err != nil {
			return nil, err
		}
		if answer.Error != nil {
			return nil, fmt.Errorf("%s: %s", method, answer.Error.Message)
		}
		if answer.Result != nil {
			return answer.Result, nil
		}
	}
	return nil, fmt.Errorf("%s: no answer in %.300s", method, out)
}
