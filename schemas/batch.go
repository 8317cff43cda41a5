package schemas

import recountv1 "github.com/recountdb/recount/schemas/recount/v1"

// Batch is what a projection applies at once: consecutive records of one partition in the order of
// their offsets, and the offset to read next. It covers every offset from the projection's position
// up to Next. An offset without a record was rejected, does not concern the projection, or is
// missing from the log.
type Batch struct {
	Topic     string
	Partition int32
	// Next is the offset to read after this batch: greater than every offset in
	// Records.
	Next    int64
	Records []*recountv1.Record
}

// TP returns the partition of the batch.
func (b Batch) TP() TopicPartition { return TopicPartition{b.Topic, b.Partition} }

// SeenAs returns the key by which a record is deduplicated: the event's id, or EventObjectID for an
// agent's event, because tenants may use the same event id. It fails if the record's event id is
// not 16 bytes long.
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
