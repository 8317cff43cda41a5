// Package history reads the histories of shells and other programs and turns them into events. It
// uses neither the log nor the network: a caller iterates over the entries and appends them.
//
// A caller may rely on these properties:
//
//   - Importing twice has the effect of importing once. An entry's event id is a hash of
//     the format, the user and host, the command after redaction, its time, and the
//     number of equal entries before it in the same history. It does not depend on the
//     file's name, and the entries of a history that has grown keep their ids. (If a
//     shell drops the oldest lines of a history without times, a repeated command may
//     look like an earlier one: such a run may be omitted, but never duplicated.)
//   - Unusable entries are reported and skipped: the loop gets a *SkipError with the line
//     and the reason, and continues. Any other error ends the loop: the file could not be
//     read.
//   - Memory is bounded by the longest entry and 24 bytes per entry.
//
// # Times
//
// The times in a history are those of the events. An entry without one gets the time of the last
// entry before it that has one, since it ran then or later. If there is none, its time is unknown
// and is set to schemas.UnknownTime: it sorts before all known times, and answers show it as
// unknown. The source of such an event ends in "/untimed", so that the time is not mistaken for an
// observation; its id does not depend on the time.
package history

import (
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Options supply what a history does not contain.
type Options struct {
	// User and Host are the owner and machine of the history. They are part of every id.
	User, Host string
	// Time is used for entries without one; see the package comment.
	Time time.Time
	// Redact removes secrets from a payload before its id is made, so that an id reveals nothing
	// about them. Nil leaves payloads unchanged.
	Redact func(*recountv1.CommandExecuted)
	// Workspace returns the workspace of a directory, "" if there is none. Nil leaves workspaces
	// empty.
	Workspace func(cwd string) string
}

// SkipError reports why an entry was skipped.
type SkipError struct {
	// Line is the line at which the entry starts, from 1; for Atuin its ordinal.
	Line   int
	Reason string
}

func (e *SkipError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Format is a kind of history that is read from a stream of bytes.
type Format struct {
	// Name is bash, zsh or fish.
	Name string
	Read func(r io.Reader, o Options) iter.Seq2[schemas.Event, error]
}

// Formats are the formats of the shells.
var Formats = []Format{{"bash", Bash}, {"zsh", Zsh}, {"fish", Fish}}

// maxCommand is the maximum length of a command in events.proto.
const maxCommand = 1 << 20

// entry is a command in a shell's history.
type entry struct {
	line     int
	command  string
	started  time.Time // zero if unknown
	duration time.Duration
	known    bool // whether duration is known
}

// maker converts entries into events.
type maker struct {
	format string
	o      Options
	last   time.Time               // the time of the last entry that had one
	seen   map[schemas.Hash]uint32 // number of equal entries so far
	// untimed counts the entries without a time of their own or before them.
	untimed int64
}

func newMaker(format string, o Options) *maker {
	return &maker{format: format, o: o, seen: map[schemas.Hash]uint32{}}
}

// event returns the event of an entry, or an error if there is none.
func (m *maker) event(e entry) (schemas.Event, error) {
	if !e.started.IsZero() {
		m.last = e.started
	}
	command := recording.Clean(e.command)
	switch {
	case strings.TrimSpace(command) == "":
		return schemas.Event{}, &SkipError{e.line, "empty"}
	case len(command) > maxCommand:
		return schemas.Event{}, &SkipError{e.line, fmt.Sprintf("a command of %d bytes, the maximum is %d", len(command), maxCommand)}
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

// finish sets the event's id.
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

// keyOf returns the workspace or the directory; entries without either are kept in order by their
// owner.
func keyOf(p *recountv1.CommandExecuted) []byte {
	switch {
	case p.Workspace != "":
		return []byte(p.Workspace)
	case p.Cwd != "":
		return []byte(p.Cwd)
	}
	return []byte(p.User + "@" + p.Host)
}
