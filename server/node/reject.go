package node

import (
	"context"
	"strings"

	"github.com/recountdb/recount/projections"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// refused appends what a projection can never apply to the rejected topic. Only
// that projection passes over the record: what the others hold must not depend
// on which projections there are, or one rebuilt alone would differ. A record
// that several refuse is there once for each, under one id.
func (n *Node) refused(ctx context.Context, projection string, r *recountv1.Record, why *projections.RecordError) error {
	return n.log.Reject(ctx, []*recountv1.Rejected{{
		Position: r.GetOrigin(), Reason: strings.ToValidUTF8(why.Err.Error(), "\uFFFD"), By: projection,
	}})
}

// passOver is for projections made anew: the log has the rejected events already.
func passOver(context.Context, string, *recountv1.Record, *projections.RecordError) error { return nil }
