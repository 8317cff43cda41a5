package node_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

// TestAnswersFitTheirDescription asks questions over HTTP and checks each answer against the schema that
// /openapi.json gives for it, as a client does whose types are made from that.
func TestAnswersFitTheirDescription(t *testing.T) {
	r := lookedAt(t)
	url := r.Endpoints().HTTP
	ask := func(method, path, body string) []byte {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		b, err := io.ReadAll(resp.Body)
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Errorf("%s %s %s: %s %v\n%.500s", method, path, body, resp.Status, err, b)
			return nil
		}
		return b
	}
	fits := described(t, ask("GET", "/openapi.json", ""))
	if fits("post /v1/find", map[string]any{"hits": "none"}) == nil {
		t.Error("any answer fits")
	}
	command := ask("POST", "/v1/find", `{"text": "redis-cli"}`)
	var found struct{ Hits []struct{ ID string } }
	if err := json.Unmarshal(command, &found); err != nil || len(found.Hits) != 1 {
		t.Fatalf("%v: %s", err, command)
	}
	id := found.Hits[0].ID
	for _, q := range []struct{ path, body string }{
		{"/v1/find", `{"text": "redis carts", "filters": {"exit": "ok", "since": "2001-01-01T00:00:00Z", "cwd": "/src"}}`},
		{"/v1/find", `{"text": "nothing of the kind"}`},
		{"/v1/search", `{"text": "redis"}`},
		{"/v1/search", `{"text": "", "filters": {"author": "nobody"}}`},
		{"/v1/search", `{"text": "redis", "mode": "meaning", "limit": 5.0}`},
		{"/v1/timeline", `{"limit": 3}`},
		{"/v1/stats", `{}`},
		{"/v1/insights", `{}`},
		{"/v1/around", `{"id": "` + id + `"}`},
		{"/v1/why", `{"id": "` + id + `"}`},
		{"/v1/stitch", `{"id": "` + id + `"}`},
		{"/v1/sessions", `{}`},
		{"/v1/look", `{"text": "carts"}`},
		{"/v1/look", `{"text": "nothing of the kind"}`},
		{"/v1/query", `{"text": "why are carts empty"}`},
		{"/v1/query", `{"text": "", "scope": {"session": "run-1"}}`},
		{"/v1/remembered", `{}`},
		{"/v1/announced", `{}`},
		{"/v1/brief", `{"workspace": "/src/shop"}`},
		{"/v1/recall", `{"workspace": "/src/shop", "on": "prompt", "text": "why are carts empty after a restart"}`},
		{"/v1/code/symbols", `{"text": "load cart"}`},
		{"/v1/code/callers", `{"symbol": "loadCart"}`},
		{"/v1/code/callees", `{"symbol": "loadCart"}`},
		{"/v1/code/impact", `{"symbol": "loadCart"}`},
		{"/v1/code/tests", `{"symbol": "loadCart"}`},
		{"/v1/code/owners", `{"subject": "cart.go"}`},
		{"/v1/code/routes", `{"method": "GET", "pattern": "/carts"}`},
		{"/v1/code/stale", `{}`},
		{"/v1/code/repositories", `{}`},
		{"/v1/code/snapshot-log", `{}`},
		{"/v1/code/snapshot-show", `{}`},
		{"/v1/code/retirable", `{"before": "2026-01-01T00:00:00Z"}`},
		{"/v1/context", `{"task": "carts are empty after a restart"}`},
		{"/v1/runtime/services", `{}`},
		{"/v1/runtime/edges", `{}`},
		{"/v1/runtime/stats", `{}`},
		{"/v1/runtime/series", `{"service": "cartservice"}`},
		{"/v1/runtime/traces", `{}`},
		{"/v1/runtime/traffic", `{}`},
		{"/v1/runtime/dead-routes", `{}`},
		{"/v1/replay/plan", `{"to": "` + id + `"}`},
		{"/v1/replay/runs", `{}`},
	} {
		b := ask("POST", q.path, q.body)
		var answer any
		if b == nil || json.Unmarshal(b, &answer) != nil {
			continue
		}
		if err := fits("post "+q.path, answer); err != nil {
			t.Errorf("%s %s: %v\n%.2000s", q.path, q.body, err, b)
		}
	}
}

// described returns a function that checks an answer against the schema that a description of the API
// has for its operation, such as "post /v1/find".
func described(t *testing.T, b []byte) func(operation string, answer any) error {
	t.Helper()
	var doc struct {
		Paths      map[string]map[string]json.RawMessage
		Components struct{ Schemas json.RawMessage }
	}
	if err := json.Unmarshal(bytes.ReplaceAll(b, []byte("#/components/schemas/"), []byte("#/$defs/")), &doc); err != nil {
		t.Fatal(err)
	}
	type ref struct {
		Ref string `json:"$ref"`
	}
	answers := map[string]ref{} // by operation
	for path, operations := range doc.Paths {
		for method, raw := range operations {
			var o struct {
				Responses map[string]struct {
					Content map[string]struct{ Schema ref }
				}
			}
			if err := json.Unmarshal(raw, &o); err != nil {
				continue // what all operations of a path share
			}
			if schema := o.Responses["200"].Content["application/json"].Schema; schema.Ref != "" {
				answers[method+" "+path] = schema
			}
		}
	}
	// The schemas are read once, as what an object with one property for each operation has to fit.
	all, err := json.Marshal(map[string]any{"properties": answers, "$defs": doc.Components.Schemas})
	if err != nil {
		t.Fatal(err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(all, &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(operation string, answer any) error {
		if _, ok := answers[operation]; !ok {
			return fmt.Errorf("the description has no answer of %s", operation)
		}
		return resolved.Validate(map[string]any{operation: answer})
	}
}
