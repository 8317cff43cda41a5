package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// seed applies the sums of retired spans to a projection that starts from zero
// (projections.Options.Seed).
func (n *Node) seed(ctx context.Context, k projections.Definition, next func(schemas.TopicPartition) int64, apply func(schemas.Batch) error) error {
	if k.Name != runtime.Name {
		return nil
	}
	summaries, _ := n.log.Summaries()
	for _, at := range summaries {
		if at.Offset < next(at.TP()) {
			continue
		}
		lr, err := n.log.Read(ctx, at)
		if errors.Is(err, schemas.ErrPoison) {
			n.cfg.Logger.Error("the log no longer has the sums of retired spans", "position", at.String(), "err", err)
			continue
		}
		if err != nil {
			return fmt.Errorf("sums of retired spans: %w", err)
		}
		records, err := processors.Records(ctx, []schemas.LogRecord{lr}, n.chain)
		if err != nil {
			return err
		}
		if err := apply(schemas.Batch{Topic: at.Topic, Partition: at.Partition, Next: at.Offset + 1, Records: records}); err != nil {
			return err
		}
	}
	return nil
}

// summarise appends the sums of the spans that are about to be retired, and returns their positions
// and the number of hours. They have no effect until a records.retired names them, so a crash
// before that leaves events that nobody reads.
//
// The sums are the difference between the live projection and a fold of the spans that stay. That
// fold is discarded: the rebuild after records.retired makes it again, together with the sums.
func (n *Node) summarise(ctx context.Context, cuts map[schemas.TopicPartition]pipeline.Cut, m *meter) (at []schemas.Position, hours int64, err error) {
	behind := schemas.Watermark{}
	for tp, c := range cuts {
		behind[tp] = c.First
	}
	if err := n.set.Wait(ctx, behind); err != nil {
		return nil, 0, err
	}
	dir := filepath.Join(n.dir.path, scratchDir)
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return nil, 0, err
	}
	rest, err := projections.Open(dir, projections.Options{Logger: n.cfg.Logger, Reject: passOver, Seed: n.seed}, runtime.Kind)
	if err != nil {
		return nil, 0, errors.Join(err, os.RemoveAll(dir))
	}
	defer func() { err = errors.Join(err, rest.Close(), os.RemoveAll(dir)) }()
	live := n.set.Watermark()
	after := beyond{rest, cuts}
	m.begin("sum up", missing(after, live))
	if err := n.replay(ctx, after, live, nil, m.add); err != nil {
		return nil, 0, err
	}
	m.end()
	all, part, err := n.sameMark(ctx, rest, cuts)
	if err != nil {
		return nil, 0, err
	}
	defer all.Close()
	defer part.Close()
	now := time.Now().UTC()
	err = runtime.Summarise(ctx, all, part, func(sum *recountv1.SpansSummarised) error {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(sum)
		if err != nil {
			return err
		}
		e := schemas.Event{
			Type: schemas.TypeSpansSummarised, Source: schemas.DefaultSource, Time: now, Key: schemas.KeyOf(sum),
			ContentType: schemas.ContentProto, Payload: data,
		}
		// The time makes the id differ from that of a sum that a crash left behind, which must not
		// count.
		e.ID = schemas.NewCanon("recount/summary/1").Int(now.UnixNano()).Int(int64(len(at))).Bytes(data).ID()
		more, err := n.log.Append(ctx, schemas.TopicFacts, e)
		at, hours = append(at, more...), hours+int64(len(sum.Hours))
		return err
	})
	return at, hours, err
}

// sameMark returns views of the live projection and of a fold of what stays, both up to the same
// offsets.
func (n *Node) sameMark(ctx context.Context, rest *projections.Set, cuts map[schemas.TopicPartition]pipeline.Cut) (all, part *runtime.View, err error) {
	live, release, err := n.set.AcquireExclusive(runtime.Name)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	if err := n.replay(ctx, beyond{rest, cuts}, live.Watermark(), nil, func(int64) {}); err != nil {
		return nil, nil, err
	}
	p, leave, err := rest.Acquire(runtime.Name)
	if err != nil {
		return nil, nil, err
	}
	defer leave()
	if all, err = live.(*runtime.Runtime).View(); err != nil {
		return nil, nil, err
	}
	if part, err = p.(*runtime.Runtime).View(); err != nil {
		all.Close()
	}
	return all, part, err
}

// beyond is a set of projections that applies only what lies after the cuts.
type beyond struct {
	*projections.Set
	cuts map[schemas.TopicPartition]pipeline.Cut
}

func (b beyond) Next(tp schemas.TopicPartition) int64 {
	return max(b.Set.Next(tp), b.cuts[tp].First)
}
