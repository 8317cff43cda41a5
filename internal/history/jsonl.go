package history

import (
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// JSONL reads one event per line: the payload of a command.executed in JSON, as in events.proto, or
// a CloudEvent of any kind in structured mode. A CloudEvent keeps its id; a bare payload gets one
// as the entries of other histories do.
func JSONL(r io.Reader, o Options) iter.Seq2[schemas.Event, error] {
	return func(yield func(schemas.Event, error) bool) {
		w := &emitter{m: newMaker("jsonl", o), yield: yield}
		for l, err := range lines(r) {
			if err != nil {
				w.fail(err)
				return
			}
			text := strings.TrimSpace(l.text)
			switch {
			case l.tooLong:
				w.skip(l.number, "a line too long")
			case text == "":
			default:
				e, err := w.m.json([]byte(text))
				if err != nil {
					w.skip(l.number, err.Error())
				} else {
					w.done = !w.yield(e, nil)
				}
			}
			if w.done {
				return
			}
		}
	}
}

// cloudEvent is the structured mode, with the members that Recount's events need.
type cloudEvent struct {
	SpecVersion  *string         `json:"specversion"`
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Source       string          `json:"source"`
	Subject      string          `json:"subject"`
	Time         *time.Time      `json:"time"`
	ContentType  string          `json:"datacontenttype"`
	PartitionKey string          `json:"partitionkey"`
	Data         json.RawMessage `json:"data"`
}

func (m *maker) json(text []byte) (schemas.Event, error) {
	var ce cloudEvent
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(text, &fields); err != nil || fields == nil {
		return schemas.Event{}, fmt.Errorf("not a JSON object")
	}
	if _, ok := fields["specversion"]; ok {
		if err := json.Unmarshal(text, &ce); err != nil {
			return schemas.Event{}, fmt.Errorf("cloud event: %w", err)
		}
		return m.cloudEvent(ce)
	}
	p := &recountv1.CommandExecuted{}
	if err := protojson.Unmarshal(text, p); err != nil {
		for name := range fields {
			if meant := fieldMeant(name); meant != "" && strings.Contains(err.Error(), fmt.Sprintf("unknown field %q", name)) {
				return schemas.Event{}, fmt.Errorf("%w: did you mean %s?", plain(err), meant)
			}
		}
		return schemas.Event{}, plain(err)
	}
	p.Command = recording.Clean(p.Command)
	if err := m.prepare(p); err != nil {
		return schemas.Event{}, err
	}
	at, identity := m.o.Time, time.Time{}
	source := "import/jsonl"
	if p.StartedAt != nil {
		at = p.StartedAt.AsTime()
		identity, m.last = at, at
	} else {
		source += "/untimed"
		if !m.last.IsZero() {
			at = m.last
		}
	}
	return m.finish(source, at, identity, p)
}

func (m *maker) cloudEvent(ce cloudEvent) (schemas.Event, error) {
	if *ce.SpecVersion != "1.0" {
		return schemas.Event{}, fmt.Errorf("specversion: %q: want 1.0", *ce.SpecVersion)
	}
	e := schemas.Event{Type: ce.Type, Source: ce.Source, Subject: ce.Subject, ContentType: ce.ContentType, Payload: ce.Data, Key: []byte(ce.PartitionKey)}
	if e.Type == "" {
		e.Type = schemas.TypeCommandExecuted
	}
	if e.Source == "" {
		e.Source = "import/jsonl"
	}
	if e.ContentType == "" {
		e.ContentType = schemas.ContentJSON
	}
	if e.ContentType != schemas.ContentJSON {
		return e, fmt.Errorf("datacontenttype: %q: want %s", e.ContentType, schemas.ContentJSON)
	}
	msg, err := e.DecodePayload()
	if err != nil {
		return e, err
	}
	e.Time = m.o.Time.UTC()
	if ce.Time != nil {
		e.Time = ce.Time.UTC()
	}
	if p, ok := msg.(*recountv1.CommandExecuted); ok {
		if ce.Time == nil && p.StartedAt != nil {
			e.Time = p.StartedAt.AsTime()
		}
		if err := m.prepare(p); err != nil {
			return e, err
		}
		if len(e.Key) == 0 {
			e.Key = keyOf(p)
		}
		if e.Payload, err = schemas.EncodePayload(p); err != nil {
			return e, err
		}
	}
	if ce.ID != "" {
		e.ID = schemas.ProducerID(e.Source, ce.ID)
		return e, nil
	}
	c := schemas.NewCanon("recount/import/1").String("cloudevent").String(e.Type).String(e.Source).Bytes(e.Key).Bytes(canonical(msg))
	if ce.Time != nil {
		c.Int(e.Time.UnixNano())
	}
	alike := c.Sum()
	e.ID = c.Int(int64(m.seen[alike])).ID()
	m.seen[alike]++
	return e, nil
}

// prepare redacts and checks a payload from another producer.
func (m *maker) prepare(p *recountv1.CommandExecuted) error {
	if m.o.Workspace != nil && p.Workspace == "" && p.Cwd != "" {
		p.Workspace = m.o.Workspace(p.Cwd)
	}
	if m.o.Redact != nil {
		m.o.Redact(p)
	}
	return schemas.Validate(p)
}

// canonical returns the same bytes for equal messages.
func canonical(msg proto.Message) []byte {
	b, _ := proto.MarshalOptions{Deterministic: true}.Marshal(msg)
	return b
}

// plain returns protobuf's error without the parts that vary at random.
func plain(err error) error {
	s := strings.ReplaceAll(err.Error(), "\u00a0", " ")
	return fmt.Errorf("%s", strings.TrimPrefix(s, "proto: "))
}
