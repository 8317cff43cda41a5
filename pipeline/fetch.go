package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/schemas"
)

// fetchWait limits how long a fetch waits at the broker for new records. The client has one fetch
// in flight at a time. A partition that is not part of it, because it was assigned later or has
// just been resumed, waits until that fetch is answered, even if it has records. With the client's
// default of five seconds, streams sometimes started five seconds late.
const fetchWait = 250 * time.Millisecond

// consumerOptions returns the options that all readers have in common.
func consumerOptions(cfg Config) []kgo.Opt {
	return []kgo.Opt{
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// Control records show the end of a partition that ends in a transaction.
		kgo.KeepControlRecords(),
		// An offset that the log does not have is handled by resolve.
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxWait(fetchWait),
		kgo.FetchMaxPartitionBytes(int32(max(2<<20, cfg.MaxEventBytes))),
	}
}

// resolve turns the offsets that a reader wants into offsets that can be read. Below the start it
// moves up to the start: those records are gone, and a position moves over gaps. Retired records
// count as gone even if they still exist. An offset beyond the end is fatal: the log no longer has
// what the reader has applied.
func (l *Log) resolve(ctx context.Context, want schemas.Watermark) (schemas.Watermark, error) {
	var topics []string
	seen := map[string]bool{}
	for tp := range want {
		if !seen[tp.Topic] {
			seen[tp.Topic] = true
			topics = append(topics, tp.Topic)
		}
	}
	if len(topics) == 0 {
		return want, nil
	}
	starts, err := l.Starts(ctx, topics...)
	if err != nil {
		return nil, err
	}
	ends, err := l.Ends(ctx, topics...)
	if err != nil {
		return nil, err
	}
	got := schemas.Watermark{}
	for tp, next := range want {
		start, known := starts[tp]
		switch {
		case !known && next == 0:
			// Nothing of it was read: it was added a moment ago, and not every broker knows it yet.
			return nil, schemas.Transientf("%s: no such partition in the log", tp)
		case !known:
			return nil, schemas.Fatalf("%s: no such partition in the log", tp)
		case next > ends[tp]:
			return nil, schemas.Fatalf("%s: already read up to offset %d, but the log ends at %d: it lost events, or it is a different log",
				tp, next, ends[tp])
		case next < l.first(tp, 0) && start <= l.first(tp, 0):
			next = min(l.first(tp, 0), ends[tp])
		case next < start:
			l.cfg.Logger.Warn("the log no longer has these events: continuing after them",
				slog.String("partition", tp.String()), slog.Int64("from", next), slog.Int64("to", start))
			next = start
		}
		got[tp] = next
	}
	return got, nil
}

// feed reads the queues' partitions into them until the context ends or every queue is at its end.
// After an error it starts again with a new client from the queues' positions, so that consumers see
// only a pause. A fatal error makes every take fail.
func (l *Log) feed(ctx context.Context, qs *partitionQueues) {
	progress := 0
	attempt := 0
	for ctx.Err() == nil {
		before := progress
		err := l.feedOnce(ctx, qs, &progress)
		if ctx.Err() != nil {
			return
		}
		if errors.Is(err, errGrown) {
			attempt = 0
			continue
		}
		if err == nil {
			return
		}
		if errors.Is(err, schemas.ErrFatal) || errors.Is(err, schemas.ErrPoison) {
			qs.fail(err)
			return
		}
		if progress > before {
			attempt = 0
		}
		b := backoff{}
		l.cfg.Logger.Warn("reading the log failed: trying again", slog.Any("err", err), slog.Duration("in", b.wait(attempt)))
		if b.sleep(ctx, attempt) != nil {
			return
		}
		attempt++
	}
}

// errGrown ends a session of feed because queues were added.
var errGrown = errors.New("partitions were added")

func (l *Log) feedOnce(ctx context.Context, qs *partitionQueues, progress *int) (err error) {
	ctx, begin := context.WithCancelCause(ctx)
	defer begin(nil)
	defer func() {
		if errors.Is(context.Cause(ctx), errGrown) {
			err = errGrown
		}
	}()
	// This comes before positions, so that a queue added from here on is seen by one of the two.
	qs.onGrowth(func() { begin(errGrown) })
	want := qs.positions()
	from, err := l.resolve(ctx, want)
	if err != nil {
		return err
	}
	at := map[string]map[int32]kgo.Offset{}
	for tp, next := range from {
		next = l.skipGaps(tp, next)
		qs.skip(tp, next)
		if at[tp.Topic] == nil {
			at[tp.Topic] = map[int32]kgo.Offset{}
		}
		at[tp.Topic][tp.Partition] = kgo.NewOffset().At(next)
	}
	if len(at) == 0 {
		return nil
	}
	cl, err := l.endpoint.client(append(consumerOptions(l.cfg), kgo.ConsumePartitions(at))...)
	if err != nil {
		return err
	}
	defer cl.Close()
	qs.session(cl)
	defer qs.session(nil)
	return l.poll(ctx, cl, qs, progress)
}

// poll moves fetched records into the queues until an error occurs.
func (l *Log) poll(ctx context.Context, cl *kgo.Client, qs *partitionQueues, progress *int) error {
	for {
		fetches := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			return nil
		}
		var err error
		fetches.EachPartition(func(p kgo.FetchTopicPartition) {
			if len(p.Records) > 0 {
				*progress++
				tp := schemas.TopicPartition{Topic: p.Topic, Partition: p.Partition}
				qs.push(tp, p.Records)
				if behind := p.Records[len(p.Records)-1].Offset + 1; l.skipGaps(tp, behind) != behind {
					qs.skip(tp, l.skipGaps(tp, behind))
				}
			}
			if p.Err != nil && err == nil {
				tp := schemas.TopicPartition{Topic: p.Topic, Partition: p.Partition}
				err = l.fetchError(tp, qs.positions()[tp], p.Err)
			}
		})
		if err != nil {
			return err
		}
	}
}

// fetchError classifies the error of a fetch at an offset.
func (l *Log) fetchError(tp schemas.TopicPartition, at int64, err error) error {
	var loss *kgo.ErrDataLoss
	switch {
	case errors.As(err, &loss):
		return schemas.Fatalf("fetch %s: %w", tp, err)
	case l.embedded != nil && errors.Is(err, kerr.UnknownServerError):
		// The embedded broker answers with this code if retrying cannot help.
		return schemas.Fatalf("%w at %s/%d: the server's log output names the file; restore %s from a backup (recount restore BACKUP --data-dir NEW)",
			broker.ErrDamaged, tp, at, filepath.Join(l.cfg.DataDir, LogDir))
	case errors.Is(err, kerr.OffsetOutOfRange), errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID):
		// When reading starts again, resolve decides which case it is.
		return schemas.Transientf("fetch %s: %w", tp, err)
	case tp.Topic == "":
		return classify(err)
	}
	return classify(fmt.Errorf("fetch %s: %w", tp, err))
}
