package api

import (
	"errors"
	"fmt"
)

var (
	// ErrUnavailable means that the node cannot do this now, or does not have the role for it.
	ErrUnavailable = errors.New("unavailable")
	// ErrBusy means that the same long-running operation is already running.
	ErrBusy = errors.New("busy")
	// ErrReused means that an event came with the id of a different event. Nothing was appended;
	// sending it again does not help.
	ErrReused = errors.New("id reused")
)

// EventError reports what is wrong with one of the events to be appended. Index is its index among
// them, from 0; Of is their number.
type EventError struct {
	Index, Of int
	Err       error
}

func (e *EventError) Error() string { return fmt.Sprintf("event %d of %d: %v", e.Index+1, e.Of, e.Err) }
func (e *EventError) Unwrap() error { return e.Err }

// The problem types. An error over HTTP is a problem of RFC 9457; its type is one of these if the
// status alone does not identify the Go error. Clients compare the type and never parse the
// sentences beside it.
const (
	// TypeNotFound is a *query.NotFoundError: errors[0] has the reference as its value, a hint on what
	// to do as its message, and the query.NotFoundKind, or else id, as its location.
	TypeNotFound = "urn:recount:not-found"
	// TypeErased is a query.ErasedError, which is the value of errors[0].
	TypeErased = "urn:recount:erased"
	// TypeAmbiguous is a *query.AmbiguousError or a *code.AmbiguousNameError: the values of errors are
	// the candidates, each a query.Candidate or a code.NameCandidate, followed by the reference: a
	// string, or the code.AmbiguousNameError without its candidates.
	TypeAmbiguous = "urn:recount:ambiguous"
	// TypeNotVisible means that the position at_least did not become visible in time.
	TypeNotVisible = "urn:recount:not-visible"
	// TypeBusy means ErrBusy.
	TypeBusy = "urn:recount:busy"
	// TypeReused means ErrReused.
	TypeReused = "urn:recount:id-reused"
	// TypeUnavailable is ErrUnavailable, or a transient failure.
	TypeUnavailable = "urn:recount:unavailable"
	// TypeInvalid means that the request or an event is wrong; sending it again does not help.
	TypeInvalid = "urn:recount:invalid"
)
