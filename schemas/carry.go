package schemas

import (
	"context"

	"google.golang.org/protobuf/encoding/protojson"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Carried is a record in transit between stages of one process, as the structured value of a
// message. It is decoded once, shared, and never changed. Its bytes are JSON with the field names
// of records.proto.
type Carried struct{ Record *recountv1.Record }

// MarshalJSON returns the record in the protobuf JSON mapping.
func (c Carried) MarshalJSON() ([]byte, error) {
	return protojson.MarshalOptions{UseProtoNames: true}.Marshal(c.Record)
}

// ParseCarried reads what MarshalJSON writes. An error is of class ErrPoison.
func ParseCarried(b []byte) (Carried, error) {
	rec := &recountv1.Record{}
	if err := (protojson.UnmarshalOptions{RecursionLimit: 100}).Unmarshal(b, rec); err != nil {
		return Carried{}, Poisonf("record: %s", plain(err))
	}
	return Carried{rec}, nil
}

type logRecordKey struct{}

// WithLogRecord returns a context that holds the log record from which a message was made,
// unchanged.
func WithLogRecord(ctx context.Context, r *LogRecord) context.Context {
	return context.WithValue(ctx, logRecordKey{}, r)
}

// LogRecordOf returns the log record that WithLogRecord stored, or nil.
func LogRecordOf(ctx context.Context) *LogRecord {
	r, _ := ctx.Value(logRecordKey{}).(*LogRecord)
	return r
}
