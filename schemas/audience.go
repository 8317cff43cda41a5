package schemas

import (
	"encoding/hex"
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Audience is who may see an object: all of those whom a principal belongs to see the
// same. What is searched and counted is kept apart by audience, so that nothing that a
// principal may not see has a part in its answers.
type Audience struct {
	// Tenant is empty for the default tenant.
	Tenant string
	// Visibility is never unspecified.
	Visibility recountv1.Visibility
	// Workspace is set where Visibility is workspace or session, Session where it is
	// session, Agent where it is private.
	Workspace, Session, Agent string
}

// AudienceOf is the audience of what an agent's event tells. An event that does not say
// who may see it is for its workspace.
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

// AudienceID stands for an audience in keys.
type AudienceID [16]byte

func (id AudienceID) String() string { return hex.EncodeToString(id[:]) }

// ID is a hash over the whole audience.
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

// Principal is on whose behalf a question is asked or an event is appended.
type Principal struct {
	// Operator sees and does all: who holds the server's own token, or uses a server
	// that asks for none.
	Operator bool
	// Tenant is whose data it sees; the empty one is the default tenant.
	Tenant string
	// Workspaces, Sessions are those it belongs to; "*" stands for all of the tenant.
	Workspaces, Sessions []string
	// Agent is the name under which it acts; it sees what is private to that name.
	Agent string
	// Grants are the kinds of things besides objects that it may ask for, or that it may
	// append them (GrantIngest). They have no tenant but the default one.
	Grants []string
}

// What a principal may be granted.
const (
	// GrantCommands are the commands of its workspaces.
	GrantCommands = "commands"
	// GrantCode is the code of all repositories, with its commits.
	GrantCode = "code"
	// GrantRuntime are spans and what is made of them, which tells of code and commands.
	GrantRuntime = "runtime"
	// GrantIngest is to append commands, commits and spans, and nothing else: who has it
	// reads nothing, and is of no tenant, workspace or agent.
	GrantIngest = "ingest"
	// GrantErase is to erase events that its own agent appended.
	GrantErase = "erase"
)

// Erases reports whether the principal may erase events: the operator any, others those of
// their own agent (Appended).
func (p Principal) Erases() bool { return p.Operator || slices.Contains(p.Grants, GrantErase) }

// Appended reports whether an agent's event is one that the principal may append: of its
// tenant, its agent and a workspace of its own.
func (p Principal) Appended(tenant, workspace, agent string) bool {
	return p.Agent != "" && p.Agent == agent && p.Tenant == tenant && holds(p.Workspaces, workspace)
}

// Ingests reports whether the principal may append what has no tenant: commands, commits
// and spans. Unless it is the operator, it may do nothing else.
func (p Principal) Ingests() bool { return p.Granted(GrantIngest) }

// Granted reports whether the principal may ask for a kind of things besides objects.
func (p Principal) Granted(kind string) bool {
	return p.Operator || p.Tenant == "" && slices.Contains(p.Grants, kind)
}

// InWorkspace reports whether the principal belongs to a workspace of its tenant; "*" asks
// whether it does to all.
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

// EventObjectID is the id of the object that an event makes by itself. It is the same
// event id in another tenant's or agent's hands that makes another object.
func EventObjectID(tenant, workspace, agent string, event EventID) ObjectID {
	return NewCanon("recount/object/event/1").String(tenant).String(workspace).String(agent).Bytes(event[:]).ID()
}

// NamedObjectID is the id of an object that events make versions of: a plan by its
// session and id, a state by its agent and key, an artifact by its URI.
func NamedObjectID(tenant, workspace string, t recountv1.ObjectType, owner, name string) ObjectID {
	return NewCanon("recount/object/named/1").String(tenant).String(workspace).Int(int64(t)).String(owner).String(name).ID()
}
