package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/schemas"
)

// FollowOptions are the options of Follow.
type FollowOptions struct {
	// Topics are the topics to follow, with all their partitions. The default is the log's
	// TopicNames.
	Topics []string
	// Partitions are the partitions to follow, instead of Topics.
	Partitions []schemas.TopicPartition
	// From returns the offset at which reading of a partition starts. Nil means the start.
	From func(tp schemas.TopicPartition) int64
	// Until is the end of each partition for this call; a partition that is absent is not read. Nil
	// means to follow for ever.
	Until schemas.Watermark
	// MaxRecords and MaxBytes limit a batch. The defaults are 1024 and 8 MiB; a single record may
	// exceed the latter.
	MaxRecords, MaxBytes int
}

// FollowFunc handles a batch of one partition. The batch covers every offset from the end of the
// previous one up to next; recs may be empty if only the position moves. recs may be kept after the
// call only if it is not modified.
type FollowFunc func(ctx context.Context, tp schemas.TopicPartition, recs []schemas.LogRecord, next int64) error

// Follow reads partitions and passes their records to fn: in order within a partition, one batch at
// a time, and different partitions concurrently. It waits for outages to end. An error of fn is
// retried with backoff, with the same batch or a longer one, unless it is ErrPoison or ErrFatal,
// which end Follow and are returned.
//
// Follow ends when every partition is at Until, or with the context. In the latter case it waits
// for running calls of fn, and returns nil if there was no Until, otherwise the context's error.
// When it follows topics for ever, it also reads partitions that are added to them.
func (l *Log) Follow(ctx context.Context, o FollowOptions, fn FollowFunc) error {
	tps, topics := o.Partitions, o.Topics
	if tps == nil {
		if topics == nil {
			topics = l.TopicNames()
		}
		var err error
		if tps, err = l.TopicPartitions(ctx, topics...); err != nil {
			return fmt.Errorf("follow: %w", err)
		}
	}
	qs := newPartitionQueues(o.MaxRecords, o.MaxBytes)
	qs.finite = o.Until != nil
	for _, tp := range tps {
		from, until := int64(0), int64(-1)
		if o.From != nil {
			from = o.From(tp)
		}
		if o.Until != nil {
			until = o.Until[tp]
		}
		qs.add(tp, from, until)
	}

	// The feeder ends after the workers, and the workers end when take does.
	feedCtx, stopFeed := context.WithCancel(ctx)
	var feeding sync.WaitGroup
	feeding.Go(func() { l.feed(feedCtx, qs) })
	defer feeding.Wait()
	defer stopFeed()

	g, workCtx := errgroup.WithContext(ctx)
	workers := func(n int) {
		for range n {
			g.Go(func() error { return l.work(workCtx, qs, fn) })
		}
	}
	workers(len(tps))
	if o.Partitions == nil && o.Until == nil {
		from := o.From
		if from == nil {
			from = func(schemas.TopicPartition) int64 { return 0 }
		}
		g.Go(func() error {
			l.watch(workCtx, topics, qs, from, workers)
			return nil
		})
	}
	err := g.Wait()
	switch {
	case errors.Is(err, schemas.ErrFatal), errors.Is(err, schemas.ErrPoison):
	case ctx.Err() != nil && o.Until == nil:
		return nil
	}
	if err != nil {
		return fmt.Errorf("follow: %w", err)
	}
	return nil
}

// work takes batches until there are none left.
func (l *Log) work(ctx context.Context, qs *partitionQueues, fn FollowFunc) error {
	for {
		d, err := qs.take(ctx)
		if d == nil {
			return err
		}
		recs := make([]schemas.LogRecord, len(d.recs))
		for i, r := range d.recs {
			recs[i] = l.record(r)
		}
		err = fn(ctx, d.tp, recs, d.next)
		switch {
		case err == nil:
			d.ack()
		case errors.Is(err, schemas.ErrPoison), errors.Is(err, schemas.ErrFatal):
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		default:
			l.cfg.Logger.Warn("batch was not accepted: trying again", slog.String("partition", d.tp.String()),
				slog.Int64("next", d.next), slog.Int("attempt", d.attempt+1), slog.Any("err", err))
			if err := (backoff{}).sleep(ctx, d.attempt); err != nil {
				return err
			}
			d.nack()
		}
	}
}

// maxReadGap is how many unwanted records between two wanted ones are read rather than passed over,
// which takes a new fetch.
const maxReadGap = 256

// ReadEach reads the records at some positions and calls fn for each, partition by partition in the
// order of offsets. It is Read for many records: it reads neighbours together. A position at which
// there is no record, or no longer one, is left out. An error of fn ends it and is returned; an outage
// is waited for, until the context ends.
func (l *Log) ReadEach(ctx context.Context, at []schemas.Position, fn func(schemas.LogRecord) error) error {
	starts, ends, err := l.bounds(ctx, at)
	if err != nil {
		return err
	}
	byPartition := map[schemas.TopicPartition][]int64{}
	for _, p := range at {
		byPartition[p.TP()] = append(byPartition[p.TP()], p.Offset)
	}
	for tp, offsets := range byPartition {
		slices.Sort(offsets)
		offsets = slices.DeleteFunc(slices.Compact(offsets), func(o int64) bool { return o < starts[tp] || o >= ends[tp] })
		for len(offsets) > 0 {
			n := 1
			for n < len(offsets) && offsets[n]-offsets[n-1] <= maxReadGap {
				n++
			}
			if err := l.readRange(ctx, tp, offsets[:n], fn); err != nil {
				return err
			}
			offsets = offsets[n:]
		}
	}
	return nil
}

// readRange reads the records of a partition at ascending offsets that are near to each other.
func (l *Log) readRange(ctx context.Context, tp schemas.TopicPartition, wanted []int64, fn func(schemas.LogRecord) error) error {
	var failed error
	err := l.Follow(ctx, FollowOptions{
		Partitions: []schemas.TopicPartition{tp}, Until: schemas.Watermark{tp: wanted[len(wanted)-1] + 1},
		From: func(schemas.TopicPartition) int64 { return wanted[0] },
	}, func(_ context.Context, _ schemas.TopicPartition, recs []schemas.LogRecord, _ int64) error {
		for _, rec := range recs {
			for len(wanted) > 0 && wanted[0] < rec.Position.Offset {
				wanted = wanted[1:]
			}
			if len(wanted) == 0 || wanted[0] != rec.Position.Offset {
				continue
			}
			if err := fn(rec); err != nil {
				failed = err
				return schemas.Poisonf("%s: %w", rec.Position, err) // ends Follow
			}
		}
		return nil
	})
	if failed != nil {
		return failed
	}
	return err
}

// readEach reads the records between two watermarks; fn is never called concurrently.
func (l *Log) readEach(ctx context.Context, from, until schemas.Watermark, fn func(schemas.LogRecord)) error {
	var mu sync.Mutex
	return l.Follow(ctx, FollowOptions{
		Partitions: until.Partitions(), Until: until,
		From: func(tp schemas.TopicPartition) int64 { return from[tp] },
	}, func(_ context.Context, _ schemas.TopicPartition, recs []schemas.LogRecord, _ int64) error {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range recs {
			fn(r)
		}
		return nil
	})
}

// TailOptions are the options of Tail.
type TailOptions struct {
	// Topics are the topics to show. The default is the log's TopicNames.
	Topics []string
	// Last is the number of existing records of each partition to show first; -1 means all.
	Last int64
	// From, if not nil, is where to start, instead of Last.
	From schemas.Watermark
	// Follow continues for ever with new records. Otherwise Tail ends at the end that the log had
	// at the call.
	Follow bool
}

// Tail calls fn for records of the topics, one at a time: in order within a partition, in order of
// arrival across partitions. An error of fn ends it.
func (l *Log) Tail(ctx context.Context, o TailOptions, fn func(schemas.LogRecord) error) error {
	ends, err := l.Ends(ctx, o.Topics...)
	if err != nil {
		return fmt.Errorf("tail: %w", err)
	}
	starts, err := l.Starts(ctx, o.Topics...)
	if err != nil {
		return fmt.Errorf("tail: %w", err)
	}
	var mu sync.Mutex // fn is never called concurrently
	fo := FollowOptions{
		Partitions: ends.Partitions(),
		From: func(tp schemas.TopicPartition) int64 {
			switch {
			case o.From != nil:
				return max(starts[tp], o.From[tp])
			case o.Last < 0:
				return starts[tp]
			}
			return max(starts[tp], ends[tp]-o.Last)
		},
	}
	if o.Follow {
		// The present partitions are in ends; a partition that is added is shown from its start.
		if fo.Partitions, fo.Topics = nil, o.Topics; len(fo.Topics) == 0 {
			fo.Topics = l.TopicNames()
		}
	} else {
		fo.Until = ends
	}
	return l.Follow(ctx, fo, func(_ context.Context, _ schemas.TopicPartition, recs []schemas.LogRecord, _ int64) error {
		mu.Lock()
		defer mu.Unlock()
		for _, r := range recs {
			if err := fn(r); err != nil {
				return schemas.Fatalf("%w", err) // no retry: the record has been shown
			}
		}
		return nil
	})
}
