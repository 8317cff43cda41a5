// Package replayjournal writes what a replay does to the log: replay.planned, replay.step.started,
// replay.step.ended and replay.ended.
//
// A crash between two events means: after planned, nothing ran; after a step's started, the step may
// have run, wholly or in part; after its ended, it ran to the end that is recorded; after ended, the
// run is over. Each method returns when its event is durable, so what the log says never lags behind
// what happened by more than the step under way.
package replayjournal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// source is the CloudEvents source of the events.
const source = "recount-replay"

// Appender appends events and returns when they are durable; a *connect.Backend is one.
type Appender interface {
	Append(ctx context.Context, events []schemas.Event) ([]api.Appended, error)
}

// Journal writes the events of one run. Its methods may be called by several goroutines at once.
type Journal struct {
	// Log takes the events. Required.
	Log Appender
	// Redact removes secrets before an event leaves the process. Required.
	Redact *redact.Redactor
	// Run names the run (NewRun), and Workspace is its key.
	Run, Workspace string
	// Now is the clock. Required.
	Now func() time.Time

	mu      sync.Mutex
	written schemas.Watermark
}

// Written returns the watermark above everything that was written.
func (j *Journal) Written() schemas.Watermark {
	j.mu.Lock()
	defer j.mu.Unlock()
	return maps.Clone(j.written)
}

// NewRun returns a fresh name for a run, such as "r-7f3a91c2".
func NewRun() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return "r-" + hex.EncodeToString(b[:])
}

// Planned records that a run begins.
func (j *Journal) Planned(ctx context.Context, m *recountv1.ReplayPlanned) error {
	m.Run, m.Workspace, m.OccurredAt = j.Run, j.Workspace, j.now()
	return j.append(ctx, schemas.TypeReplayPlanned, m, schemas.NewCanon("recount/replay/planned/1").String(j.Run))
}

// Started records that an attempt at a step is about to begin.
func (j *Journal) Started(ctx context.Context, m *recountv1.ReplayStepStarted) error {
	m.Run, m.Workspace, m.OccurredAt = j.Run, j.Workspace, j.now()
	return j.append(ctx, schemas.TypeReplayStarted, m, schemas.NewCanon("recount/replay/started/1").String(j.Run).Int(int64(m.Step)).Int(int64(m.Attempt)))
}

// Ended records what became of an attempt at a step.
func (j *Journal) Ended(ctx context.Context, m *recountv1.ReplayStepEnded) error {
	m.Run, m.Workspace, m.OccurredAt = j.Run, j.Workspace, j.now()
	return j.append(ctx, schemas.TypeReplayStepEnded, m, schemas.NewCanon("recount/replay/ended/1").String(j.Run).Int(int64(m.Step)).Int(int64(m.Attempt)))
}

// Done records that the run is over, for now: a run that is resumed ends again.
func (j *Journal) Done(ctx context.Context, m *recountv1.ReplayEnded) error {
	m.Run, m.Workspace, m.OccurredAt = j.Run, j.Workspace, j.now()
	return j.append(ctx, schemas.TypeReplayEnded, m, schemas.NewCanon("recount/replay/done/1").String(j.Run).Int(m.OccurredAt.AsTime().UnixNano()))
}

func (j *Journal) now() *timestamppb.Timestamp { return timestamppb.New(j.Now()) }

// append appends one event. Its id depends on what it is about, so that an event that is sent twice
// is applied once.
func (j *Journal) append(ctx context.Context, typ string, m proto.Message, id *schemas.Canon) error {
	if _, err := j.Redact.EventContext(ctx, m); err != nil {
		return err
	}
	if p, ok := m.(*recountv1.ReplayPlanned); ok && len(p.Plan) > maxPlan {
		return fmt.Errorf("the plan has %d bytes, more than the %d that an event holds: replay a smaller range", len(p.Plan), maxPlan)
	}
	payload, err := schemas.EncodePayload(m)
	if err != nil {
		return err
	}
	e := schemas.Event{ID: id.ID(), Type: typ, Source: source, Time: j.Now(), Key: schemas.KeyOf(m), ContentType: schemas.ContentJSON, Payload: payload}
	done, err := j.Log.Append(ctx, []schemas.Event{e})
	if err != nil {
		return fmt.Errorf("record %s: %w", typ, err)
	}
	if len(done) != 1 {
		return errors.New("record " + typ + ": the log did not say where")
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.written == nil {
		j.written = schemas.Watermark{}
	}
	at := done[0].Position
	j.written[at.TP()] = max(j.written[at.TP()], at.Offset+1)
	return nil
}

// maxPlan is the limit of a plan in replay.proto.
const maxPlan = 3 << 20
