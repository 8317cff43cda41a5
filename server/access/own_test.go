package access_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
)

func TestOwn(t *testing.T) {
	claude := schemas.Principal{Tenant: "acme", Workspaces: []string{"/a"}, Agent: "claude"}
	two := schemas.Principal{Tenant: "acme", Workspaces: []string{"/a", "/b"}, Agent: "claude"}
	all := schemas.Principal{Workspaces: []string{"*"}, Agent: "claude"}
	ingest := schemas.Principal{Grants: []string{schemas.GrantIngest}}
	for name, c := range map[string]struct {
		p           schemas.Principal
		typ, in     string
		want, field string
	}{
		"its own":                      {claude, "", `{"tenant":"acme","workspace":"/a","agent":"claude","text":"x"}`, `{"tenant":"acme","workspace":"/a","agent":"claude","text":"x"}`, ""},
		"filled in":                    {claude, "", `{"text":"x"}`, `{"tenant":"acme","workspace":"/a","agent":"claude","text":"x"}`, ""},
		"another tenant":               {claude, "", `{"tenant":"other"}`, "", "tenant"},
		"another agent":                {claude, "", `{"agent":"bob"}`, "", "agent"},
		"another workspace":            {claude, "", `{"workspace":"/b"}`, "", "workspace"},
		"one of several workspaces":    {two, "", `{"workspace":"/b"}`, `{"tenant":"acme","workspace":"/b","agent":"claude"}`, ""},
		"none of several workspaces":   {two, "", `{}`, "", "workspace"},
		"all workspaces, none named":   {all, "", `{"agent":"claude"}`, `{"agent":"claude"}`, ""},
		"a tenant, of the default one": {all, "", `{"tenant":"acme","agent":"claude"}`, "", "tenant"},
		"a principal without an agent": {schemas.Principal{Workspaces: []string{"*"}}, "", `{}`, "", "agent"},
		"without a workspace":          {schemas.Principal{Agent: "claude"}, "", `{}`, "", "workspace"},
		"a command":                    {claude, schemas.TypeCommandExecuted, `{"command":"ls"}`, "", "type"},
		"an erasure":                   {claude, schemas.TypeErased, `{}`, "", "type"},
		"ingest, a command":            {ingest, schemas.TypeCommandExecuted, `{"command":"ls"}`, `{"command":"ls"}`, ""},
		"ingest, spans":                {ingest, schemas.TypeSpansExported, `{}`, `{}`, ""},
		"ingest, an agent's":           {ingest, "", `{"text":"x"}`, "", "type"},
		"ingest, an unknown agent's":   {ingest, "thought", `{"text":"x"}`, "", "type"},
		"ingest, an erasure":           {ingest, schemas.TypeErased, `{}`, "", "type"},
		"ingest, a retirement":         {ingest, schemas.TypeRetired, `{}`, "", "type"},
		"the operator":                 {schemas.Principal{Operator: true}, schemas.TypeCommandExecuted, `{"command":"ls"}`, `{"command":"ls"}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			e := schemas.Event{Type: c.typ, Payload: []byte(c.in), Key: []byte("of the sender's choice")}
			if c.typ == "" {
				e.Type = schemas.TypeUserMessage
			}
			got, err := access.CheckOwnership(c.p, e)
			var foreign *access.OwnError
			if errors.As(err, &foreign) != (c.field != "") || foreign != nil && foreign.Field != c.field {
				t.Fatalf("%v, want one about %q", err, c.field)
			}
			if c.field != "" {
				return
			}
			if err != nil || string(got.Payload) != c.want {
				t.Errorf("%s %v, want %s", got.Payload, err, c.want)
			}
			if c.p.Agent != "" && string(got.Key) != string(got.DeriveKey()) {
				t.Errorf("key %q, want that of the payload", got.Key)
			}
		})
	}
}

// TestOwnInProtobuf checks that Own keeps the payload's encoding when it fills in fields.
func TestOwnInProtobuf(t *testing.T) {
	b, err := proto.Marshal(&recountv1.AgentEvent{Text: "x"})
	if err != nil {
		t.Fatal(err)
	}
	e, err := access.CheckOwnership(schemas.Principal{Workspaces: []string{"/a"}, Agent: "claude"},
		schemas.Event{Type: schemas.TypeUserMessage, ContentType: schemas.ContentProto, Payload: b})
	if err != nil {
		t.Fatal(err)
	}
	m, err := e.DecodePayload()
	if err != nil {
		t.Fatal(err)
	}
	a := m.(*recountv1.AgentEvent)
	if diff := cmp.Diff([]string{a.Tenant, a.Workspace, a.Agent, a.Text}, []string{"", "/a", "claude", "x"}); diff != "" {
		t.Error(diff)
	}
}
