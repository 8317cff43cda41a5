package projections

import (
	"fmt"

	"github.com/recountdb/recount/schemas"
)

// RecordError is the error that Apply returns for a record that can never be applied. It is of
// class schemas.ErrPoison. The caller appends the record to the topic `rejected` and applies the
// batch again without it.
type RecordError struct {
	Position schemas.Position
	Err      error
}

// Poison returns a *RecordError for the record at p.
func Poison(p schemas.Position, format string, args ...any) error {
	return &RecordError{p, fmt.Errorf(format, args...)}
}

func (e *RecordError) Error() string { return fmt.Sprintf("record at %s: %v", e.Position, e.Err) }

// RecordPosition returns the position of the record. Package pipeline, which does not import this
// one, calls it through an interface.
func (e *RecordError) RecordPosition() schemas.Position { return e.Position }

// Unwrap returns schemas.ErrPoison, which makes this an error of that class, and the cause.
func (e *RecordError) Unwrap() []error { return []error{schemas.ErrPoison, e.Err} }
