package api

import (
	"encoding/json"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// StoredEvent is a record of the log as it is stored, for people who look at it. Bytes that are not
// UTF-8 in keys and headers are replaced.
type StoredEvent struct {
	Position schemas.Position  `json:"position" doc:"Its position."`
	Appended time.Time         `json:"appended" doc:"The log record's timestamp."`
	ID       string            `json:"id,omitempty" doc:"Its id; absent if the record is not an event."`
	Type     string            `json:"type,omitempty" example:"command.executed" doc:"Its CloudEvents type."`
	Source   string            `json:"source,omitempty" example:"recount" doc:"Its CloudEvents source."`
	Time     *time.Time        `json:"time,omitempty" doc:"Its CloudEvents time."`
	Key      string            `json:"key,omitempty" doc:"The key that chose its partition."`
	Headers  map[string]string `json:"headers,omitempty" doc:"The record's headers."`
	// Payload is JSON as stored, or the JSON form of known protobuf; PayloadBase64 holds any other
	// bytes. Only one of them is set.
	Payload       json.RawMessage `json:"payload,omitempty" doc:"The payload: JSON as stored, or the JSON form of known protobuf."`
	PayloadBase64 []byte          `json:"payload_base64,omitempty" doc:"The payload, if it is neither JSON nor known protobuf."`
	// Erased describes an erased event.
	Erased *schemas.Erasure `json:"erased,omitempty" doc:"What is left of an erased event."`
	// Error is why the record is not an event.
	Error string `json:"error,omitempty" doc:"Why the record is not an event."`
}

// NewStoredEvent describes a record of the log.
func NewStoredEvent(r schemas.LogRecord) (StoredEvent, error) {
	s := StoredEvent{Position: r.Position, Appended: r.Timestamp.UTC(), Key: strings.ToValidUTF8(string(r.Key), "\uFFFD")}
	for _, h := range r.Headers {
		if s.Headers == nil {
			s.Headers = map[string]string{}
		}
		s.Headers[h.Key] = strings.ToValidUTF8(string(h.Value), "\uFFFD")
	}
	value := r.Value
	e, err := r.Event()
	if err != nil {
		s.Error = err.Error()
	} else {
		s.ID, s.Type, s.Source, s.Time = e.ID.String(), e.Type, e.Source, &e.Time
		if e.ContentType == schemas.ContentProto {
			if m, derr := e.DecodePayload(); derr == nil {
				if value, err = schemas.EncodePayload(m); err != nil {
					return s, err
				}
			}
		}
	}
	if x, ok := r.Erased(); ok {
		s.Erased = &x
	}
	if json.Valid(value) {
		s.Payload = value
	} else {
		s.PayloadBase64 = value
	}
	return s, nil
}
