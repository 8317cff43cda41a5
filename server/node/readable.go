package node

import (
	"context"
	"strconv"
	"strings"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/access"
)

// A principal that is not the operator may read single commands and events as far as it sees them in
// answers to questions: commands of its workspaces with the grant commands, commits with the grant
// code, spans with the grant runtime, and agents' events of its audiences. For whatever else there is at
// a position or under an id, the answer is the same as if there were nothing.

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

// readable returns the sources of a question that also reads events of agents, those that whoever asks may read.
func (n *Node) readable(ctx context.Context) commands.Sources {
	src := n.sources()
	if p, some := restricted(ctx); some {
		src.Reads = func(ctx context.Context, lr schemas.LogRecord) (bool, error) { return n.sees(ctx, p, lr) }
	}
	return src
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

// list answers a question that lists or counts commands for a principal of some workspaces: about one of
// these at a time. The steps of the proof keep no counts and an empty answer has no hint, because
// both tell how many commands there are elsewhere (decision 139).
func (n *Node) list(ctx context.Context, p schemas.Principal, path string, request, response any) error {
	var err error
	switch r := request.(type) {
	case commands.FindRequest:
		if strings.TrimSpace(r.Text) != "" || r.Replayed {
			return &query.RequestError{Field: "text", Value: r.Text, Reason: "a token of some workspaces lists commands without a text: ranks count the words of all"}
		}
		r.Filters, err = within(p, r.Filters)
		request = r
	case commands.TimelineRequest:
		r.Filters, err = within(p, r.Filters)
		request = r
	case commands.StatisticsRequest:
		r.Filters, err = within(p, r.Filters)
		request = r
	case commands.InsightsRequest:
		if r.After != "" {
			return &query.RequestError{Field: "after", Value: r.After, Reason: "a token of some workspaces asks what comes after the newest command"}
		}
		r.Filters, err = within(p, r.Filters)
		request = r
	default:
		return &query.RequestError{Field: "path", Value: path, Reason: "a token of some workspaces cannot ask this"}
	}
	if err != nil {
		return err
	}
	if err := commands.Questions.Answer(ctx, n.sources(), path, request, response); err != nil {
		return err
	}
	switch a := response.(type) {
	case *commands.FindResponse:
		a.Proof, a.Hint = countless(a.Proof), ""
	case *commands.TimelineResponse:
		a.Proof, a.Hint = countless(a.Proof), ""
	case *commands.StatisticsResponse:
		a.Proof, a.Hint = countless(a.Proof), ""
	case *commands.InsightsResponse:
		a.Proof, a.Hint = countless(a.Proof), ""
	}
	return nil
}

// within returns filters for one workspace of a principal: the one they name, or its only one. A
// workspace of others is refused in the same words as one that does not exist.
func within(p schemas.Principal, f commands.Filters) (commands.Filters, error) {
	if f.Workspace == "" && len(p.Workspaces) == 1 {
		f.Workspace = p.Workspaces[0]
	}
	if f.Workspace == "" || !p.InWorkspace(f.Workspace) || !p.Granted(schemas.GrantCommands) {
		return f, &query.RequestError{Field: "filters.workspace", Value: strconv.Quote(f.Workspace), Reason: "name one of the token's workspaces: " + strings.Join(p.Workspaces, ", ")}
	}
	return f, nil
}

func countless(steps []query.Step) []query.Step {
	for i := range steps {
		steps[i].Counts = nil
	}
	return steps
}
