package httpapi_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/query/wire"
	"github.com/recountdb/recount/server/httpapi"
)

// TestCompactAnswers asks for answers in each codec: one that has a payload of its own, and one whose
// fields are its payload.
func TestCompactAnswers(t *testing.T) {
	srv, _ := serve(t, &fake{}, httpapi.Options{})
	var calls code.CallsResponse
	calls.Symbol.Name = "code/callers of Serve"
	traffic := runtime.TrafficResponse{Operations: []runtime.Traffic{{Service: "runtime/traffic of shop"}}}
	for _, c := range []struct {
		path, body string
		want       wire.Payload
	}{
		{"/v1/code/callers", `{"symbol":"Serve"}`, wire.OfAny("callers", calls)},
		{"/v1/runtime/traffic", `{"service":"shop"}`, wire.OfAny("traffic", traffic)},
	} {
		for media, codec := range map[string]string{
			"text/plain":                           wire.Text,
			"application/vnd.recount.compact":      wire.Binary,
			"application/vnd.recount.compact+json": wire.JSON,
		} {
			resp, body := request(t, srv, "POST", c.path, strings.NewReader(c.body), "Accept", media, "Content-Type", "application/json")
			if got := resp.Header.Get("Content-Type"); resp.StatusCode != http.StatusOK || got != media {
				t.Errorf("%s %s: %d %s", c.path, media, resp.StatusCode, got)
			}
			want, err := wire.Builtin().EncodeWith(codec, c.want)
			if d := cmp.Diff(string(want), body); d != "" || err != nil {
				t.Errorf("%s %s: %v %s", c.path, media, err, d)
			}
		}
		for _, accept := range []string{"", "*/*", "application/json", "application/json, text/plain;q=0.5"} {
			resp, body := request(t, srv, "POST", c.path, strings.NewReader(c.body), "Accept", accept, "Content-Type", "application/json")
			if got := resp.Header.Get("Content-Type"); got != "application/json" || !json.Valid([]byte(body)) || strings.Contains(body, "question") {
				t.Errorf("%s %q: %s %s", c.path, accept, got, body)
			}
		}
	}
}

// TestCompactProblems checks that problems are JSON whatever is accepted, and that nothing else is
// asked or answered in the codecs.
func TestCompactProblems(t *testing.T) {
	srv, _ := serve(t, &fake{}, httpapi.Options{})
	for _, c := range []struct {
		method, path, body, contentType, accept string
		status                                  int
	}{
		{"POST", "/v1/code/impact", `{"symbol":"x"}`, "application/json", "text/plain", http.StatusNotFound},
		{"POST", "/v1/code/callers", `{"symbol":7}`, "application/json", "application/vnd.recount.compact", http.StatusUnprocessableEntity},
		{"POST", "/v1/code/callers", `# callers`, "text/plain", "application/json", http.StatusUnsupportedMediaType},
		{"POST", "/v1/code/callers", `{"symbol":"x"}`, "application/json", "text/html", http.StatusNotAcceptable},
		{"GET", "/v1/status", "", "", "text/plain", http.StatusNotAcceptable},
	} {
		resp, body := request(t, srv, c.method, c.path, strings.NewReader(c.body), "Accept", c.accept, "Content-Type", c.contentType)
		var problem struct {
			Status int `json:"status"`
		}
		if err := json.Unmarshal([]byte(body), &problem); err != nil || problem.Status != c.status || resp.StatusCode != c.status {
			t.Errorf("%+v: %d %s", c, resp.StatusCode, body)
		}
		if got := resp.Header.Get("Content-Type"); got != "application/problem+json" {
			t.Errorf("%+v: content type %q", c, got)
		}
	}
	// What curl sends without a header.
	_, body := request(t, srv, "POST", "/v1/code/callers", strings.NewReader(`{"symbol":"x"}`), "Content-Type", "application/x-www-form-urlencoded")
	if !strings.Contains(body, "want content-type: application/json") {
		t.Errorf("a form is answered %s", body)
	}
}
