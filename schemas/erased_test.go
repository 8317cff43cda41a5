package schemas_test

import (
	"crypto/sha256"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/schemas"
)

// TestErase checks that an erased event keeps its id, time and position and nothing of its content.
func TestErase(t *testing.T) {
	const secret = "hunter2"
	at := time.Date(2026, 11, 21, 12, 0, 0, 5, time.UTC)
	by := schemas.Position{Topic: "recount.erasures", Partition: 1, Offset: 7}
	for name, r := range map[string]schemas.LogRecord{
		"the id is derived":        {Value: []byte(`{"command":"login hunter2"}`), Key: []byte("hunter2")},
		"the id is the producer's": {Value: []byte(`{"command":"login hunter2"}`), Headers: []schemas.Header{{Key: "ce_id", Value: []byte("login-hunter2")}, {Key: "ce_source", Value: []byte("hunter2")}}},
		"other headers":            {Value: []byte(`{"command":"x"}`), Headers: []schemas.Header{{Key: "x-token", Value: []byte("hunter2")}, {Key: "ce_subject", Value: []byte("hunter2")}}},
		"a type nobody knows":      {Value: []byte(`{}`), Headers: []schemas.Header{{Key: "ce_type", Value: []byte("hunter2")}}},
		"no event":                 {Value: []byte(`hunter2`), Headers: []schemas.Header{{Key: "ce_time", Value: []byte("hunter2")}}},
		"nothing":                  {},
	} {
		t.Run(name, func(t *testing.T) {
			r.Position = schemas.Position{Topic: "recount.commands", Partition: 2, Offset: 42}
			r.Timestamp = at
			before, err := r.Event()
			got := r.Erase(by)
			if got.Position != r.Position || !got.Timestamp.Equal(at) || got.Key != nil || got.Value != nil {
				t.Errorf("%+v", got)
			}
			for _, h := range got.Headers {
				if strings.Contains(h.Key+string(h.Value), secret) {
					t.Errorf("header %s: %s", h.Key, h.Value)
				}
			}
			e, ok := got.Erased()
			if !ok || e.SHA256 != schemas.Hash(sha256.Sum256(r.Value)) || e.By != by {
				t.Errorf("erased %v, %+v", ok, e)
			}
			after, aerr := got.Event()
			if err == nil && (aerr != nil || after.ID != before.ID || !after.Time.Equal(before.Time)) {
				t.Errorf("it was %s of %s, and is %s of %s: %v", before.ID, before.Time, after.ID, after.Time, aerr)
			}
			if again := got.Erase(schemas.Position{}); len(again.Headers) != len(got.Headers) {
				t.Errorf("erased twice: %v", again.Headers)
			}
			if _, ok := r.Erased(); ok {
				t.Error("erased before it was")
			}
		})
	}
}

// TestErasedNeedsNoValue checks that the header alone does not make a record erased.
func TestErasedNeedsNoValue(t *testing.T) {
	r := schemas.LogRecord{Value: []byte("x"), Headers: []schemas.Header{{Key: schemas.HeaderErased, Value: []byte(strings.Repeat("0", 64))}}}
	if _, ok := r.Erased(); ok {
		t.Error("a record with a value is taken for erased")
	}
}
