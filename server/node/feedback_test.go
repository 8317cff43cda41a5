package node_test

import (
	"bytes"
	"encoding/json"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/query/context"
	"github.com/recountdb/recount/query/feedback"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/httpapi"
)

// TestFeedbackChangesContexts gives feedback over HTTP and asks for contexts of similar tasks: the next
// context of one's own tenant has what was useful higher, and what another tenant gives changes
// nothing. Code belongs to the default tenant, so that contexts are asked for by it.
func TestFeedbackChangesContexts(t *testing.T) {
	dir := t.TempDir()
	text, tokens := "tokens:\n", map[string]string{}
	for tenant, grants := range map[string][]string{"": {"code"}, "beta": nil} {
		tokens[tenant] = access.NewToken()
		entry, err := access.Format(access.Entry{SHA256: access.Hash(tokens[tenant]), Tenant: tenant, Workspaces: []string{"/a"}, Agent: "ada", Grants: grants})
		if err != nil {
			t.Fatal(err)
		}
		text += entry
	}
	cfg := config(filepath.Join(dir, "data"))
	cfg.HTTP.Token, cfg.HTTP.TokensFile = operatorToken, filepath.Join(dir, "tokens.yaml")
	cfg.Kafka.Listen, cfg.OTLP.GRPC, cfg.OTLP.HTTP = "none", "none", "none"
	if err := os.WriteFile(cfg.HTTP.TokensFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	r := start(t, cfg)
	client := func(token string) *httpapi.Client {
		c, err := httpapi.NewClient(r.Endpoints().HTTP, token, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	commit := &recountv1.CommitRecorded{Repository: "shop", Commit: strings.Repeat("c", 40), Message: "begin", Scope: recountv1.Scope_SCOPE_FULL}
	var events []schemas.Event
	for name, body := range map[string]string{
		"totals.go":   "package shop\n\n// Total rounds the sum of a cart.\nfunc Total() {}\n",
		"rounding.go": "package shop\n\n// Round rounds the sum of an invoice.\nfunc Round() {}\n",
		"ledger.go":   "package shop\n\n// Post writes an entry.\nfunc Post() {}\n",
	} {
		blob := source.BlobID([]byte(body), false)
		payload, err := proto.Marshal(&recountv1.SourceRevised{Repository: "shop", Blob: blob, Path: name, Size: int64(len(body)), ContentZstd: schemas.Compress([]byte(body))})
		if err != nil {
			t.Fatal(err)
		}
		events = append(events, schemas.Event{Type: schemas.TypeSourceRevised, Key: []byte("shop"), ContentType: schemas.ContentProto, Payload: payload})
		commit.Changes = append(commit.Changes, &recountv1.FileChange{Path: name, Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: blob, Size: int64(len(body))})
	}
	payload, err := proto.Marshal(commit)
	if err != nil {
		t.Fatal(err)
	}
	events = append(events, schemas.Event{Type: schemas.TypeCommitRecorded, Key: []byte("shop"), ContentType: schemas.ContentProto, Payload: payload})
	if _, err := r.Client.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.commits")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)

	// files returns the files for a task, the best first.
	files := func(token, task string) (paths []string) {
		t.Helper()
		resp, err := context.Question.Ask(t.Context(), client(token), context.Request{Task: task, Repository: "shop", Revision: strings.Repeat("c", 40), Budget: 2000})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range resp.Files {
			paths = append(paths, f.Path)
		}
		return paths
	}
	const first, second = "round the sum of the cart to whole cents", "the sum of the cart must round to cents"
	before := files(tokens[""], second)
	if slices.Index(before, "ledger.go") == 0 {
		t.Fatalf("ledger.go is first without feedback: %q", before)
	}
	give := func(token string) {
		t.Helper()
		given := feedback.Given{Session: "s1", Task: first, Repository: "shop", Useful: true, Subjects: []string{"file:ledger.go"}}
		body, err := json.Marshal(given)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, r.Endpoints().HTTP+"/v1/feedback", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		answer, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("POST /v1/feedback: %s", answer.Status)
		}
		if ends, err = r.Log().Ends(t.Context(), "recount.facts"); err != nil {
			t.Fatal(err)
		}
		r.waitFor(t, ends)
	}
	rank := func(paths []string) int {
		if i := slices.Index(paths, "ledger.go"); i >= 0 {
			return i
		}
		return math.MaxInt
	}
	give(tokens["beta"])
	if now := files(tokens[""], second); !slices.Equal(now, before) {
		t.Errorf("after another tenant's feedback: %q, before: %q", now, before)
	}
	give(tokens[""])
	if now := files(tokens[""], second); rank(now) >= rank(before) {
		t.Errorf("after one's own feedback: %q, before: %q", now, before)
	}
}
