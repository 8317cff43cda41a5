package records

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// These limits apply to what a Rejected carries of the event. They leave enough to repair most
// events, and the JSON (base64) encoding fits a Kafka message of the default size. The complete
// event is at its position in the log.
const (
	MaxRejectedValue   = 700 << 10
	maxRejectedKey     = 16 << 10
	maxRejectedHeaders = 32 << 10
	maxReason          = 4 << 10
)

// reject turns the record into one that reports that its event can never be applied.
func reject(lr schemas.LogRecord, rec *recountv1.Record, by string, reason error) {
	value := lr.Value
	truncated := len(value) > MaxRejectedValue
	if truncated {
		value = value[:MaxRejectedValue]
	}
	key := lr.Key
	if len(key) > maxRejectedKey {
		key = key[:maxRejectedKey]
	}
	rec.EventType = strings.ToValidUTF8(rec.EventType, "\uFFFD")
	rec.Body = &recountv1.Record_Rejected{Rejected: &recountv1.Rejected{
		Position: lr.Position.Proto(),
		Reason:   schemas.Clip(strings.ToValidUTF8(reason.Error(), "\uFFFD"), maxReason),
		By:       by,
		// These are copies, because the buffers belong to the client that fetched them.
		Key:            slices.Clone(key),
		Headers:        headers(lr.Headers),
		Value:          slices.Clone(value),
		ValueTruncated: truncated,
		ValueBytes:     int64(len(lr.Value)),
	}}
}

// headers copies the headers that fit the limit, in order, and omits the rest.
func headers(in []schemas.Header) []*recountv1.Header {
	var out []*recountv1.Header
	room := maxRejectedHeaders
	for _, h := range in {
		room -= len(h.Key) + len(h.Value) + 8
		if room < 0 {
			break
		}
		out = append(out, &recountv1.Header{
			Key:   strings.ToValidUTF8(h.Key, "\uFFFD"),
			Value: slices.Clone(h.Value),
		})
	}
	return out
}
