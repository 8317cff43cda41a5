package replays

import (
	"context"
	"encoding/binary"
	"slices"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Name is the projection's name, and Version that of its format.
const (
	Name    = "replays"
	Version = 1
)

const (
	kindRun     = store.FirstKind
	kindCommand = store.FirstKind + 1
	kindTime    = store.FirstKind + 2
)

// Kind describes the projection to a node.
var Kind = projections.Definition{Name: Name, Version: Version, Topics: []string{schemas.TopicCommands}, Open: func(dir string) (projections.Projection, error) {
	return Open(dir, store.Options{})
}}

// Replays is the open projection.
type Replays struct{ *store.DB }

// Open opens or creates the projection in dir.
func Open(dir string, o store.Options) (*Replays, error) {
	o.Name = Name
	db, err := store.Open(dir, o)
	if err != nil {
		return nil, err
	}
	return &Replays{db}, nil
}

// runOf returns the name of the run that a record is about, "" if it is about none.
func runOf(r *recountv1.Record) string {
	switch b := r.GetBody().(type) {
	case *recountv1.Record_ReplayPlanned:
		return b.ReplayPlanned.GetRun()
	case *recountv1.Record_ReplayStepStarted:
		return b.ReplayStepStarted.GetRun()
	case *recountv1.Record_ReplayStepEnded:
		return b.ReplayStepEnded.GetRun()
	case *recountv1.Record_ReplayEnded:
		return b.ReplayEnded.GetRun()
	}
	return ""
}

// Apply writes the rows of each event.
func (p *Replays) Apply(ctx context.Context, b schemas.Batch) error {
	t, err := p.Begin(ctx, b, func(r *recountv1.Record) bool { return runOf(r) != "" })
	if err != nil || t == nil {
		return err
	}
	if err := t.Do(func() error { return write(t) }); err != nil {
		t.Discard()
		return err
	}
	return t.Commit()
}

func write(t *store.Txn) error {
	for _, r := range t.New {
		row, err := proto.MarshalOptions{Deterministic: true}.Marshal(r)
		if err != nil {
			return err
		}
		run := runOf(r)
		at := func(prefix []byte) []byte {
			return binary.BigEndian.AppendUint64(append(slices.Clip(prefix), t.Shard()...), uint64(r.GetOrigin().GetOffset()))
		}
		if err := t.Set(at(runPrefix(run)), row); err != nil {
			return err
		}
		if m := r.GetReplayPlanned(); m != nil {
			prefix := binary.BigEndian.AppendUint64([]byte{kindTime}, uint64(m.GetOccurredAt().AsTime().UnixNano())^1<<63)
			if err := t.Set(at(prefix), []byte(run)); err != nil {
				return err
			}
		}
		// The processor wrote the id; a record that another program made may hold anything.
		if m := r.GetReplayStepStarted(); m != nil {
			if id, err := schemas.ParseEventID(m.GetCommandEventId()); err == nil {
				if err := t.Set(at(append([]byte{kindCommand}, id[:]...)), []byte(run)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// runPrefix returns the beginning of the keys of a run's events.
func runPrefix(run string) []byte {
	id := schemas.NewCanon("recount/replays/run/1").String(run).ID()
	return append([]byte{kindRun}, id[:]...)
}
