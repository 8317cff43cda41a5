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

// fetchWait bounds how long a fetch waits at the broker for something to come.
// The client has one fetch at a time under way. A partition that is not in it,
// because it was assigned a moment later or has just been resumed, waits until
// that fetch is answered, however much there is to read in it. With the client's
// own five seconds a stream now and then began five seconds late.
const fetchWait = 250 * time.Millisecond

// consumerOptions are what everything that reads has in common.
func consumerOptions(cfg Config) []kgo.Opt {
	return []kgo.Opt{
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// Control records say how far the log goes where it ends in a transaction.
		kgo.KeepControlRecords(),
		// Offsets that the log does not have are ours to judge: see resolve.
		kgo.ConsumeResetOffset(kgo.NoResetOffset()),
		kgo.FetchMaxWait(fetchWait),
		kgo.FetchMaxPartitionBytes(int32(max(2<<20, cfg.MaxEventBytes))),
	}
}

// resolve turns where a reader wants to go on into where it can. Below the start
// it moves up to it: those records are gone, and a position moves over gaps. What is
// retired is as good as gone, also while it is there.
// Beyond the end is fatal: the log no longer has what the reader has applied.
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
			// Nothing was read of it: it was added a moment ago, and not every broker knows.
			return nil, schemas.Transientf("%s: no such partition in the log", tp)
		case !known:
			return nil, schemas.Fatalf("%s: no such partition in the log", tp)
		case next > ends[tp]:
			return nil, schemas.Fatalf("%s: already read up to offset %d, but the log ends at %d: it lost events, or it is another log",
				tp, next, ends[tp])
		case next < l.first(tp, 0) && start <= l.first(tp, 0):
			next = min(l.first(tp, 0), ends[tp])
		case next < start:
			l.cfg.Logger.Warn("the log no longer has these events: going on behind them",
				slog.String("partition", tp.String()), slog.Int64("from", next), slog.Int64("to", start))
			next = start
		}
		got[tp] = next
	}
	return got, nil
}

// feed reads the lanes' partitions into them until the context ends or every
// lane is at its end. It starts over with a new client after trouble, from where
// the lanes are, so that whoever takes from them sees a pause and nothing else.
// A fatal error ends every take.
func (l *Log) feed(ctx context.Context, ls *lanes) {
	progress := 0
	attempt := 0
	for ctx.Err() == nil {
		before := progress
		err := l.feedOnce(ctx, ls, &progress)
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
			ls.fail(err)
			return
		}
		if progress > before {
			attempt = 0
		}
		b := backoff{}
		l.cfg.Logger.Warn("reading the log: trying again", slog.Any("err", err), slog.Duration("in", b.wait(attempt)))
		if b.sleep(ctx, attempt) != nil {
			return
		}
		attempt++
	}
}

// errGrown ends a session of feed: there are more lanes to feed.
var errGrown = errors.New("partitions were added")

func (l *Log) feedOnce(ctx context.Context, ls *lanes, progress *int) (err error) {
	ctx, begin := context.WithCancelCause(ctx)
	defer begin(nil)
	defer func() {
		if errors.Is(context.Cause(ctx), errGrown) {
			err = errGrown
		}
	}()
	// Before positions: of what grows the lanes from here on, or was there, one knows.
	ls.onGrowth(func() { begin(errGrown) })
	want := ls.positions()
	from, err := l.resolve(ctx, want)
	if err != nil {
		return err
	}
	at := map[string]map[int32]kgo.Offset{}
	for tp, next := range from {
		next = l.over(tp, next)
		ls.skip(tp, next)
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
	ls.session(cl)
	defer ls.session(nil)
	return l.poll(ctx, cl, ls, progress)
}

// poll moves what the client fetches into the lanes until something is wrong.
func (l *Log) poll(ctx context.Context, cl *kgo.Client, ls *lanes, progress *int) error {
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
				ls.push(tp, p.Records)
				if behind := p.Records[len(p.Records)-1].Offset + 1; l.over(tp, behind) != behind {
					ls.skip(tp, l.over(tp, behind))
				}
			}
			if p.Err != nil && err == nil {
				tp := schemas.TopicPartition{Topic: p.Topic, Partition: p.Partition}
				err = l.fetchError(tp, ls.positions()[tp], p.Err)
			}
		})
		if err != nil {
			return err
		}
	}
}

// fetchError puts the error that a fetch at an offset met into its class.
func (l *Log) fetchError(tp schemas.TopicPartition, at int64, err error) error {
	var loss *kgo.ErrDataLoss
	switch {
	case errors.As(err, &loss):
		return schemas.Fatalf("fetch %s: %w", tp, err)
	case l.embedded != nil && errors.Is(err, kerr.UnknownServerError):
		// So the embedded broker answers what no second try can read.
		return schemas.Fatalf("%w at %s/%d: the server's log names the file; restore %s from a backup (recount restore BACKUP --data-dir NEW)",
			broker.ErrDamaged, tp, at, filepath.Join(l.cfg.DataDir, LogDir))
	case errors.Is(err, kerr.OffsetOutOfRange), errors.Is(err, kerr.UnknownTopicOrPartition), errors.Is(err, kerr.UnknownTopicID):
		// resolve says which it is when reading starts over.
		return schemas.Transientf("fetch %s: %w", tp, err)
	case tp.Topic == "":
		return classify(err)
	}
	return classify(fmt.Errorf("fetch %s: %w", tp, err))
}
