package httpapi_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/httpapi"
)

// restricted returns a gate and the token of an agent that it admits.
func restricted(t *testing.T) (*access.Gate, string) {
	t.Helper()
	token := access.NewToken()
	entry, err := access.Format(access.Entry{SHA256: access.Hash(token), Tenant: "acme", Workspaces: []string{"/a"}, Agent: "claude"})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokens.yaml")
	if err := os.WriteFile(path, []byte("tokens:\n"+entry), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := access.OpenFile(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	return access.NewGate("s3cret", f), token
}

// TestEveryOperationSaysWhoMay checks for each operation in the API's description that the table of
// package access lists it and that the server enforces the table.
func TestEveryOperationSaysWhoMay(t *testing.T) {
	gate, token := restricted(t)
	srv, _ := serve(t, &fake{}, httpapi.Options{Gate: gate})
	var doc struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	if err := json.Unmarshal([]byte(description(t, "1")), &doc); err != nil {
		t.Fatal(err)
	}
	seen := 0
	for path, item := range doc.Paths {
		for method := range item {
			seen++
			method = strings.ToUpper(method)
			need, listed := access.PermissionOf(method + " " + path)
			if !listed {
				t.Errorf("%s %s: not in the table of operations", method, path)
			}
			for who, want := range map[string]struct {
				token string
				let   bool
			}{
				"nobody":    {"", need <= access.Public},
				"the agent": {token, need <= access.Authenticated},
			} {
				resp, body := request(t, srv, method, strings.ReplaceAll(path, "{id}", "0a"), strings.NewReader(`{}`),
					"Content-Type", "application/json", "Authorization", "Bearer "+want.token)
				refused := resp.StatusCode == 401 || strings.Contains(body, "the token may not")
				if refused == want.let {
					t.Errorf("%s %s by %s: %d %s", method, path, who, resp.StatusCode, body)
				}
			}
		}
	}
	if seen < 30 {
		t.Errorf("%d operations: the walk misses some", seen)
	}
	for _, path := range []string{"/", "/docs", "/openapi.json", "/openapi.yaml", "/openapi-3.0.json", "/nothing", "/v1/nothing"} {
		resp, _ := request(t, srv, "GET", path, nil, "Authorization", "Bearer "+token)
		if resp.StatusCode == 401 || resp.StatusCode == 403 {
			t.Errorf("GET %s: %d", path, resp.StatusCode)
		}
	}
}

func TestAppendOnesOwn(t *testing.T) {
	gate, token := restricted(t)
	f := &fake{}
	srv, _ := serve(t, f, httpapi.Options{Gate: gate})
	post := func(body string) (int, string) {
		resp, answer := request(t, srv, "POST", "/v1/events?type=user_message", strings.NewReader(body),
			"Content-Type", "application/x-ndjson", "Authorization", "Bearer "+token)
		return resp.StatusCode, answer
	}
	if status, body := post(`{"text":"hello"}`); status != 200 || len(f.events) != 1 || string(f.events[0].Payload) != `{"tenant":"acme","workspace":"/a","agent":"claude","text":"hello"}` {
		t.Errorf("%d %s: %+v", status, body, f.events)
	}
	f.events = nil
	status, body := post(`{"text":"mine"}` + "\n" + `{"text":"not mine","agent":"bob"}`)
	if status != 403 || !strings.Contains(body, `"body[1].agent"`) || !strings.Contains(body, `the token is of agent \"claude\"`) || len(f.events) != 0 {
		t.Errorf("%d %s: %d appended", status, body, len(f.events))
	}
}
