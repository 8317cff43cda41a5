// Package history reads the histories that shells and other programs keep and
// makes events of them. It touches neither the log nor the network: a caller
// ranges over the entries and appends them.
//
// What a caller may rely on:
//
//   - Imported twice is once. An entry's event id is a hash of what it is: the
//     format, the user and host, the command after redaction, its time, and how
//     many entries exactly like it came before in the same history. It does not
//     depend on the file's name, and a history that has grown gives its old
//     entries their old ids. (A shell that drops the oldest lines of a history
//     without times makes a repeated command look like one seen before: such a
//     run may be left out, never doubled.)
//   - What cannot be used is told and skipped: the loop gets a *SkipError with
//     the line and the reason, and goes on. Any other error ends the loop: the
//     file could not be read.
//   - Memory is bounded by the longest entry and by 24 bytes an entry.
//
// # Times
//
// Where a history holds times, they are the events'. An entry without one gets the time
// of the last entry before it that has one: it ran then or later. Where there is none its
// time is unknown, which schemas.UnknownTime says: it is older than all that has a time,
// and answers show it as unknown. The source of such an event ends in "/untimed", so that
// nobody takes the time for an observation; its id does not depend on the time.
package history

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Options say what a history does not.
type Options struct {
	// User and Host are whose history it is. They are part of every id.
	User, Host string
	// Time is for entries that have none; see the package comment.
	Time time.Time
	// Redact takes secrets out of a payload before its id is made, so that an id
	// tells nothing about what was taken out. Nil leaves payloads as they are.
	Redact func(*recountv1.CommandExecuted)
	// Workspace finds the workspace of a directory, "" where there is none. Nil
	// leaves workspaces empty.
	Workspace func(cwd string) string
}

// SkipError says why an entry was left out.
type SkipError struct {
	// Line is where the entry starts, from 1; for Atuin its ordinal.
	Line   int
	Reason string
}

func (e *SkipError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Format is one kind of history that is a stream of bytes.
type Format struct {
	// Name is bash, zsh or fish.
	Name string
	Read func(r io.Reader, o Options) iter.Seq2[schemas.Event, error]
}

// Formats are those of the shells.
var Formats = []Format{{"bash", Bash}, {"zsh", Zsh}, {"fish", Fish}}

// maxCommand is the longest command that events.proto takes.
const maxCommand = 1 << 20

// entry is a command as a shell's history has it.
type entry struct {
	line     int
	command  string
	started  time.Time // zero where unknown
	duration time.Duration
	known    bool // duration is
}

// maker turns entries into events.
type maker struct {
	format string
	o      Options
	last   time.Time               // of the last entry that had a time
	seen   map[schemas.Hash]uint32 // entries alike so far
	// untimed are the entries that have no time and none before them that has one.
	untimed int64
}

func newMaker(format string, o Options) *maker {
	return &maker{format: format, o: o, seen: map[schemas.Hash]uint32{}}
}

// event makes the event of an entry, or says why there is none.
func (m *maker) event(e entry) (schemas.Event, error) {
	if !e.started.IsZero() {
		m.last = e.started
	}
	command := Clean(e.command)
	switch {
	case strings.TrimSpace(command) == "":
		return schemas.Event{}, &SkipError{e.line, "empty"}
	case len(command) > maxCommand:
		return schemas.Event{}, &SkipError{e.line, fmt.Sprintf("a command of %d bytes, at most %d", len(command), maxCommand)}
	}
	p := &recountv1.CommandExecuted{Command: command, Shell: m.format, User: m.o.User, Host: m.o.Host}
	if e.known {
		p.Duration = durationpb.New(e.duration)
	}
	source, at := "import/"+m.format, e.started
	if at.IsZero() {
		source += "/untimed"
		at = m.last
		if at.IsZero() {
			m.untimed++
			at = schemas.UnknownTime(m.untimed)
		}
	} else {
		p.StartedAt = timestamppb.New(at)
	}
	if m.o.Redact != nil {
		m.o.Redact(p)
	}
	return m.finish(source, at, e.started, p)
}

// finish gives the event its id.
func (m *maker) finish(source string, at, identity time.Time, p *recountv1.CommandExecuted) (schemas.Event, error) {
	c := schemas.NewCanon("recount/import/1").String(m.format).String(p.User).String(p.Host).
		String(p.Cwd).String(p.Session).String(p.Command)
	if !identity.IsZero() {
		c.Int(identity.UnixNano())
	}
	alike := c.Sum()
	id := c.Int(int64(m.seen[alike])).ID()
	m.seen[alike]++
	return newEvent(id, source, at, p)
}

func newEvent(id schemas.EventID, source string, at time.Time, p *recountv1.CommandExecuted) (schemas.Event, error) {
	payload, err := schemas.EncodePayload(p)
	if err != nil {
		return schemas.Event{}, fmt.Errorf("encode %s: %w", id, err)
	}
	return schemas.Event{
		ID: id, Type: schemas.TypeCommandExecuted, Source: source, Time: at.UTC(),
		Key: keyOf(p), ContentType: schemas.ContentJSON, Payload: payload,
	}, nil
}

// keyOf is the workspace or the directory; what knows neither stays in order by
// whose it is.
func keyOf(p *recountv1.CommandExecuted) []byte {
	switch {
	case p.Workspace != "":
		return []byte(p.Workspace)
	case p.Cwd != "":
		return []byte(p.Cwd)
	}
	return []byte(p.User + "@" + p.Host)
}

// Clean makes text fit for an event: valid UTF-8 without NUL bytes, which a
// crash leaves in the files of shells, and without white space at the end.
func Clean(s string) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if strings.IndexByte(s, 0) >= 0 {
		s = strings.ReplaceAll(s, "\x00", "")
	}
	return strings.TrimRight(s, " \t\r\n")
}
