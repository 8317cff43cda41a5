package schemas_test

import (
	"testing"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func TestPrincipalSees(t *testing.T) {
	const (
		private   = recountv1.Visibility_VISIBILITY_PRIVATE
		session   = recountv1.Visibility_VISIBILITY_SESSION
		workspace = recountv1.Visibility_VISIBILITY_WORKSPACE
		tenant    = recountv1.Visibility_VISIBILITY_TENANT
	)
	of := func(v recountv1.Visibility) schemas.Audience {
		return schemas.AudienceOf("acme", "/src/shop", "s1", "ada", v)
	}
	for _, c := range []struct {
		name string
		p    schemas.Principal
		sees map[recountv1.Visibility]bool
	}{
		{"operator", schemas.Principal{Operator: true}, map[recountv1.Visibility]bool{private: true, session: true, workspace: true, tenant: true}},
		{"another tenant with all the same names", schemas.Principal{Tenant: "other", Workspaces: []string{"*"}, Sessions: []string{"*"}, Agent: "ada"}, nil},
		{"the default tenant", schemas.Principal{Workspaces: []string{"*"}, Sessions: []string{"*"}, Agent: "ada"}, nil},
		{"of the tenant alone", schemas.Principal{Tenant: "acme"}, map[recountv1.Visibility]bool{tenant: true}},
		{"of the workspace", schemas.Principal{Tenant: "acme", Workspaces: []string{"/src/shop"}}, map[recountv1.Visibility]bool{tenant: true, workspace: true}},
		{"of another workspace with the session", schemas.Principal{Tenant: "acme", Workspaces: []string{"/src"}, Sessions: []string{"s1"}}, map[recountv1.Visibility]bool{tenant: true}},
		{"of the session", schemas.Principal{Tenant: "acme", Workspaces: []string{"/src/shop"}, Sessions: []string{"s1"}}, map[recountv1.Visibility]bool{tenant: true, workspace: true, session: true}},
		{"the agent", schemas.Principal{Tenant: "acme", Agent: "ada"}, map[recountv1.Visibility]bool{tenant: true, private: true}},
		{"nobody's name is nobody", schemas.Principal{Tenant: "acme", Agent: ""}, map[recountv1.Visibility]bool{tenant: true}},
	} {
		for _, v := range []recountv1.Visibility{private, session, workspace, tenant} {
			if got := c.p.Sees(of(v)); got != c.sees[v] {
				t.Errorf("%s: sees %s: %v, want %v", c.name, v, got, c.sees[v])
			}
		}
	}
	if (schemas.Principal{Tenant: "acme"}).Sees(schemas.AudienceOf("acme", "", "", "", private)) {
		t.Error("what is private to nobody is seen by an agent without name")
	}
}

func TestAudienceIDsDiffer(t *testing.T) {
	seen := map[schemas.AudienceID]schemas.Audience{}
	for _, tenant := range []string{"", "a", "ab"} {
		for _, workspace := range []string{"", "b", "a"} {
			for _, v := range []recountv1.Visibility{0, 1, 2, 3, 4} {
				a := schemas.AudienceOf(tenant, workspace, "s", "g", v)
				if other, ok := seen[a.ID()]; ok && other != a {
					t.Errorf("%+v and %+v have one id", a, other)
				}
				seen[a.ID()] = a
			}
		}
	}
	unsaid, said := schemas.AudienceOf("t", "w", "s", "g", 0), schemas.AudienceOf("t", "w", "s", "g", recountv1.Visibility_VISIBILITY_WORKSPACE)
	if unsaid != said {
		t.Errorf("an event that does not say: %+v, want %+v", unsaid, said)
	}
}
