package access

import (
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// OwnError reports the field of an event that a principal may not set, so that the event is refused.
type OwnError struct {
	// Field is a field of the payload, or "type".
	Field, Why string
}

func (e *OwnError) Error() string { return e.Field + ": " + e.Why }

// scope is the part of a payload that says whose it is.
type scope struct{ tenant, agent, workspace *string }

func scopeOf(m proto.Message) scope {
	switch m := m.(type) {
	case *recountv1.FeedbackGiven:
		return scope{&m.Tenant, &m.Agent, &m.Workspace}
	case *recountv1.ContextReturned:
		return scope{&m.Tenant, &m.Agent, &m.Workspace}
	}
	a := m.(*recountv1.AgentEvent)
	return scope{&a.Tenant, &a.Agent, &a.Workspace}
}

// CheckOwnership returns the event as the principal may append it. The operator may append any event; a token
// with the grant ingest only commands, commits and spans; any other token only agents' events and
// feedback of its own tenant, agent and workspaces. CheckOwnership fills in these three fields of an agent's event if they
// are missing and there is only one choice. The error is an *OwnError, or one of class ErrPoison if
// the payload cannot be decoded.
func CheckOwnership(p schemas.Principal, e schemas.Event) (schemas.Event, error) {
	if p.Operator {
		return e, nil
	}
	kind, known := e.Kind()
	if p.Ingests() {
		switch {
		case !known || !slices.Contains(IngestTopics(), kind.Topic):
			return e, &OwnError{"type", fmt.Sprintf("%q: the token has the grant ingest and may append only events of the topics %s; events of agents require a token with an agent", e.Type, strings.Join(IngestTopics(), ", "))}
		case kind.Type == schemas.TypeRetired:
			return e, &OwnError{"type", fmt.Sprintf("%q: this event removes snapshots; only the operator may append it", e.Type)}
		}
		return e, nil
	}
	judges := kind.Type == schemas.TypeFeedbackGiven || kind.Type == schemas.TypeContextReturned
	if !known || kind.Topic != schemas.TopicAgents && !judges {
		return e, &OwnError{"type", fmt.Sprintf("%q: the token may append only events of agents and feedback", e.Type)}
	}
	if p.Agent == "" {
		return e, &OwnError{"agent", "the token has none, so it may query but not append"}
	}
	m, err := e.DecodePayload()
	if err != nil {
		return e, err
	}
	a := scopeOf(m)
	filled := false
	for _, f := range []struct {
		field, want string
		has         *string
	}{{"tenant", p.Tenant, a.tenant}, {"agent", p.Agent, a.agent}} {
		switch {
		case *f.has == "" && f.want != "":
			*f.has, filled = f.want, true
		case *f.has != f.want && f.want == "":
			return e, &OwnError{f.field, fmt.Sprintf("%.100q: the token is of the default %s", *f.has, f.field)}
		case *f.has != f.want:
			return e, &OwnError{f.field, fmt.Sprintf("%.100q: the token is of %s %q", *f.has, f.field, f.want)}
		}
	}
	switch all := slices.Contains(p.Workspaces, "*"); {
	case all || slices.Contains(p.Workspaces, *a.workspace):
	case len(p.Workspaces) == 0:
		return e, &OwnError{"workspace", fmt.Sprintf("%.100q: the token has none, so it may query but not append", *a.workspace)}
	case *a.workspace != "":
		return e, &OwnError{"workspace", fmt.Sprintf("%.100q: the token is of %s", *a.workspace, strings.Join(p.Workspaces, ", "))}
	case len(p.Workspaces) > 1:
		return e, &OwnError{"workspace", "missing: the token has several, name one of " + strings.Join(p.Workspaces, ", ")}
	default:
		*a.workspace, filled = p.Workspaces[0], true
	}
	// The key follows from the payload; the sender's key is ignored.
	e.Key = schemas.KeyOf(m)
	if !filled {
		return e, nil
	}
	if e.ContentType == schemas.ContentProto {
		e.Payload, err = proto.MarshalOptions{Deterministic: true}.Marshal(m)
	} else {
		e.Payload, err = schemas.EncodePayload(m)
	}
	return e, err
}
