package accesslog

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Source is the ce_source of the events made here.
const Source = "import/access-log"

const (
	// batch is the maximum number of lines in an event.
	batch = 1000
	// batchBytes limits the lines of an event; redaction may add to them.
	batchBytes = 1 << 20
	maxLine    = 256 << 10
)

// These are the limits of AccessEntry in events.proto, in bytes.
const (
	maxText   = 8192
	maxName   = 256
	maxMethod = 64
)

// Options supply what a log does not contain.
type Options struct {
	// Service is the service that wrote the log. Required.
	Service string
	// Redact removes secrets from a payload before its id is made. Nil leaves payloads unchanged.
	Redact func(*recountv1.AccessLogged)
	// From is the number of lines to skip because they were read before.
	From int
}

// SkipError reports a line that is not one of an access log.
type SkipError struct {
	Line   int // from 1
	Reason string
}

func (e *SkipError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Reason) }

// Batch is an event with its number of lines.
type Batch struct {
	Event schemas.Event
	// Requests is the number of lines in the event; Lines is the number of lines of the file up to
	// the event's end.
	Requests, Lines int
}

// Read yields the events of a log.
func Read(r io.Reader, o Options) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		in := bufio.NewReaderSize(r, maxLine)
		b := builder{o: o}
		for n := 1; ; n++ {
			line, err := in.ReadSlice('\n')
			over := errors.Is(err, bufio.ErrBufferFull)
			for errors.Is(err, bufio.ErrBufferFull) {
				_, err = in.ReadSlice('\n')
			}
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Batch{}, err)
				return
			}
			last := err != nil
			if n > o.From && len(line) > 0 {
				if err := b.line(line, n, over); err != nil && !yield(Batch{}, err) {
					return
				}
			}
			// The ends of events are counted from the start of the file, so that they do not change
			// when the file grows.
			if len(b.entries) > 0 && (last || n%batch == 0 || b.bytes >= batchBytes) {
				lines := n
				if len(line) == 0 {
					lines-- // the file ended with its last line
				}
				e, err := b.event(lines)
				if !yield(e, err) || err != nil {
					return
				}
			}
			if last {
				return
			}
		}
	}
}

// builder collects the lines of an event.
type builder struct {
	o       Options
	entries []*recountv1.AccessEntry
	bytes   int
}

func (b *builder) line(line []byte, n int, over bool) error {
	if over {
		return &SkipError{n, fmt.Sprintf("longer than %d bytes", maxLine)}
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil
	}
	parse := parseCommon
	if line[0] == '{' {
		parse = parseJSON
	}
	e, err := parse(strings.ToValidUTF8(string(line), "\uFFFD"))
	if err != nil {
		return &SkipError{n, err.Error()}
	}
	b.entries = append(b.entries, e)
	b.bytes += len(line)
	return nil
}

// event makes an event of the collected lines; lines is the number of lines of the file so far.
func (b *builder) event(lines int) (Batch, error) {
	m := &recountv1.AccessLogged{Service: b.o.Service, Entries: b.entries}
	n := len(b.entries)
	b.entries, b.bytes = nil, 0
	if b.o.Redact != nil {
		b.o.Redact(m)
	}
	if err := schemas.Validate(m); err != nil {
		return Batch{}, err
	}
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return Batch{}, err
	}
	var last time.Time
	for _, e := range m.Entries {
		if t := e.Time.AsTime(); t.After(last) {
			last = t
		}
	}
	e := schemas.Event{
		Type: schemas.TypeAccessLogged, Source: Source, Time: last, Key: schemas.KeyOf(m),
		ContentType: schemas.ContentProto, Payload: payload,
	}
	e.ID = e.DeriveID()
	return Batch{Event: e, Requests: n, Lines: lines}, nil
}

// withoutQuery returns a path or a URL without its query and fragment.
func withoutQuery(s string) string {
	if i := strings.IndexAny(s, "?#"); i >= 0 {
		s = s[:i]
	}
	return s
}
