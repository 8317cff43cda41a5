package schemas

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/timestamppb"
)

// Content types of a payload.
const (
	ContentJSON  = "application/json"
	ContentProto = "application/protobuf"
)

// Header is one header of a Kafka record.
type Header struct {
	Key   string
	Value []byte
}

// Event is a CloudEvents 1.0 event as it is stored in the log (Kafka binary mode): its attributes
// are ce_* headers of the Kafka record, its payload is the record's value.
type Event struct {
	ID     EventID
	Type   string
	Source string
	// Subject is optional.
	Subject string
	// Time is when the event happened, in UTC.
	Time time.Time
	// Key decides the partition: events with the same key stay in order.
	Key         []byte
	ContentType string
	Payload     []byte
	// Topic is the topic, without the prefix, of an event whose type is not one of Kinds. It is
	// empty for all others, whose type implies the topic.
	Topic string
}

// DefaultSource is the source of an event whose producer named none.
const DefaultSource = "recount"

// DeriveID returns the id for an event whose producer gave none: a hash over its content, so that
// the same content delivered twice is one event.
func (e Event) DeriveID() EventID {
	return NewCanon("recount/event/1").
		String(e.Type).String(e.Source).Int(e.Time.UnixNano()).
		Bytes(e.Key).Bytes(e.Payload).ID()
}

// Headers returns the attributes as headers of a Kafka record, in a fixed order.
func (e Event) Headers() []Header {
	hs := []Header{
		{"content-type", []byte(e.ContentType)},
		{"ce_specversion", []byte("1.0")},
		{"ce_id", []byte(e.ID.String())},
		{"ce_type", []byte(e.Type)},
		{"ce_source", []byte(e.Source)},
		{"ce_time", []byte(e.Time.UTC().Format(time.RFC3339Nano))},
	}
	if e.Subject != "" {
		hs = append(hs, Header{"ce_subject", []byte(e.Subject)})
	}
	return hs
}

// minTime and maxTime bound the time of an event. The range fits an int64 of nanoseconds with a
// margin, and admits clocks that are wrong by centuries.
var (
	minTime = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(2250, 1, 1, 0, 0, 0, 0, time.UTC)
)

// UnixNano returns a time in nanoseconds since 1970, the form that records store. A time that an
// int64 cannot hold (before 1678, after 2261) becomes the minimum or the maximum, so that an upper
// bound such as 9999-12-31 remains above every event.
func UnixNano(t time.Time) int64 {
	switch {
	case t.Before(time.Unix(0, math.MinInt64)):
		return math.MinInt64
	case t.After(time.Unix(0, math.MaxInt64)):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// unknownTimes is the range of placeholder times, the first hour of 1970 in microseconds. Each
// entry of a history without times gets one of its own, so that these entries sort before all
// others and keep their order.
const unknownTimes = time.Hour

// UnknownTime returns the placeholder time for entry n (from 1) of a history without times.
func UnknownTime(n int64) time.Time {
	return time.Unix(0, min(max(n, 1), int64(unknownTimes/time.Microsecond)-1)*int64(time.Microsecond)).UTC()
}

// TimeUnknown reports whether a time is a placeholder that UnknownTime made.
func TimeUnknown(t time.Time) bool {
	return t.After(time.Unix(0, 0)) && t.Before(time.Unix(0, int64(unknownTimes)))
}

// CheckTime checks a time in a payload that records store in nanoseconds. It accepts nil and times
// between 1900 and 2250; the error for any other names the field and is of class ErrPoison.
func CheckTime(field string, at *timestamppb.Timestamp) error {
	if at == nil {
		return nil
	}
	if err := at.CheckValid(); err != nil {
		return Poisonf("%s: not a valid time", field)
	}
	if t := at.AsTime(); t.Before(minTime) || t.After(maxTime) {
		return Poisonf("%s: %s is outside %d to %d", field, t.Format(time.RFC3339), minTime.Year(), maxTime.Year())
	}
	return nil
}

// DecodeEvent reads an event from a Kafka record. It derives what the headers omit
// deterministically: the type from the topic, the time from the record's timestamp, the id from the
// content. An error is of class ErrPoison.
func DecodeEvent(topic string, headers []Header, key, value []byte, timestamp time.Time) (Event, error) {
	e := Event{Source: DefaultSource, Time: timestamp.UTC(), Key: key, ContentType: ContentJSON, Payload: value}
	var id string
	for _, h := range headers {
		v := string(h.Value)
		if !utf8.ValidString(v) {
			if strings.HasPrefix(h.Key, "ce_") || h.Key == "content-type" {
				return e, Poisonf("header %s: not UTF-8", h.Key)
			}
			continue
		}
		switch h.Key {
		case "ce_specversion":
			if v != "1.0" {
				return e, Poisonf("header ce_specversion: %q, want 1.0", v)
			}
		case "ce_id":
			id = v
		case "ce_type":
			e.Type = v
		case "ce_source":
			e.Source = v
		case "ce_subject":
			e.Subject = v
		case "ce_time":
			t, err := time.Parse(time.RFC3339Nano, v)
			if err != nil {
				return e, Poisonf("header ce_time: %q is not an RFC 3339 time", v)
			}
			e.Time = t.UTC()
		case "content-type":
			media, _, _ := strings.Cut(v, ";")
			e.ContentType = strings.ToLower(strings.TrimSpace(media))
		}
	}
	if e.Type == "" {
		e.Type = DefaultType(topic)
	}
	if _, known := KindOf(e.Type); !known {
		e.Topic = topic[strings.LastIndexByte(topic, '.')+1:]
	}
	if e.Time.Before(minTime) || e.Time.After(maxTime) {
		return e, Poisonf("time %s: outside %d to %d", e.Time.Format(time.RFC3339), minTime.Year(), maxTime.Year())
	}
	switch {
	case id == "":
		e.ID = e.DeriveID()
	default:
		e.ID = ProducerID(e.Source, id)
	}
	return e, nil
}

// ProducerID turns the id that a producer gave into an EventID. CloudEvents allows any string that
// is unique within its source: a UUID is kept, other text is hashed with its source.
func ProducerID(source, id string) EventID {
	if len(id) == len("018f3c2a-9d1e-8b7a-9c44-2f1d6a0b3e55") {
		if parsed, err := ParseEventID(strings.ToLower(id)); err == nil && !parsed.IsZero() {
			return parsed
		}
	}
	return NewCanon("recount/producer-id/1").String(source).String(id).ID()
}

// String returns the type and id of the event, for logs.
func (e Event) String() string { return fmt.Sprintf("%s %s", e.Type, e.ID) }
