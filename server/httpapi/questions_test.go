package httpapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
)

// TestOffers checks that operations for which the process lacks the role are unavailable, whatever
// the request, and that those about operation, such as the status, still work.
func TestOffers(t *testing.T) {
	srv, _ := serve(t, &fake{}, httpapi.Options{Offers: func(tag string) error {
		if tag == httpapi.TagOperation {
			return nil
		}
		return fmt.Errorf("%w: not here: %s", api.ErrUnavailable, tag)
	}})
	for _, tc := range []struct{ method, path, body, want string }{
		{"POST", "/v1/events", `{"command":"ls"}`, "not here: events"},
		{"POST", "/v1/find", `{}`, "not here: questions"},
		{"POST", "/v1/why", `{"id":""}`, "not here: questions"},
		{"POST", "/v1/query", `{"text":"x"}`, "not here: questions"},
		{"GET", "/v1/intents", "", "not here: questions"},
		{"GET", "/v1/intents/abcd", "", "not here: questions"},
		{"GET", "/v1/objects", "", "not here: questions"},
		{"POST", "/v1/code/callers", `{"symbol":"x"}`, "not here: code"},
		{"POST", "/v1/code/export", `{}`, "not here: code"},
		{"POST", "/v1/runtime/traffic", `{}`, "not here: runtime"},
	} {
		resp, text := request(t, srv, tc.method, tc.path, strings.NewReader(tc.body), "Content-Type", "application/json")
		if resp.StatusCode != 503 || !strings.Contains(text, tc.want) {
			t.Errorf("%s %s: %d %s", tc.method, tc.path, resp.StatusCode, text)
		}
	}
	if resp, text := request(t, srv, "GET", "/v1/status", nil); resp.StatusCode != 200 {
		t.Errorf("status: %d %s", resp.StatusCode, text)
	}
}
