package runtime

import (
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Range is a time from From up to, but without, To: nanoseconds since 1970. It is
// widened to whole minutes. The zero Range is all of time.
type Range struct{ From, To int64 }

// Sum is what was seen of one thing in a range.
type Sum struct {
	Count, Errors uint64
	// First and Last are the earliest and the latest start: nanoseconds since 1970,
	// by the clock of the service that told the span.
	First, Last int64
	// Examples are up to three that failed, then up to three that did not. Which
	// ones is decided by a hash of their ids, so that they are no special ones.
	Examples []Example

	durations sketch
}

// Quantile is the duration in nanoseconds that the share q (0 to 1) took at most,
// within 1 %. It is false where nothing was seen.
func (s *Sum) Quantile(q float64) (nanos float64, ok bool) { return s.durations.quantile(q) }

// Example is one span of those that were summed.
type Example struct {
	// Trace and Span are zero for a line of an access log.
	Trace [16]byte
	Span  [8]byte
	// Position is its event's.
	Position schemas.Position
	Failed   bool
	// Duration is in nanoseconds.
	Duration int64
}

// Served is what a service was asked and answered: its spans of the called side, by
// their start.
type Served struct {
	Service   string
	Kind      recountv1.RuntimeKind
	Operation string
	// Templated says that Operation is a pattern of the code.
	Templated bool
	System    string
	Sum
}

// Asked is what a service asked of a peer, whoever it was and whether it answered
// or not: its spans of the caller's side, by their start. An asker's Count minus
// those of the Calls with its Caller, AskedKind, AskedOperation, Peer and
// AskedSystem had no answering span: a database, say, or a service that tells none.
type Asked struct {
	Service, Peer string
	Kind          recountv1.RuntimeKind
	Operation     string
	Templated     bool
	System        string
	Sum
}

// Call is a pair of spans of which one is the other's cause, in two services, or
// on two sides of one. Of RUNTIME_KIND_CONSUMES the Caller produced what the Callee
// consumed: the message went from Caller to Callee through the topic Operation, as
// the edge `consumes` runs from a service to the topic it reads.
//
// A call stands at the start of the caller's span, so that it can be told from what
// was Asked; where the caller's span is not of the caller's side, at the start of
// the callee's. The durations are the callee's; it failed where either span did.
type Call struct {
	Caller, Callee string
	// Kind is the callee's, or else the caller's.
	Kind recountv1.RuntimeKind
	// Operation is what the callee calls it.
	Operation string
	Templated bool
	System    string
	// The caller's words for it: as in Asked. They are empty where its span is not of
	// the caller's side.
	AskedKind      recountv1.RuntimeKind
	AskedOperation string
	AskedSystem    string
	Peer           string
	Sum
}

// Service is what told spans under one name.
type Service struct {
	Name string
	// First and Last are the earliest and the latest start.
	First, Last int64
	// Spans counts those of all Observers.
	Spans uint64
	// Observers are sorted by Last, the latest first, then by their fields.
	Observers []Observer
}

// Observer is a program as its resource names it.
type Observer struct {
	Namespace, Version, Instance, Environment string
	// Repository is such as github.com/acme/shop, Revision a commit in hex.
	Repository, Revision string
	First, Last          int64
	Spans                uint64
}
