package httpapi_test

import (
	"encoding/json"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/query/code"
	packing "github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/server/httpapi"
)

// TestOpenAPI checks what a linter would, so that the build needs no linter.
func TestOpenAPI(t *testing.T) {
	srv, _ := serve(t, &fake{}, httpapi.Options{Version: "1.2.3"})
	resp, body := request(t, srv, "GET", "/openapi.json", nil)
	if resp.StatusCode != 200 {
		t.Fatal(resp.Status)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(body), &doc); err != nil {
		t.Fatal(err)
	}
	info := doc["info"].(map[string]any)
	if doc["openapi"] != "3.1.0" || info["version"] != "1.2.3" || info["license"] == nil || info["description"] == nil {
		t.Errorf("head: %v %v", doc["openapi"], info)
	}
	components := doc["components"].(map[string]any)["schemas"].(map[string]any)

	shared := doc["components"].(map[string]any)["responses"].(map[string]any)
	ids := map[string]bool{}
	for path, item := range doc["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			o := op.(map[string]any)
			where := method + " " + path
			id, _ := o["operationId"].(string)
			if !regexp.MustCompile(`^[a-z][A-Za-z]+$`).MatchString(id) || ids[id] {
				t.Errorf("%s: operationId %q", where, id)
			}
			ids[id] = true
			for _, field := range []string{"summary", "description"} {
				if s, _ := o[field].(string); s == "" {
					t.Errorf("%s: no %s", where, field)
				}
			}
			if tags, _ := o["tags"].([]any); len(tags) != 1 {
				t.Errorf("%s: tags %v", where, o["tags"])
			}
			responses := o["responses"].(map[string]any)
			failures := 0
			for _, status := range []string{"403", "421", "429", "431", "503"} {
				if responses[status] == nil {
					t.Errorf("%s: %s is not described", where, status)
				}
			}
			if o["requestBody"] != nil && responses["415"] == nil {
				t.Errorf("%s: 415 is not described", where)
			}
			for status, r := range responses {
				if ref, ok := r.(map[string]any)["$ref"].(string); ok {
					r = shared[strings.TrimPrefix(ref, "#/components/responses/")]
				}
				content, _ := r.(map[string]any)["content"].(map[string]any)
				if len(content) == 0 {
					t.Errorf("%s: %s has no content", where, status)
				}
				for media, c := range content {
					if c.(map[string]any)["schema"] == nil {
						t.Errorf("%s: %s %s has no schema", where, status, media)
					}
					// net/http itself refuses headers that are too large.
					if status[0] != '2' && media != "application/problem+json" && status != "431" {
						t.Errorf("%s: %s is %s", where, status, media)
					}
				}
				if status[0] != '2' {
					failures++
				}
			}
			if responses["200"] == nil || failures == 0 {
				t.Errorf("%s: responses %v", where, responses)
			}
			params, _ := o["parameters"].([]any)
			for _, p := range params {
				if s, _ := p.(map[string]any)["description"].(string); s == "" {
					t.Errorf("%s: parameter %v has no description", where, p.(map[string]any)["name"])
				}
			}
		}
	}
	for _, want := range []string{"appendEvents", "find", "why", "stitch", "diff", "insights", "stats", "codeSymbols", "codeCallers", "codeImpact", "show", "scan", "status", "rebuild", "verify", "healthz", "readyz"} {
		if !ids[want] {
			t.Errorf("no operation %s", want)
		}
	}
	for _, path := range slices.Concat(evidence.Questions.Paths(), packing.Questions.Paths(), code.Questions.Paths(), runtime.Questions.Paths()) {
		if doc["paths"].(map[string]any)["/v1/"+path] == nil {
			t.Errorf("question %s is not served", path)
		}
	}
	for name, s := range components {
		props, _ := s.(map[string]any)["properties"].(map[string]any)
		for field, p := range props {
			if strings.HasPrefix(name, "Error") {
				continue // added by huma
			}
			if m := p.(map[string]any); m["description"] == nil && m["$ref"] == nil {
				t.Errorf("schema %s.%s has no description", name, field)
			}
		}
	}
	for _, ref := range regexp.MustCompile(`"#/components/schemas/([^"]+)"`).FindAllStringSubmatch(body, -1) {
		if components[ref[1]] == nil {
			t.Errorf("reference to no schema: %s", ref[1])
		}
	}
	if same := description(t, "1.2.3"); same != body {
		t.Errorf("description without a backend: %s", same)
	}
}

// description returns the description of the API that a server without a backend gives.
func description(t *testing.T, version string) string {
	t.Helper()
	w := httptest.NewRecorder()
	httpapi.New(nil, httpapi.Options{Version: version}).ServeHTTP(w, httptest.NewRequest("GET", "http://127.0.0.1/openapi.json", nil))
	if w.Code != 200 {
		t.Fatalf("%d: %s", w.Code, w.Body)
	}
	return w.Body.String()
}

func TestDocsNeedNothingFromOutside(t *testing.T) {
	srv, _ := serve(t, &fake{}, httpapi.Options{})
	resp, body := request(t, srv, "GET", "/docs", nil)
	if resp.StatusCode != 200 || !strings.Contains(body, "POST /v1/find") {
		t.Fatalf("%d %s", resp.StatusCode, body)
	}
	if regexp.MustCompile(`(src|href)="https?://|<script`).MatchString(body) {
		t.Error("the page asks for something from outside")
	}
	if n := strings.Count(body, "<p>431: "); n != 1 {
		t.Errorf("431 is explained %d times", n)
	}
	if resp, body := request(t, srv, "GET", "/openapi.yaml", nil); resp.StatusCode != 200 || !strings.Contains(body, "operationId: find") {
		t.Errorf("openapi.yaml: %d", resp.StatusCode)
	}
}
