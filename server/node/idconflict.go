package node

import (
	"context"
	"fmt"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/intake"
)

// rejectReused appends to topic rejected those agents' events of a batch that the projections will
// skip as duplicates although their content differs: events that a Kafka client appended with an id
// already in use. Over HTTP such an event is refused (appender.compare). It runs before the
// position moves past the events, so that a crash in between repeats it.
func (n *Node) rejectReused(ctx context.Context, b schemas.Batch) error {
	if schemas.TopicName(b.Topic) != schemas.TopicAgents {
		return nil
	}
	next := n.set.Next(b.TP())
	inBatch := map[schemas.EventID]schemas.Position{}
	var reused []*recountv1.Rejected
	for _, r := range b.Records {
		at := schemas.PositionOf(r.GetOrigin())
		id, err := schemas.SeenAs(r)
		if at.Offset < next || err != nil || len(r.GetObjects().GetObjects()) == 0 {
			continue
		}
		first, seen := inBatch[id]
		if !seen {
			if first, seen = n.position(schemas.TopicAgents, id); !seen {
				inBatch[id] = at
				continue
			}
		}
		if first == at || n.saysTheSame(ctx, first, at) {
			continue
		}
		reused = append(reused, &recountv1.Rejected{
			Position: r.GetOrigin(), By: "node",
			Reason: fmt.Sprintf("%s: the event at %s has this id and different content: give this one an id of its own, or none", api.ErrReused, first),
		})
	}
	if len(reused) == 0 {
		return nil
	}
	return n.log.Reject(ctx, reused)
}

// saysTheSame reports whether two events of the log have equal content. An event that cannot be
// read, or was erased, counts as equal.
func (n *Node) saysTheSame(ctx context.Context, a, b schemas.Position) bool {
	var content [2]schemas.Hash
	for i, at := range []schemas.Position{a, b} {
		lr, err := n.log.Read(ctx, at)
		if err != nil {
			return true
		}
		e, err := lr.Event()
		if err != nil {
			return true
		}
		m, err := e.DecodePayload()
		if err != nil {
			return true
		}
		if content[i], err = intake.ContentOf(e.Type, m); err != nil {
			return true
		}
	}
	return content[0] == content[1]
}
