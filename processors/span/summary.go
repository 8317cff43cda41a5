package span

import (
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Summarised makes the record of a `spans.summarised` event, which is the event's payload.
func Summarised(_ schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	rec.Body = &recountv1.Record_SpansSummarised{SpansSummarised: payload.(*recountv1.SpansSummarised)}
	return nil
}
