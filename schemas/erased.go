package schemas

import (
	"crypto/sha256"
	"strings"
	"time"
)

// Headers of a record whose event was erased. Its value is empty, and its key gone.
const (
	// HeaderErased is the SHA-256 of the value that stood there, in hex.
	HeaderErased = "recount_erased"
	// HeaderErasedBy is the position of the events.erased that asked for it.
	HeaderErasedBy = "recount_erased_by"
	// erasedType stands for a type that nobody knows: it may be a secret, too.
	erasedType = "erased"
)

// Erasure is what remains of an erased event.
type Erasure struct {
	// SHA256 is over the value that stood there: who has a copy can show that it was
	// this.
	SHA256 Hash `json:"sha256"`
	// By is where the events.erased stands.
	By Position `json:"by"`
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

// Erase is the record that stands in the place of this one when its event is erased:
// the same id, time and, if it is one of Kinds, type, and nothing else of what it held.
// The producer's own id is free text, so the id that was made of it stays. The key is
// gone: the partition is decided, and a key may be a secret.
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

// TopicName is a topic's name without the prefix.
func TopicName(topic string) string { return topic[strings.LastIndexByte(topic, '.')+1:] }
