package schemas

import recountv1 "github.com/recountdb/recount/schemas/recount/v1"

// Batch is a run of one partition as a projection applies it: records in the
// order of their offsets, and where to go on reading. It covers every offset
// from where the projection stood up to Next; an offset without a record is one
// that was rejected, is of no concern, or is missing from the log.
type Batch struct {
	Topic     string
	Partition int32
	// Next is the offset to read after this batch: greater than every offset in
	// Records.
	Next    int64
	Records []*recountv1.Record
}

// TP is the partition of the batch.
func (b Batch) TP() TopicPartition { return TopicPartition{b.Topic, b.Partition} }

// SeenAs is what tells whether a record's event was applied before: the event's id; of
// an event of an agent, EventObjectID, since tenants that know nothing of each other may
// use one event id. The error is that of an event id which is none.
func SeenAs(r *recountv1.Record) (EventID, error) {
	id, err := EventIDFromBytes(r.GetEventId())
	if err != nil {
		return id, err
	}
	if all := r.GetObjects().GetObjects(); len(all) > 0 {
		id = EventObjectID(all[0].Tenant, all[0].Workspace, all[0].Agent, id)
	}
	return id, nil
}
