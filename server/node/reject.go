package node

import (
	"context"
	"strings"

	"github.com/recountdb/recount/projections"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// refused appends a record that a projection can never apply to the rejected topic. Only that
// projection skips the record: the content of the others must not depend on which projections
// exist, or one rebuilt alone would differ. If several refuse a record, each appends it, under one
// id.
func (n *Node) refused(ctx context.Context, projection string, r *recountv1.Record, why *projections.RecordError) error {
	return n.log.Reject(ctx, []*recountv1.Rejected{{
		Position: r.GetOrigin(), Reason: strings.ToValidUTF8(why.Err.Error(), "\uFFFD"), By: projection,
	}})
}

// passOver ignores records that a replay cannot apply: the log has their rejected events already.
func passOver(context.Context, string, *recountv1.Record, *projections.RecordError) error { return nil }
