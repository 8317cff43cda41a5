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

// Problem types. An error over HTTP is a problem of RFC 9457; its type is one of
// these where the status alone does not say which error of Go it was. Clients
// compare the type and never read the sentences beside it.
const (
	// TypeNotFound: errors[0] has the reference as its value and what to do as its message.
	TypeNotFound = "urn:recount:not-found"
	// TypeErased: errors[0] has the erasure as its value, a query.ErasedError.
	TypeErased = "urn:recount:erased"
	// TypeAmbiguous: the values of errors are the candidates, each a query.Candidate, and
	// last the reference, a string.
	TypeAmbiguous = "urn:recount:ambiguous"
	// TypeNotVisible: at_least did not become visible in time.
	TypeNotVisible = "urn:recount:not-visible"
	// TypeBusy is ErrBusy.
	TypeBusy = "urn:recount:busy"
	// TypeReused is ErrReused.
	TypeReused = "urn:recount:id-reused"
	// TypeUnavailable is ErrUnavailable, or a failure that passes.
	TypeUnavailable = "urn:recount:unavailable"
	// TypeInvalid: the request or an event is wrong, and sending it again does not help.
	TypeInvalid = "urn:recount:invalid"
)
