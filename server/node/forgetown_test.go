package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/httpapi"
)

// TestAgentsForgetTheirOwn checks that a token with the grant erase erases what its agent appended,
// by position, session or pattern, and neither affects nor learns of anything else.
func TestAgentsForgetTheirOwn(t *testing.T) {
	dir, text, tokens := t.TempDir(), "tokens:\n", map[string]string{}
	for _, e := range []access.Entry{
		{Tenant: "acme", Workspaces: []string{"/a"}, Agent: "ada", Grants: []string{"erase"}},
		{Tenant: "acme", Workspaces: []string{"/a"}, Agent: "bob"},
		{Tenant: "beta", Workspaces: []string{"/a"}, Agent: "ada"},
	} {
		name := e.Tenant + " " + e.Agent
		tokens[name] = access.NewToken()
		e.SHA256 = access.Hash(tokens[name])
		s, err := access.Format(e)
		if err != nil {
			t.Fatal(err)
		}
		text += s
	}
	cfg := config(filepath.Join(dir, "data"))
	cfg.HTTP.Token, cfg.HTTP.TokensFile = operatorToken, filepath.Join(dir, "tokens.yaml")
	cfg.Kafka.Listen, cfg.OTLP.GRPC, cfg.OTLP.HTTP = "none", "none", "none"
	if err := os.WriteFile(cfg.HTTP.TokensFile, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	n := start(t, cfg)
	client := func(token string) *httpapi.Client {
		c, err := httpapi.NewClient(n.Endpoints().HTTP, token, nil)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	ada, operator := client(tokens["acme ada"]), client(operatorToken)
	at := map[string]schemas.Position{}
	say := func(c *httpapi.Client, name string, e schemas.Event) {
		t.Helper()
		out, err := c.Append(t.Context(), []schemas.Event{e})
		if err != nil {
			t.Fatal(err)
		}
		at[name] = out[0].Position
	}
	shared := schemas.NewCanon("test").String("shared").ID()
	for name, token := range tokens {
		say(client(token), name, schemas.Event{ID: shared, Type: schemas.TypeUserMessage, Payload: fmt.Appendf(nil, `{"session":"s","text":"the word of %s"}`, name)})
	}
	// A command with the same id, and its outcome: the agent chose the id.
	say(operator, "command", schemas.Event{ID: shared, Type: schemas.TypeCommandExecuted, Payload: []byte(`{"command":"echo the word"}`)})
	say(operator, "outcome", schemas.Event{Type: schemas.TypeOutcomeObserved, Payload: fmt.Appendf(nil, `{"command_event_id":%q,"exit_code":0,"output_tail":"the word"}`, shared)})

	for _, who := range []string{"acme bob", "beta ada"} {
		if _, err := client(tokens[who]).Forget(t.Context(), api.ForgetRequest{Events: []string{at[who].String()}}, nil); err == nil || !strings.Contains(err.Error(), "the token may not") || !strings.Contains(err.Error(), "erase") {
			t.Errorf("%s without the grant: %v", who, err)
		}
	}
	for name, pos := range at {
		if name == "acme ada" {
			continue
		}
		r, err := ada.Forget(t.Context(), api.ForgetRequest{Events: []string{pos.String()}}, nil)
		nobody, err2 := ada.Forget(t.Context(), api.ForgetRequest{Events: []string{"recount.agents/0/999"}}, nil)
		if err != nil || err2 != nil || r.Events != 0 || len(r.Missing) != 1 || len(nobody.Missing) != 1 || r.Kept+r.Before != 0 {
			t.Errorf("of %s: %+v %v %v", name, r, err, err2)
		}
	}
	for _, ask := range []api.ForgetRequest{
		{Pattern: "the word", DryRun: true},
		{Session: "s", DryRun: true},
		{Events: []string{shared.String()}, DryRun: true},
		{Pattern: "the word", DryRun: true, Topics: []string{"commands"}},
		{Pattern: "the word", Author: "root"},
	} {
		r, err := ada.Forget(t.Context(), ask, nil)
		if err != nil || r.Events != 1 || len(r.Sample) != 1 || r.Sample[0].Position != at["acme ada"] {
			t.Errorf("%+v: %+v %v", ask, r, err)
		}
	}
	for name, pos := range at {
		lr, err := n.Log().Read(t.Context(), pos)
		if err != nil {
			t.Fatal(err)
		}
		if _, erased := lr.Erased(); erased != (name == "acme ada") {
			t.Errorf("%s: erased %t", name, erased)
		}
	}
}
