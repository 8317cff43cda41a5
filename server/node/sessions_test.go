package node_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/sessions"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
)

// TestSessions checks how commands and agents' events become sessions, their order, pages and
// filters, and that a principal gets only what it sees.
func TestSessions(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Kafka.Listen = "none"
	r := start(t, cfg)
	at := func(minute int) string {
		return time.Date(2026, 3, 1, 12, minute, 0, 0, time.UTC).Format(time.RFC3339)
	}
	command := func(minute int, session, user, author, host, text string) schemas.Event {
		return schemas.Event{Type: schemas.TypeCommandExecuted, Payload: fmt.Appendf(nil, `{"command":%q,"cwd":"/src/app","workspace":"/src/app","session":%q,"user":%q,"author":%q,"host":%q,"started_at":%q,"exit_code":0}`, text, session, user, author, host, at(minute))}
	}
	said := func(minute int, typ, tenant, session, agent, text string) schemas.Event {
		return schemas.Event{Type: typ, Payload: fmt.Appendf(nil, `{"tenant":%q,"agent":%q,"workspace":"/src/app","session":%q,"occurred_at":%q,"text":%q}`, tenant, agent, session, at(minute), text)}
	}
	_, err := r.Node.Append(t.Context(), []schemas.Event{
		command(1, "1", "ada", "", "laptop", "make build"), command(2, "1", "ada", "", "laptop", "make test"),
		command(3, "1", "ada", "", "server", "uptime"), // another shell of the same name
		command(4, "", "ada", "", "laptop", "no session"),
		said(5, schemas.TypeAssistantMessage, "", "run-1", "claude", "On it."), said(4, schemas.TypeUserMessage, "", "run-1", "claude", "Fix the checkout"),
		command(6, "run-1", "ada", "claude", "laptop", "go test ./..."),
		said(7, schemas.TypeUserMessage, "acme", "run-1", "eve", "flamingo"),
		{Type: schemas.TypeTaskStarted, Payload: fmt.Appendf(nil, `{"agent":"zoe","workspace":"/src/app","session":"run-0","occurred_at":%q,"task":{"id":"T-1","title":"Tidy up"}}`, at(0))},
		said(8, schemas.TypeUserMessage, "", "run-2", "bob", strings.Repeat("long ", 100)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.commands", "recount.agents")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	ask := func(p schemas.Principal, q sessions.Request) sessions.Response {
		t.Helper()
		var resp sessions.Response
		if err := r.Node.Answer(access.NewContext(t.Context(), p), sessions.Question.Path, q, &resp); err != nil {
			t.Fatal(err)
		}
		return resp
	}
	told := func(resp sessions.Response) (all []string) {
		for _, s := range resp.Sessions {
			about := s.About
			if len(about) > 20 {
				about = about[:20] + "…"
			}
			all = append(all, fmt.Sprintf("%s %s@%s %d/%d %s", s.Session, s.Author, s.Host, s.Commands, s.Objects, about))
		}
		return all
	}
	operator := schemas.Principal{Operator: true}
	const zoe, ada, server, claude, eve, bob = "run-0 zoe@ 0/1 Tidy up", "1 ada@laptop 2/0 make test", "1 ada@server 1/0 uptime", "run-1 claude@ 1/2 Fix the checkout", "run-1 eve@ 0/1 flamingo", "run-2 bob@ 0/1 long long long long …"
	for name, x := range map[string]struct {
		p    schemas.Principal
		q    sessions.Request
		want []string
	}{
		"all, the newest first":    {operator, sessions.Request{}, []string{bob, eve, claude, server, ada, zoe}},
		"of an agent":              {operator, sessions.Request{Author: "claude"}, []string{claude}},
		"of a person":              {operator, sessions.Request{Author: "ada"}, []string{server, ada}},
		"with commands":            {operator, sessions.Request{Kind: sessions.KindCommands}, []string{"run-1 claude@ 1/0 go test ./...", server, ada}},
		"of agents":                {operator, sessions.Request{Kind: sessions.KindAgents}, []string{bob, eve, "run-1 claude@ 0/2 Fix the checkout", zoe}},
		"since a time":             {operator, sessions.Request{Since: time.Date(2026, 3, 1, 12, 6, 0, 0, time.UTC)}, []string{bob, eve, "run-1 claude@ 1/0 go test ./..."}},
		"until a time":             {operator, sessions.Request{Until: time.Date(2026, 3, 1, 12, 2, 0, 0, time.UTC)}, []string{"1 ada@laptop 1/0 make build", zoe}},
		"of a workspace":           {operator, sessions.Request{Workspace: "/nowhere"}, nil},
		"a tenant sees its own":    {schemas.Principal{Tenant: "acme", Workspaces: []string{"*"}, Grants: []string{schemas.GrantCommands}}, sessions.Request{}, []string{eve}},
		"another tenant":           {schemas.Principal{Tenant: "other", Workspaces: []string{"*"}}, sessions.Request{}, nil},
		"without commands":         {schemas.Principal{Workspaces: []string{"/src/app"}}, sessions.Request{}, []string{bob, "run-1 claude@ 0/2 Fix the checkout", zoe}},
		"with commands of all":     {schemas.Principal{Workspaces: []string{"*"}, Grants: []string{schemas.GrantCommands}}, sessions.Request{}, []string{bob, claude, server, ada, zoe}},
		"with commands of some":    {schemas.Principal{Workspaces: []string{"/src/app"}, Grants: []string{schemas.GrantCommands}}, sessions.Request{Kind: sessions.KindCommands}, nil},
		"commands of nobody's":     {operator, sessions.Request{Author: "eve", Kind: sessions.KindCommands}, nil},
		"more than there are":      {operator, sessions.Request{Limit: 1000, Author: "bob"}, []string{bob}},
		"after the last of a page": {operator, sessions.Request{After: "0/x"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			resp := ask(x.p, x.q)
			if got := told(resp); !slices.Equal(got, x.want) {
				t.Errorf("got %q\nwant %q", got, x.want)
			}
			if b, _ := json.Marshal(resp); strings.Contains(string(b), "flamingo") && !slices.Contains(x.want, eve) {
				t.Errorf("another tenant's: %s", b)
			}
			if empty := len(x.want) == 0 && x.q.After == ""; empty && resp.Hint == "" {
				t.Error("no reason")
			}
		})
	}
	t.Run("pages", func(t *testing.T) {
		want := told(ask(operator, sessions.Request{}))
		for limit := 1; limit <= 6; limit++ {
			var got []string
			q := sessions.Request{Limit: limit}
			for {
				resp := ask(operator, q)
				if got = append(got, told(resp)...); resp.Total != len(want) || resp.Truncated != len(want)-len(got) {
					t.Errorf("limit %d: %d in all, %d after this page", limit, resp.Total, resp.Truncated)
				}
				if q.After = resp.Next; q.After == "" {
					break
				}
				if strings.ContainsFunc(q.After, func(r rune) bool { return r <= ' ' }) {
					t.Errorf("the place %q is not printed as it is", q.After)
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("limit %d: %q", limit, got)
			}
		}
	})
}

// TestRepositories checks the list of repositories, its filters and pages.
func TestRepositories(t *testing.T) {
	r := lookedAt(t)
	ask := func(q code.RepositoriesRequest) code.RepositoriesResponse {
		t.Helper()
		var resp code.RepositoriesResponse
		if err := r.Node.Answer(t.Context(), code.RepositoriesQuestion.Path, q, &resp); err != nil {
			t.Fatal(err)
		}
		return resp
	}
	resp := ask(code.RepositoriesRequest{})
	if len(resp.Repositories) != 1 || resp.Total != 1 || resp.Next != "" {
		t.Fatalf("%+v", resp)
	}
	x := resp.Repositories[0]
	if x.Repo != "shop" || x.Commits != 1 || x.Graphs != 1 || x.Head == nil || x.Head.Commit != strings.Repeat("c", 40) || x.Newest == nil || x.Newest.Subject != "carts" {
		t.Errorf("%+v", x)
	}
	if resp := ask(code.RepositoriesRequest{Author: "nobody"}); len(resp.Repositories) != 0 || resp.Hint == "" {
		t.Errorf("%+v", resp)
	}
	if resp := ask(code.RepositoriesRequest{After: "shop"}); len(resp.Repositories) != 0 || resp.Total != 1 {
		t.Errorf("%+v", resp)
	}
	var none code.RepositoriesResponse
	if err := r.Node.Answer(t.Context(), code.RepositoriesQuestion.Path, code.RepositoriesRequest{After: "other"}, &none); err == nil {
		t.Error("a place that no page named is accepted")
	}
}

// TestNewestOfASecond checks that of commits of the same second the child is the newest, whatever
// their hashes are.
func TestNewestOfASecond(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Kafka.Listen = "none"
	r := start(t, cfg)
	at := timestamppb.New(time.Date(2026, 11, 20, 11, 40, 0, 0, time.UTC))
	var events []schemas.Event
	commit := ""
	for i, letter := range []string{"c", "a", "b"} {
		parents := []string{}
		if commit != "" {
			parents = append(parents, commit)
		}
		commit = strings.Repeat(letter, 40)
		events = append(events, protoEvent(t, schemas.TypeCommitRecorded, &recountv1.CommitRecorded{
			Repository: "shop", Commit: commit, Parents: parents, Message: fmt.Sprintf("step %d", i), Scope: recountv1.Scope_SCOPE_METADATA,
			Author: &recountv1.Signature{Name: "ada", Time: at},
		}))
	}
	if _, err := r.Node.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.commits")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	var resp code.RepositoriesResponse
	if err := r.Node.Answer(t.Context(), code.RepositoriesQuestion.Path, code.RepositoriesRequest{}, &resp); err != nil {
		t.Fatal(err)
	}
	if len(resp.Repositories) != 1 || resp.Repositories[0].Commits != 3 || resp.Repositories[0].Newest.Subject != "step 2" {
		t.Errorf("%+v, newest %+v", resp.Repositories, resp.Repositories[0].Newest)
	}
}
