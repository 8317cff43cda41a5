package node

import (
	"context"
	"strings"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
)

// A principal that is not the operator may read single commands and events as far as it sees them in
// answers to questions: commands of its workspaces with the grant commands, commits with the grant
// code, spans with the grant runtime, and agents' events of its audiences. Whatever else there is at
// a position or under an id, it is told the same as if there were nothing.

// unseen is the answer about something that the principal does not see, or that is not there.
func unseen(ref string) error {
	return &query.NotFoundError{Ref: ref, Hint: "nothing that you may see has this id or position"}
}

// restricted returns the principal of a request if it is not the operator. In-process callers put none
// into the context and are not restricted.
func restricted(ctx context.Context) (schemas.Principal, bool) {
	p, known := access.FromContext(ctx)
	return p, known && !p.Operator
}

// seesCommands reports which workspaces' commands a principal sees.
func seesCommands(p schemas.Principal) func(workspace string) bool {
	return func(workspace string) bool { return p.Granted(schemas.GrantCommands) && p.InWorkspace(workspace) }
}

// sees reports whether a principal sees an event of the log.
func (n *Node) sees(ctx context.Context, p schemas.Principal, lr schemas.LogRecord) (bool, error) {
	if _, erased := lr.Erased(); erased {
		return false, nil
	}
	e, err := lr.Event()
	if err != nil {
		return false, nil
	}
	kind, known := e.Kind()
	topic := lr.Position.Topic[strings.LastIndexByte(lr.Position.Topic, '.')+1:]
	if !known || kind.Topic != topic {
		return false, nil
	}
	switch topic {
	case schemas.TopicCommits:
		return p.Granted(schemas.GrantCode), nil
	case schemas.TopicSpans:
		return p.Granted(schemas.GrantRuntime), nil
	case schemas.TopicCommands:
		if seesCommands(p)("*") {
			return true, nil
		}
		return n.seesCommandAt(ctx, p, lr.Position)
	case schemas.TopicAgents:
		m, err := e.DecodePayload()
		if err != nil {
			return false, nil
		}
		a, ok := m.(*recountv1.AgentEvent)
		return ok && p.Sees(schemas.AudienceOf(a.Tenant, a.Workspace, a.Session, a.Agent, a.Visibility)), nil
	}
	return false, nil // facts and rejected events concern all tenants
}

// seesCommandAt reports whether the command at a position is of a workspace whose commands the
// principal sees. The projection knows the workspace also of commands that do not name one.
func (n *Node) seesCommandAt(ctx context.Context, p schemas.Principal, at schemas.Position) (sees bool, err error) {
	if n.set == nil {
		return false, nil
	}
	live, release, err := n.set.Acquire(segment.Name)
	if err != nil {
		return false, err
	}
	defer release()
	rows, ok := live.(*segment.Projection)
	if !ok {
		return false, nil
	}
	err = rows.ViewAt(ctx, []schemas.Position{at}, func(_ int, v *segment.View) error {
		sees = seesCommands(p)(v.Workspace())
		return nil
	})
	return sees, err
}
