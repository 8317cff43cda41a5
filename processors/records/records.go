// Package records turns log records into records, by a table of processors. Package processors has
// the whole table; Commands is its part for the topic of commands, for a program that is to start
// without the parsers of all languages.
package records

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/processors/command"
	"github.com/recountdb/recount/processors/embed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Func fills in the body of a record from its event, whose payload was decoded and validated. It
// must be pure. An error of class ErrPoison rejects the event; any other error stops the batch.
type Func func(e schemas.Event, payload proto.Message, rec *recountv1.Record) error

// Processor makes records of one type of event, or of all events of one topic.
type Processor struct {
	// Type is the CloudEvents type it handles.
	Type string
	// Topic, if Type is empty, is the topic whose events it handles, of known and unknown types.
	Topic string
	// Name is the processor's name and version, as stored in Rejected.by. Projections rebuild state
	// that was made from records of another version.
	Name string
	Func Func
	// Prepare, if not nil, takes the place of Func: it returns the Func that uses what the chain
	// has, such as its embedder.
	Prepare func(Chain) Func
	// Check, if not nil, refuses the same payloads as Func, without the work of Func. The payload
	// already meets the schema's constraints.
	Check func(payload proto.Message) error
	// Wire, if not nil, handles an event whose protobuf payload is not decoded, if decoding would
	// cost more than everything else. It refuses the same events as Func.
	Wire func(e schemas.Event, rec *recountv1.Record) error
}

// Table is a list of processors: at most one for each type of event.
type Table []Processor

// Commands has the processors of the topic of commands.
var Commands = Table{
	{Type: schemas.TypeCommandExecuted, Name: command.Name, Prepare: Chain.commands, Check: command.Check},
	{Type: schemas.TypeOutcomeObserved, Name: command.Name, Func: command.Outcome, Check: command.Check},
	{Type: schemas.TypeReplayPlanned, Name: command.Name, Func: command.Replay, Check: command.CheckReplay},
	{Type: schemas.TypeReplayStarted, Name: command.Name, Func: command.Replay, Check: command.CheckReplay},
	{Type: schemas.TypeReplayStepEnded, Name: command.Name, Func: command.Replay, Check: command.CheckReplay},
	{Type: schemas.TypeReplayEnded, Name: command.Name, Func: command.Replay, Check: command.CheckReplay},
}

// processorOf returns the processor for the event, nil if there is none.
func (t Table) processorOf(e schemas.Event) *Processor {
	kind, _ := e.Kind()
	i := slices.IndexFunc(t, func(p Processor) bool {
		return p.Type == e.Type && e.Type != "" || p.Type == "" && p.Topic == kind.Topic
	})
	if i < 0 {
		return nil
	}
	return &t[i]
}

// Check returns the error with which Records would reject an event whose payload was decoded and
// meets the schema's constraints. Endpoints call it on a redacted event before they append it, so
// that every acknowledged event is applied. An error is of class ErrPoison and names the field.
func (t Table) Check(e schemas.Event, payload proto.Message) error {
	if p := t.processorOf(e); p != nil && p.Check != nil {
		return p.Check(payload)
	}
	return nil
}

// Versions returns the names and versions of the processors for the events of the topics, in order
// of registration. Without topics it covers all.
func (t Table) Versions(topics ...string) []string {
	var names []string
	for _, p := range t {
		topic := p.Topic
		if k, ok := schemas.KindOf(p.Type); ok {
			topic = k.Topic
		}
		if (len(topics) == 0 || slices.Contains(topics, topic)) && !slices.Contains(names, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// Decoder is the value of Rejected.by for an event that was refused before it reached a processor.
const Decoder = "decode/1"

// Chain configures how a batch is processed. The zero Chain makes records without embeddings.
type Chain struct {
	// Embedder, if not nil, computes the embedding of each intent and of each part of an object.
	Embedder embed.Embedder
	// Commands, if not nil, caches how command lines were understood.
	Commands *command.Memory
	// Workers limits the goroutines of one call; 0 means GOMAXPROCS. The result does not depend on
	// it.
	Workers int
}

// DefaultChain returns the chain that the shipped pipelines use.
func DefaultChain() Chain {
	return Chain{Embedder: embed.Remember(embed.NewHash()), Commands: command.Remember()}
}

// commands returns the processor of command.executed events.
func (c Chain) commands() Func {
	return func(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
		if err := c.Commands.Intent(e, payload, rec); err != nil {
			return err
		}
		embed.Intent(rec.GetIntent(), c.Embedder)
		return nil
	}
}

// grain is the number of log records that a goroutine takes at a time: about a millisecond of work,
// which outweighs the cost of the hand-over.
const grain = 64

// Records makes one record of each log record, in order. An error is the context's, or a bug of
// ours that no event caused; no records are returned then, and the caller may retry the batch.
func (t Table) Records(ctx context.Context, in []schemas.LogRecord, c Chain) ([]*recountv1.Record, error) {
	out := make([]*recountv1.Record, len(in))
	chunks := (len(in) + grain - 1) / grain
	workers := c.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = min(workers, chunks)

	var next atomic.Int64
	work := func() error {
		for {
			if err := ctx.Err(); err != nil {
				return err
			}
			lo := int(next.Add(1)-1) * grain
			if lo >= len(in) {
				return nil
			}
			for i := lo; i < min(lo+grain, len(in)); i++ {
				rec, err := t.record(in[i], c)
				if err != nil {
					return fmt.Errorf("process %s: %w", in[i].Position, err)
				}
				out[i] = rec
			}
		}
	}
	if workers <= 1 {
		if err := work(); err != nil {
			return nil, err
		}
		return out, nil
	}
	errs := make([]error, workers)
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() { errs[w] = work() })
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// record makes the record of one log record.
func (t Table) record(lr schemas.LogRecord, c Chain) (*recountv1.Record, error) {
	rec := &recountv1.Record{Origin: lr.Position.Proto()}
	by, err := t.fill(lr, rec, c)
	switch {
	case err == nil:
		return rec, nil
	case errors.Is(err, schemas.ErrPoison):
		reject(lr, rec, by, err)
		return rec, nil
	default:
		return nil, err
	}
}

// fill does the work of record. by names the step that ran last.
func (t Table) fill(lr schemas.LogRecord, rec *recountv1.Record, c Chain) (by string, err error) {
	by = Decoder
	defer func() {
		// A panic is a bug of ours, but one event must not stop a partition for ever: it would
		// panic again after every restart.
		if p := recover(); p != nil {
			err = schemas.Poisonf("processor panicked: %v", p)
		}
	}()
	e, err := lr.Event()
	if _, erased := lr.Erased(); erased && err == nil {
		// Projections have nothing to apply and move over it.
		rec.EventType, rec.EventId, rec.TimeUnixNano = e.Type, e.ID[:], e.Time.UnixNano()
		return by, nil
	}
	// The attributes of a refused event are kept for diagnosis.
	rec.EventType = e.Type
	if err != nil {
		return by, err
	}
	rec.EventId = e.ID[:]
	rec.TimeUnixNano = e.Time.UnixNano()
	p := t.processorOf(e)
	if p != nil && p.Wire != nil && e.ContentType == schemas.ContentProto {
		return p.Name, p.Wire(e, rec)
	}
	payload, err := e.DecodePayload()
	if err != nil {
		return by, err
	}
	if p != nil {
		by = p.Name
		f := p.Func
		if p.Prepare != nil {
			f = p.Prepare(c)
		}
		if err := f(e, payload, rec); err != nil {
			return by, err
		}
	}
	return by, nil
}
