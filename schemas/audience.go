package schemas

import (
	"encoding/hex"
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Audience is the set of readers of an object: every principal in it sees the same objects. Search
// indexes and counts are kept apart by audience, so that an answer is never influenced by what its
// reader may not see.
type Audience struct {
	// Tenant is empty for the default tenant.
	Tenant string
	// Visibility is never unspecified.
	Visibility recountv1.Visibility
	// Workspace is set if Visibility is workspace or session, Session if it is session, Agent if it
	// is private.
	Workspace, Session, Agent string
}

// AudienceOf returns the audience of an agent's event. An event without a visibility is visible to
// its workspace.
func AudienceOf(tenant, workspace, session, agent string, v recountv1.Visibility) Audience {
	a := Audience{Tenant: tenant, Visibility: v}
	switch v {
	case recountv1.Visibility_VISIBILITY_PRIVATE:
		a.Agent = agent
	case recountv1.Visibility_VISIBILITY_SESSION:
		a.Workspace, a.Session = workspace, session
	case recountv1.Visibility_VISIBILITY_TENANT:
	default:
		a.Visibility, a.Workspace = recountv1.Visibility_VISIBILITY_WORKSPACE, workspace
	}
	return a
}

// AudienceID identifies an audience in keys.
type AudienceID [16]byte

func (id AudienceID) String() string { return hex.EncodeToString(id[:]) }

// ID returns a hash over all fields of the audience.
func (a Audience) ID() AudienceID {
	return AudienceID(NewCanon("recount/audience/1").
		String(a.Tenant).Int(int64(a.Visibility)).String(a.Workspace).String(a.Session).String(a.Agent).ID())
}

// Compare orders audiences by tenant, visibility, workspace, session and agent.
func (a Audience) Compare(b Audience) int {
	if n := strings.Compare(a.Tenant, b.Tenant); n != 0 {
		return n
	}
	if n := int(a.Visibility) - int(b.Visibility); n != 0 {
		return n
	}
	for _, s := range [][2]string{{a.Workspace, b.Workspace}, {a.Session, b.Session}, {a.Agent, b.Agent}} {
		if n := strings.Compare(s[0], s[1]); n != 0 {
			return n
		}
	}
	return 0
}

// Principal is the identity that sends a query or appends an event.
type Principal struct {
	// Operator may read and do everything: it is the holder of the server's own token, or any
	// client of a server without tokens.
	Operator bool
	// Tenant is the tenant whose data the principal sees; empty is the default tenant.
	Tenant string
	// Workspaces and Sessions are those the principal belongs to; "*" means all of the tenant.
	Workspaces, Sessions []string
	// Agent is the name under which the principal acts. It sees what is private to that name.
	Agent string
	// Grants are the kinds of data, besides objects, that the principal may read, and the actions
	// it may take. Grants that read or append apply to the default tenant only.
	Grants []string
}

// These are the grants a principal can have.
const (
	// GrantCommands allows reading the commands of the principal's workspaces.
	GrantCommands = "commands"
	// GrantCode allows reading the code of all repositories, with its commits.
	GrantCode = "code"
	// GrantRuntime allows reading spans and what is derived from them, which reveals code and
	// commands.
	GrantRuntime = "runtime"
	// GrantIngest allows appending commands, commits and spans, and nothing else: a token with it
	// reads nothing and has no tenant, workspace or agent.
	GrantIngest = "ingest"
	// GrantErase allows erasing events that the principal's own agent appended.
	GrantErase = "erase"
)

// Erases reports whether the principal may erase events: the operator may erase any, others those
// of their own agent (Appended).
func (p Principal) Erases() bool { return p.Operator || slices.Contains(p.Grants, GrantErase) }

// Appended reports whether the principal may have appended an agent's event: its tenant and agent
// match and the principal belongs to the workspace.
func (p Principal) Appended(tenant, workspace, agent string) bool {
	return p.Agent != "" && p.Agent == agent && p.Tenant == tenant && holds(p.Workspaces, workspace)
}

// Ingests reports whether the principal may append events without a tenant: commands, commits and
// spans. A principal that is not the operator may do nothing else.
func (p Principal) Ingests() bool { return p.Granted(GrantIngest) }

// Granted reports whether the principal may read a kind of data, or take an action, named by a
// grant. The operator may do all; a principal of another tenant than the default one has none.
// here.
func (p Principal) Granted(kind string) bool {
	return p.Operator || p.Tenant == "" && slices.Contains(p.Grants, kind)
}

// InWorkspace reports whether the principal belongs to a workspace of its tenant. The name "*" asks
// about all workspaces.
func (p Principal) InWorkspace(name string) bool { return p.Operator || holds(p.Workspaces, name) }

// Sees reports whether the principal belongs to an audience.
func (p Principal) Sees(a Audience) bool {
	if p.Operator {
		return true
	}
	if p.Tenant != a.Tenant {
		return false
	}
	switch a.Visibility {
	case recountv1.Visibility_VISIBILITY_PRIVATE:
		return p.Agent != "" && p.Agent == a.Agent
	case recountv1.Visibility_VISIBILITY_SESSION:
		return holds(p.Workspaces, a.Workspace) && holds(p.Sessions, a.Session)
	case recountv1.Visibility_VISIBILITY_WORKSPACE:
		return holds(p.Workspaces, a.Workspace)
	case recountv1.Visibility_VISIBILITY_TENANT:
		return true
	}
	return false
}

func holds(list []string, name string) bool {
	return slices.Contains(list, name) || slices.Contains(list, "*")
}

// ObjectID identifies a canonical object: 16 bytes, written as a UUID.
type ObjectID = EventID

// EventObjectID returns the id of the object that an event makes by itself. The same event id from
// another tenant, workspace or agent gives another object.
func EventObjectID(tenant, workspace, agent string, event EventID) ObjectID {
	return NewCanon("recount/object/event/1").String(tenant).String(workspace).String(agent).Bytes(event[:]).ID()
}

// NamedObjectID returns the id of an object that has one version per event: a plan by its session
// and id, a state by its agent and key, an artifact by its URI.
func NamedObjectID(tenant, workspace string, t recountv1.ObjectType, owner, name string) ObjectID {
	return NewCanon("recount/object/named/1").String(tenant).String(workspace).Int(int64(t)).String(owner).String(name).ID()
}
