package api

import (
	"errors"
	"fmt"
)

var (
	// ErrUnavailable: the node cannot do this now, or has not the role for it.
	ErrUnavailable = errors.New("unavailable")
	// ErrBusy: the same long work is under way already.
	ErrBusy = errors.New("busy")
	// ErrReused: an id that stands for an event came with another one. Nothing was
	// appended; sending it again does not help.
	ErrReused = errors.New("id reused")
)

// EventError is what is wrong with one of the events to be appended, and its place among
// them: the first is 0.
type EventError struct {
	Index, Of int
	Err       error
}

func (e *EventError) Error() string { return fmt.Sprintf("event %d of %d: %v", e.Index+1, e.Of, e.Err) }
func (e *EventError) Unwrap() error { return e.Err }
