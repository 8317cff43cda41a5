package query

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// RequestError is what is wrong with a request; the caller can fix it.
type RequestError struct {
	// Field is the JSON path, such as "filters.exit".
	Field string
	// Value is what was given.
	Value any
	// Reason says what would be right.
	Reason string
}

func (e *RequestError) Error() string {
	return fmt.Sprintf("%s: %v: %s", e.Field, e.Value, e.Reason)
}

// NotFoundError: nothing visible answers to the reference.
type NotFoundError struct {
	Ref string
	// Hint says what to do.
	Hint string
	// Kind is what was looked for; "" is a command, a symbol, a file and the like.
	Kind NotFoundKind
	// Unread counts the events that are on the log, were not read yet and may bring what was not found.
	Unread int64
}

// NotFoundKind is what a caller may ask about instead.
type NotFoundKind string

// These are the kinds. UnknownImport is a repository, or a commit of one, that was not imported.
const (
	UnknownImport   NotFoundKind = "import"
	UnknownRevision NotFoundKind = "revision"
	UnknownGraph    NotFoundKind = "graph"
)

func (e *NotFoundError) Error() string {
	if e.Ref == "" {
		return e.Hint // nothing was named, and there is nothing to choose
	}
	return fmt.Sprintf("%q: not found: %s", e.Ref, e.Hint)
}

// AmbiguousError: more than one event's id starts with the prefix. The caller
// asks again with more of the id.
type AmbiguousError struct {
	Prefix string
	// Matches holds the first few, in order of id.
	Matches []Candidate
}

// Candidate is one command that an abbreviated id may mean.
type Candidate struct {
	ID   schemas.EventID `json:"id"`
	Time time.Time       `json:"time"`
	// Command is its first line, cut short.
	Command string `json:"command"`
}

func (e *AmbiguousError) Error() string {
	var ids []string
	for _, m := range e.Matches {
		ids = append(ids, m.ID.String()+" ("+m.Command+")")
	}
	return fmt.Sprintf("%q: ambiguous: a prefix of %s", e.Prefix, strings.Join(ids, ", "))
}

// NotVisibleError: what at_least asks for did not become visible in time. The
// caller may ask again; the projections lag, or the offsets do not exist.
type NotVisibleError struct {
	Want, Have schemas.Watermark
	Waited     time.Duration
}

func (e *NotVisibleError) Error() string {
	return fmt.Sprintf("at_least: %s: not visible after %s; visible so far: %s", e.Want, Took(e.Waited), e.Have)
}
