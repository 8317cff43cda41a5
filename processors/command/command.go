// Package command interprets shell command lines: it turns a `command.executed` event into an
// Intent, and an `outcome.observed` event into an Outcome.
//
// Both are pure functions of the event. Every command that decodes becomes an intent, even with
// broken syntax (its confidence is then lower). Time and memory are bounded by the command's
// length, whatever its nesting. No file is read: paths are resolved by their text alone.
package command

import (
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Name is the processor's name and version. The version increases with every change of the output,
// so that a record shows by which rules it was made.
const Name = "command/3"

// Intent makes the intent of a `command.executed` event, without embeddings. Errors are of class
// ErrPoison.
func Intent(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	return intent(nil, e, payload, rec)
}

func intent(m *Memory, e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	c, ok := payload.(*recountv1.CommandExecuted)
	if !ok {
		return schemas.Poisonf("payload is %T, want CommandExecuted", payload)
	}
	if err := checkCommand(c); err != nil {
		return err
	}
	in := &recountv1.Intent{
		Command:      c.Command,
		Workspace:    workspace(c),
		Cwd:          c.Cwd,
		Session:      c.Session,
		Shell:        c.Shell,
		User:         c.User,
		Host:         c.Host,
		Author:       c.Author,
		StatedIntent: c.StatedIntent,
		GitHead:      c.GitHead,
		ParentId:     eventID(e.Source, c.ParentEventId),
		DurationNano: nanos(c.Duration),
		ExitCode:     c.ExitCode,
		OutputTail:   c.OutputTail,
		TimeUnixNano: unixNano(c.StartedAt, e.Time),
		ContextHash:  contextHash(c),
		ContentHash:  ContentHash(c.Command),
	}
	m.understand(in, c.Home)
	rec.Body = &recountv1.Record_Intent{Intent: in}
	return nil
}

// Outcome makes the outcome of an `outcome.observed` event. Errors are of class
// ErrPoison.
func Outcome(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	o, ok := payload.(*recountv1.OutcomeObserved)
	if !ok {
		return schemas.Poisonf("payload is %T, want OutcomeObserved", payload)
	}
	if err := checkOutcome(o); err != nil {
		return err
	}
	rec.Body = &recountv1.Record_Outcome{Outcome: &recountv1.Outcome{
		IntentId:         eventID(e.Source, o.CommandEventId),
		ExitCode:         o.ExitCode,
		DurationNano:     nanos(o.Duration),
		ObservedUnixNano: unixNano(o.ObservedAt, e.Time),
		OutputTail:       o.OutputTail,
		Author:           o.Author,
	}}
	return nil
}

// unixNano returns a time that was checked before, or absent if it is nil.
func unixNano(ts *timestamppb.Timestamp, absent time.Time) int64 {
	if ts == nil {
		return absent.UnixNano()
	}
	return ts.AsTime().UnixNano()
}

// nanos returns a duration in nanoseconds, -1 if it is unknown. A duration longer than an int64 can
// hold (292 years) becomes the maximum.
func nanos(d *durationpb.Duration) int64 {
	if d == nil {
		return -1
	}
	return int64(d.AsDuration())
}

// eventID returns the id of an event as its producer wrote it in a reference. It uses the rule for
// ce_id, so both give the same 16 bytes.
func eventID(source, id string) []byte {
	if id == "" {
		return nil
	}
	parsed := schemas.ProducerID(source, id)
	return parsed[:]
}
