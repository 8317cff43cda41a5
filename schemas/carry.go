package schemas

import (
	"context"

	"google.golang.org/protobuf/encoding/protojson"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Carried is a record on its way from stage to stage inside one process, as the
// structured value of a message: decoded once, shared and never changed. Whoever
// asks for its bytes gets JSON with the names of records.proto.
type Carried struct{ Record *recountv1.Record }

// MarshalJSON is the protobuf JSON mapping.
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

// WithLogRecord notes beside a message which log record it came from, exactly as
// it stands in the log.
func WithLogRecord(ctx context.Context, r *LogRecord) context.Context {
	return context.WithValue(ctx, logRecordKey{}, r)
}

// LogRecordOf is the log record that WithLogRecord noted, or nil.
func LogRecordOf(ctx context.Context) *LogRecord {
	r, _ := ctx.Value(logRecordKey{}).(*LogRecord)
	return r
}
