package node_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/source"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/look"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
)

// lookedAt is a node that has something of every kind about carts.
func lookedAt(t *testing.T) *running {
	t.Helper()
	cfg := config(t.TempDir())
	cfg.Kafka.Listen = "none"
	r := start(t, cfg)
	content := []byte("package shop\n\n// loadCart reads a cart from redis.\nfunc loadCart(id string) {}\n")
	file := &recountv1.SourceRevised{Repository: "shop", Blob: source.BlobID(content, false), Path: "cart.go", Size: int64(len(content)), ContentZstd: schemas.Compress(content)}
	commit := &recountv1.CommitRecorded{
		Repository: "shop", Commit: strings.Repeat("c", 40), Message: "carts", Scope: recountv1.Scope_SCOPE_FULL,
		Changes: []*recountv1.FileChange{{Path: "cart.go", Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: file.Blob, Size: file.Size}},
	}
	head := &recountv1.RefMoved{Repository: "shop", Ref: "HEAD", NewCommit: commit.Commit}
	events := []schemas.Event{
		protoEvent(t, schemas.TypeSourceRevised, file), protoEvent(t, schemas.TypeCommitRecorded, commit), protoEvent(t, schemas.TypeRefMoved, head),
		protoEvent(t, schemas.TypeSpansExported, served("cartservice")),
		{Type: schemas.TypeCommandExecuted, Payload: []byte(`{"command":"redis-cli flushall carts","cwd":"/src/shop","session":"s1","exit_code":0}`)},
		{Type: schemas.TypeUserMessage, Payload: []byte(`{"agent":"claude","workspace":"/src/shop","session":"run-1","text":"Why are carts empty after a restart?"}`)},
		{Type: schemas.TypeUserMessage, Payload: []byte(`{"tenant":"acme","agent":"eve","workspace":"/src/shop","session":"run-9","text":"Our own carts are secret: flamingo."}`)},
	}
	if _, err := r.Node.Append(t.Context(), events); err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.commands", "recount.commits", "recount.spans", "recount.agents")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	return r
}

func protoEvent(t *testing.T, typ string, m proto.Message) schemas.Event {
	t.Helper()
	payload, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return schemas.Event{Type: typ, ContentType: schemas.ContentProto, Payload: payload}
}

// served returns three requests to a service.
func served(service string) proto.Message {
	m := exported(service, 0, 3)
	for _, s := range m.ResourceSpans[0].ScopeSpans[0].Spans {
		s.Kind = tracepb.Span_SPAN_KIND_SERVER
	}
	return m
}

// TestLook checks the list over all kinds, its filters, and that a principal gets no more than it may
// see, in the hits, the counts and the proof.
func TestLook(t *testing.T) {
	r := lookedAt(t)
	ask := func(p schemas.Principal, q look.Request) look.Response {
		t.Helper()
		var resp look.Response
		if err := r.Node.Answer(access.NewContext(t.Context(), p), look.Question.Path, q, &resp); err != nil {
			t.Fatal(err)
		}
		return resp
	}
	kindsOf := func(resp look.Response) (all []string) {
		for _, h := range resp.Hits {
			all = append(all, h.Kind)
		}
		return all
	}
	operator := schemas.Principal{Operator: true}
	t.Run("one list", func(t *testing.T) {
		resp := ask(operator, look.Request{Text: "carts"})
		got := kindsOf(resp)
		for _, kind := range look.Kinds() {
			if !slices.Contains(got, kind) {
				t.Errorf("no hit of %s: %v", kind, got)
			}
		}
		if !resp.Sure || resp.Status != query.StatusOK || len(resp.Watermark) < 3 {
			t.Errorf("sure %v, %s, %v", resp.Sure, resp.Status, resp.Watermark)
		}
		for i, h := range resp.Hits {
			if i > 0 && h.Score > resp.Hits[i-1].Score {
				t.Errorf("%s (%v) after %v", h.Title, h.Score, resp.Hits[i-1].Score)
			}
			set := 0
			for _, has := range []bool{h.Command != nil, h.Symbol != nil, h.Operation != nil, h.Object != nil} {
				if has {
					set++
				}
			}
			if set != 1 || h.Title == "" || h.ID == "" {
				t.Errorf("hit %+v", h)
			}
		}
	})
	t.Run("the best of all kinds is first", func(t *testing.T) {
		for text, kind := range map[string]string{
			"flushall carts": look.Commands, "read a cart from redis": look.Code, "loadCart": look.Code, "cartservice": look.Runtime, "carts empty after a restart": look.Agents,
		} {
			resp := ask(operator, look.Request{Text: text})
			if len(resp.Hits) == 0 || resp.Hits[0].Kind != kind || !resp.Sure {
				t.Errorf("%q: sure %v, %+v", text, resp.Sure, resp.Hits)
			}
		}
	})
	t.Run("kinds show a part of the same list", func(t *testing.T) {
		all := ask(operator, look.Request{Text: "carts"})
		some := ask(operator, look.Request{Text: "carts", Kinds: []string{look.Code, look.Agents}})
		var want []look.Hit
		for _, h := range all.Hits {
			if h.Kind == look.Code || h.Kind == look.Agents {
				want = append(want, h)
			}
		}
		a, _ := json.Marshal(want)
		b, _ := json.Marshal(some.Hits)
		if string(a) != string(b) {
			t.Errorf("got %s\nwant %s", b, a)
		}
	})
	t.Run("filters leave out kinds", func(t *testing.T) {
		resp := ask(operator, look.Request{Text: "carts", Filters: commands.Filters{Exit: "ok"}})
		if got := kindsOf(resp); !slices.Equal(got, []string{look.Commands}) {
			t.Errorf("exit ok: %v", got)
		}
		resp = ask(operator, look.Request{Text: "carts", Filters: commands.Filters{Session: "run-1"}})
		if got := kindsOf(resp); !slices.Equal(got, []string{look.Agents}) || resp.Kinds[1].Left == "" {
			t.Errorf("session: %v %+v", got, resp.Kinds)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		resp := ask(operator, look.Request{Text: "zeppelin"})
		if len(resp.Hits) > 0 && resp.Hits[0].Sure || resp.Sure || resp.Hint == "" {
			t.Errorf("%+v", resp)
		}
	})
	for _, x := range []struct {
		name string
		p    schemas.Principal
		sees []string
	}{
		{"a tenant sees its own agents", schemas.Principal{Tenant: "acme", Workspaces: []string{"*"}, Agent: "eve"}, []string{look.Agents}},
		{"grants of another tenant count for nothing", schemas.Principal{Tenant: "acme", Workspaces: []string{"*"}, Grants: []string{schemas.GrantCommands, schemas.GrantCode, schemas.GrantRuntime}}, []string{look.Agents}},
		{"a grant shows a kind", schemas.Principal{Workspaces: []string{"/src/shop"}, Grants: []string{schemas.GrantCode}}, []string{look.Code, look.Agents}},
		{"commands need all workspaces", schemas.Principal{Workspaces: []string{"/src/shop"}, Grants: []string{schemas.GrantCommands}}, []string{look.Agents}},
		{"all grants", schemas.Principal{Workspaces: []string{"*"}, Grants: []string{schemas.GrantCommands, schemas.GrantCode, schemas.GrantRuntime}}, look.Kinds()},
		{"nobody", schemas.Principal{Tenant: "other", Workspaces: []string{"*"}}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			resp := ask(x.p, look.Request{Text: "carts"})
			var got []string
			for _, k := range resp.Kinds {
				if k.Found > 0 {
					got = append(got, k.Kind)
				}
				if k.Left != "" && k.Found > 0 || k.Left == "" && !slices.Contains(x.sees, k.Kind) && k.Kind != look.Agents {
					t.Errorf("%+v", k)
				}
			}
			if !slices.Equal(got, x.sees) {
				t.Errorf("sees %v, want %v", got, x.sees)
			}
			b, err := json.Marshal(resp)
			if err != nil {
				t.Fatal(err)
			}
			mine := x.p.Tenant == "acme"
			if strings.Contains(string(b), "flamingo") != mine || strings.Contains(string(b), "restart") == (x.p.Tenant != "") {
				t.Errorf("another tenant's words, or not one's own: %s", b)
			}
		})
	}
}
