package node_test

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
	"github.com/recountdb/recount/server/api"
)

// TestReadable checks which events and commands each principal may read, and that whatever it may not
// see looks as if it were not there, whether it exists, was erased or never was.
func TestReadable(t *testing.T) {
	cfg := config(t.TempDir())
	cfg.Kafka.Listen = "none"
	r := start(t, cfg)
	id := func(s string) schemas.EventID {
		t.Helper()
		id, err := schemas.ParseEventID(s)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	command := func(of schemas.EventID, workspace string) schemas.Event {
		return schemas.Event{ID: of, Type: schemas.TypeCommandExecuted, Payload: []byte(`{"command":"make ` + workspace + `","workspace":"` + workspace + `","exit_code":0}`)}
	}
	message := func(payload string) schemas.Event {
		return schemas.Event{Type: schemas.TypeUserMessage, Payload: []byte(payload)}
	}
	names := []string{"command a", "command b", "span", "commit", "claude in a", "claude alone", "acme", "unknown type", "judged", "erased"}
	out, err := r.Node.Append(t.Context(), []schemas.Event{
		command(id("abcdef01-0000-8000-8000-000000000001"), "/a"),
		command(id("abcdef01-0000-8000-8000-000000000002"), "/b"),
		protoEvent(t, schemas.TypeSpansExported, exported("carts", 0, 1)),
		protoEvent(t, schemas.TypeCommitRecorded, &recountv1.CommitRecorded{Repository: "shop", Commit: strings.Repeat("c", 40), Message: "m", Scope: recountv1.Scope_SCOPE_FULL}),
		message(`{"agent":"claude","workspace":"/a","text":"for all of a"}`),
		message(`{"agent":"claude","workspace":"/a","text":"for me","visibility":"VISIBILITY_PRIVATE"}`),
		message(`{"tenant":"acme","agent":"eve","workspace":"/a","text":"flamingo"}`),
		{Type: "dream_had", Topic: schemas.TopicAgents, Payload: []byte(`{"agent":"claude","workspace":"/a","text":"sheep"}`)},
		{Type: schemas.TypeFeedbackGiven, Payload: []byte(`{"task":"t","useful":true,"subjects":[{"kind":"FEEDBACK_SUBJECT_KIND_FILE","repository":"shop","name":"cart.go"}]}`)},
		message(`{"agent":"claude","workspace":"/a","text":"soon gone"}`),
	})
	if err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.commands", "recount.agents")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	if _, err := r.Node.Forget(t.Context(), api.ForgetRequest{Events: []string{out[9].Position.String()}, Reason: "a test"}, func(api.Progress) {}); err != nil {
		t.Fatal(err)
	}
	positions := map[string]schemas.Position{"nothing": {Topic: "recount.agents", Partition: 0, Offset: 1 << 40}, "no topic": {Topic: "nothing", Partition: 0}}
	for i, name := range names {
		positions[name] = out[i].Position
	}

	all := []string{schemas.GrantCommands, schemas.GrantCode, schemas.GrantRuntime}
	everywhere, a := []string{"*"}, []string{"/a"}
	for name, x := range map[string]struct {
		p    schemas.Principal
		sees string // names of events
	}{
		"operator":                       {schemas.Principal{Operator: true}, "acme, claude alone, claude in a, command a, command b, commit, judged, span, unknown type"},
		"all grants":                     {schemas.Principal{Workspaces: everywhere, Grants: all}, "claude in a, command a, command b, commit, span, unknown type"},
		"the agent":                      {schemas.Principal{Workspaces: a, Agent: "claude"}, "claude alone, claude in a, unknown type"},
		"another agent":                  {schemas.Principal{Workspaces: a, Agent: "bob"}, "claude in a, unknown type"},
		"commands of a":                  {schemas.Principal{Workspaces: a, Grants: []string{schemas.GrantCommands}}, "claude in a, command a, unknown type"},
		"commands of b":                  {schemas.Principal{Workspaces: []string{"/b"}, Grants: []string{schemas.GrantCommands}}, "command b"},
		"code":                           {schemas.Principal{Workspaces: []string{"/b"}, Grants: []string{schemas.GrantCode}}, "commit"},
		"runtime":                        {schemas.Principal{Workspaces: []string{"/b"}, Grants: []string{schemas.GrantRuntime}}, "span"},
		"acme":                           {schemas.Principal{Tenant: "acme", Workspaces: everywhere, Agent: "eve"}, "acme"},
		"acme, with grants of no effect": {schemas.Principal{Tenant: "acme", Workspaces: everywhere, Grants: all}, "acme"},
		"another tenant":                 {schemas.Principal{Tenant: "other", Workspaces: everywhere, Agent: "claude", Grants: all}, ""},
		"no workspace":                   {schemas.Principal{Grants: []string{schemas.GrantCommands}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			ctx := access.NewContext(t.Context(), x.p)
			var got []string
			for _, name := range slices.Sorted(maps.Keys(positions)) {
				e, err := r.Node.Event(ctx, positions[name])
				if err == nil {
					got = append(got, name)
					if e.Position != positions[name] {
						t.Errorf("%s: %+v", name, e)
					}
				} else if !x.p.Operator {
					notThere(t, name, positions[name].String(), err)
				}
			}
			if s := strings.Join(got, ", "); s != x.sees {
				t.Errorf("sees %q, want %q", s, x.sees)
			}
			showsOwn(t, r, ctx, x.p, x.sees, out)
		})
	}
}

// notThere checks that an error tells nothing but the reference that was asked for.
func notThere(t *testing.T, name, ref string, err error) {
	t.Helper()
	var missing *query.NotFoundError
	if !errors.As(err, &missing) || missing.Ref != ref || missing.Hint != "nothing that you may see has this id or position" {
		t.Errorf("%s: %v", name, err)
	}
}

// showsOwn checks that a principal is shown a command, by id, prefix and position, if and only if it
// sees its event.
func showsOwn(t *testing.T, r *running, ctx context.Context, p schemas.Principal, sees string, out []api.Appended) {
	t.Helper()
	own := 0
	for i, name := range []string{"command a", "command b"} {
		mine := strings.Contains(sees, name)
		if mine {
			own++
		}
		for _, ref := range []string{out[i].ID.String(), out[i].Position.String()} {
			resp, err := r.Node.Show(ctx, ref)
			if (err == nil) != mine {
				t.Errorf("show %s by %s: %v", name, ref, err)
			}
			if err == nil && resp.ID != out[i].ID {
				t.Errorf("show %s: %s", ref, resp.ID)
			}
			if err != nil {
				notThere(t, name, ref, err)
			}
		}
	}
	// Both ids begin alike: the prefix is ambiguous for those alone who see both.
	resp, err := r.Node.Show(ctx, "abcdef01")
	var many *query.AmbiguousError
	switch own {
	case 0:
		notThere(t, "the prefix", "abcdef01", err)
	case 1:
		b, _ := json.Marshal(resp)
		if err != nil || !strings.Contains(string(b), "make "+p.Workspaces[0]) {
			t.Errorf("the prefix: %s %v", b, err)
		}
	default:
		if !errors.As(err, &many) || len(many.Matches) != 2 {
			t.Errorf("the prefix: %v", err)
		}
	}
}
