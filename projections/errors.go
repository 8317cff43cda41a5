package projections

import (
	"fmt"

	"github.com/recountdb/recount/schemas"
)

// RecordError is what Apply returns for a record that can never be applied. It
// is of class schemas.ErrPoison. The caller appends the record to the `rejected`
// topic and applies the batch again without it.
type RecordError struct {
	Position schemas.Position
	Err      error
}

// Poison returns a *RecordError.
func Poison(p schemas.Position, format string, args ...any) error {
	return &RecordError{p, fmt.Errorf(format, args...)}
}

func (e *RecordError) Error() string { return fmt.Sprintf("record at %s: %v", e.Position, e.Err) }

// RecordPosition is how pipeline, which does not know this package, learns which
// record it was.
func (e *RecordError) RecordPosition() schemas.Position { return e.Position }

// Unwrap makes the error one of class schemas.ErrPoison.
func (e *RecordError) Unwrap() []error { return []error{schemas.ErrPoison, e.Err} }
