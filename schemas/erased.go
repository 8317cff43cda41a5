package schemas

import (
	"crypto/sha256"
	"strings"
	"time"
)

// These are the headers of a record whose event was erased. Such a record has an empty value and no
// key.
const (
	// HeaderErased is the SHA-256 of the erased value, in hex.
	HeaderErased = "recount_erased"
	// HeaderErasedBy is the position of the events.erased event that requested it.
	HeaderErasedBy = "recount_erased_by"
	// erasedType replaces a type that is not one of Kinds, because it may contain a secret, too.
	erasedType = "erased"
)

// Erasure is what remains of an erased event.
type Erasure struct {
	// SHA256 is the hash of the erased value: the holder of a copy can prove that it is the
	// original.
	SHA256 Hash `json:"sha256" doc:"The hash of the erased value: the holder of a copy can prove that it is the original."`
	// By is the position of the events.erased event.
	By Position `json:"by" doc:"The position of the event that erased it."`
}

// Erased reports whether the record's event was erased.
func (r LogRecord) Erased() (Erasure, bool) {
	var e Erasure
	found := false
	if len(r.Value) > 0 {
		return e, false
	}
	for _, h := range r.Headers {
		switch h.Key {
		case HeaderErased:
			found = e.SHA256.UnmarshalText(h.Value) == nil
		case HeaderErasedBy:
			if at, err := ParsePosition(string(h.Value)); err == nil {
				e.By = at
			}
		}
	}
	return e, found
}

// Erase returns the record that replaces this one when its event is erased. It keeps the id, the
// time and, if the type is one of Kinds, the type. A producer's own id is free text, so the EventID
// derived from it is kept instead. The key is removed: the partition is already decided, and a key
// may be a secret.
func (r LogRecord) Erase(by Position) LogRecord {
	if _, ok := r.Erased(); ok {
		return r
	}
	e, err := r.Event()
	typ := erasedType
	if k, ok := KindOf(e.Type); ok {
		typ = k.Type
	}
	out := LogRecord{Position: r.Position, Timestamp: r.Timestamp}
	out.Headers = []Header{{"ce_specversion", []byte("1.0")}}
	if err == nil {
		out.Headers = append(
			out.Headers,
			Header{"ce_id", []byte(e.ID.String())},
			Header{"ce_time", []byte(e.Time.UTC().Format(time.RFC3339Nano))},
		)
	}
	sum := Hash(sha256.Sum256(r.Value))
	out.Headers = append(
		out.Headers,
		Header{"ce_type", []byte(typ)},
		Header{HeaderErased, []byte(sum.String())},
		Header{HeaderErasedBy, []byte(by.String())},
	)
	return out
}

// TopicName returns a topic's name without the prefix.
func TopicName(topic string) string { return topic[strings.LastIndexByte(topic, '.')+1:] }
