package node

import (
	"context"
	"io"

	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/httpapi"
)

// Append is Backend.Append.
func (n *Node) Append(ctx context.Context, events []schemas.Event) ([]httpapi.Appended, error) {
	return n.app.Append(ctx, events)
}

// position finds an event that is projected.
func (n *Node) position(id schemas.EventID) (pos schemas.Position, found bool) {
	if n.set == nil {
		return pos, false
	}
	p, release, err := n.set.Acquire(segment.Name)
	if err != nil {
		return pos, false
	}
	defer release()
	// A failure here costs a second copy in the log, which is applied once.
	_ = p.(*segment.Projection).ViewID(context.Background(), id, func(v *segment.View) error {
		pos, found = v.Position(), true
		return nil
	})
	return pos, found
}

func (n *Node) sources() query.Sources {
	return query.Sources{Set: n.set, Embedder: n.chain.Embedder, Concepts: embed.Concepts, Event: n.log.Read}
}

// Find is Backend.Find.
func (n *Node) Find(ctx context.Context, r query.FindRequest) (query.FindResponse, error) {
	if n.set == nil {
		return query.FindResponse{}, noRole(RoleProject)
	}
	if err := n.catchUp(ctx); err != nil {
		return query.FindResponse{}, err
	}
	return query.Find(ctx, n.sources(), r)
}

// Show is Backend.Show.
func (n *Node) Show(ctx context.Context, ref string) (query.ShowResponse, error) {
	if n.set == nil {
		return query.ShowResponse{}, noRole(RoleProject)
	}
	if err := n.catchUp(ctx); err != nil {
		return query.ShowResponse{}, err
	}
	return query.Show(ctx, n.sources(), ref)
}

// Why is query.Why over the node's projections.
func (n *Node) Why(ctx context.Context, r query.WhyRequest) (query.WhyResponse, error) {
	if n.set == nil {
		return query.WhyResponse{}, noRole(RoleProject)
	}
	if err := n.catchUp(ctx); err != nil {
		return query.WhyResponse{}, err
	}
	return query.Why(ctx, n.sources(), r)
}

// roled is what the HTTP door serves: a node's methods, each only where the node
// has the role for it.
type roled struct{ *Node }

// Append needs the role ingest.
func (r roled) Append(ctx context.Context, events []schemas.Event) ([]httpapi.Appended, error) {
	if !r.cfg.Has(RoleIngest) {
		return nil, noRole(RoleIngest)
	}
	return r.Node.Append(ctx, events)
}

// Find needs the role serve.
func (r roled) Find(ctx context.Context, q query.FindRequest) (query.FindResponse, error) {
	if !r.cfg.Has(RoleServe) {
		return query.FindResponse{}, noRole(RoleServe)
	}
	return r.Node.Find(ctx, q)
}

// Show needs the role serve.
func (r roled) Show(ctx context.Context, ref string) (query.ShowResponse, error) {
	if !r.cfg.Has(RoleServe) {
		return query.ShowResponse{}, noRole(RoleServe)
	}
	return r.Node.Show(ctx, ref)
}

// Scan needs the role serve.
func (r roled) Scan(ctx context.Context, q httpapi.ScanRequest, w io.Writer) error {
	if !r.cfg.Has(RoleServe) {
		return noRole(RoleServe)
	}
	return r.Node.Scan(ctx, q, w)
}
