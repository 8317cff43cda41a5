package span

import (
	"encoding/hex"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Logged makes the record of an `access.logged` event: each line is a request that the service
// answered.
func Logged(_ schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	m := payload.(*recountv1.AccessLogged)
	if err := CheckLogged(m); err != nil {
		return err
	}
	out := &recountv1.SpanBatch{
		Observers: []*recountv1.Observer{{Service: clean(m.GetService(), maxName)}},
	}
	for i, entry := range m.GetEntries() {
		out.Observations = append(out.Observations, logged(uint32(i), entry))
	}
	rec.Body = &recountv1.Record_Spans{Spans: out}
	return nil
}

// CheckLogged returns an error for an access log that the schema's constraints accept but Logged
// refuses. Errors are of class ErrPoison and name the field.
func CheckLogged(payload proto.Message) error {
	m, ok := payload.(*recountv1.AccessLogged)
	if !ok {
		return schemas.Poisonf("payload is %T, want AccessLogged", payload)
	}
	for i, entry := range m.GetEntries() {
		if err := entry.GetTime().CheckValid(); err != nil {
			return schemas.Poisonf("entries[%d].time: not a valid time", i)
		}
		if d := entry.GetDuration(); d != nil {
			if err := d.CheckValid(); err != nil {
				return schemas.Poisonf("entries[%d].duration: not a valid duration", i)
			}
		}
	}
	return nil
}

func logged(index uint32, entry *recountv1.AccessEntry) *recountv1.Observation {
	o := &recountv1.Observation{
		Index: index, Side: recountv1.Side_SIDE_CALLED,
		Kind: recountv1.RuntimeKind_RUNTIME_KIND_CALLS, System: "http",
		StartUnixNano: bounded(entry.GetTime().AsTime()), DurationNano: int64(entry.GetDuration().AsDuration()),
	}
	// The schema allows only 32 hex digits, or nothing.
	if id, err := hex.DecodeString(entry.GetTraceId()); err == nil && isID(id, 16) {
		o.TraceId = id
	}
	u := interpretation{o: o}
	if route := entry.GetRoute(); route != "" {
		u.request(methodOf(entry.GetMethod()), route, true)
	} else {
		u.request(methodOf(entry.GetMethod()), withoutQuery(entry.GetPath()), false)
	}
	o.Operation = clean(o.Operation, maxOperation)
	if status := entry.GetStatus(); status != 0 {
		o.Code = &status
		o.Status = recountv1.Status_STATUS_OK
		if httpFault(status, false) {
			o.Status = recountv1.Status_STATUS_ERROR
		}
	}
	return o
}
