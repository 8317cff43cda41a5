// Package command understands shell command lines: `command.executed` becomes an
// Intent, `outcome.observed` an Outcome.
//
// What a caller may rely on: both are pure functions of the event; every command
// that decodes becomes an intent, however broken its syntax (a reading that is a
// guess has a lower confidence); time and memory are bounded by the command's
// length, whatever its nesting; and no file is ever looked at: paths are
// resolved by their text alone.
package command

import (
	"strings"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Name is the processor's name and version. The version changes with every
// change of what comes out: it tells a reader of a record whose rules it shows.
const Name = "command/2"

// Intent makes the intent of a `command.executed` event. It knows nothing of
// embeddings. Errors are of class ErrPoison.
func Intent(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	return intent(nil, e, payload, rec)
}

func intent(m *Memory, e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	c, ok := payload.(*recountv1.CommandExecuted)
	if !ok {
		return schemas.Poisonf("payload is %T, want CommandExecuted", payload)
	}
	for _, f := range []struct{ name, value string }{
		{"command", c.Command},
		{"workspace", c.Workspace},
		{"cwd", c.Cwd},
		{"session", c.Session},
		{"shell", c.Shell},
		{"user", c.User},
		{"host", c.Host},
		{"git_head", c.GitHead},
		{"author", c.Author},
	} {
		// No shell passes a NUL on, and stores end strings with it.
		if strings.IndexByte(f.value, 0) >= 0 {
			return schemas.Poisonf("%s: holds a NUL byte", f.name)
		}
	}
	if strings.TrimSpace(c.Command) == "" {
		return schemas.Poisonf("command: only white space")
	}
	started, err := unixNano("started_at", c.StartedAt, e.Time)
	if err != nil {
		return err
	}
	parent, err := eventID("parent_event_id", e.Source, c.ParentEventId)
	if err != nil {
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
		ParentId:     parent,
		DurationNano: nanos(c.Duration),
		ExitCode:     c.ExitCode,
		OutputTail:   c.OutputTail,
		TimeUnixNano: started,
		ContextHash:  contextHash(c),
		ContentHash:  ContentHash(c.Command),
	}
	m.understand(in)
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
	id, err := eventID("command_event_id", e.Source, o.CommandEventId)
	if err != nil {
		return err
	}
	observed, err := unixNano("observed_at", o.ObservedAt, e.Time)
	if err != nil {
		return err
	}
	rec.Body = &recountv1.Record_Outcome{Outcome: &recountv1.Outcome{
		IntentId:         id,
		ExitCode:         o.ExitCode,
		DurationNano:     nanos(o.Duration),
		ObservedUnixNano: observed,
		OutputTail:       o.OutputTail,
		Author:           o.Author,
	}}
	return nil
}

// The times that a record may hold, as for the event's own time.
var (
	minTime = time.Date(1900, 1, 1, 0, 0, 0, 0, time.UTC)
	maxTime = time.Date(2250, 1, 1, 0, 0, 0, 0, time.UTC)
)

func unixNano(field string, ts *timestamppb.Timestamp, absent time.Time) (int64, error) {
	if ts == nil {
		return absent.UnixNano(), nil
	}
	if err := ts.CheckValid(); err != nil {
		return 0, schemas.Poisonf("%s: not a valid time", field)
	}
	t := ts.AsTime()
	if t.Before(minTime) || t.After(maxTime) {
		return 0, schemas.Poisonf("%s: %s is outside %d to %d", field, t.Format(time.RFC3339), minTime.Year(), maxTime.Year())
	}
	return t.UnixNano(), nil
}

// nanos is the duration in nanoseconds, -1 if it is unknown. One longer than an
// int64 can say (292 years) is cut to the longest.
func nanos(d *durationpb.Duration) int64 {
	if d == nil {
		return -1
	}
	return int64(d.AsDuration())
}

// eventID reads a reference to another event as that event's producer wrote it:
// with the same rule as its ce_id, so that both come to the same 16 bytes.
func eventID(field, source, id string) ([]byte, error) {
	if id == "" {
		return nil, nil
	}
	if strings.IndexByte(id, 0) >= 0 {
		return nil, schemas.Poisonf("%s: holds a NUL byte", field)
	}
	parsed := schemas.ProducerID(source, id)
	return parsed[:], nil
}
