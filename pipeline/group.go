package pipeline

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/schemas"
)

// groupReader feeds queues with the partitions that a consumer group assigns.
//
// Partitions are assigned in adjust, which decides their positions, and removed in revoked. Neither
// holds a lock during requests to the log.
type groupReader struct {
	log    *Log
	queues *partitionQueues
	topics []string
	conf   GroupMember
	start  string
	from   func(schemas.TopicPartition) int64

	mu     sync.Mutex
	client *kgo.Client // the client of the present membership
}

// run keeps a membership of the group until the context ends.
func (g *groupReader) run(ctx context.Context) {
	for attempt := 0; ctx.Err() == nil; attempt++ {
		progress := 0
		err := g.member(ctx, &progress)
		if err == nil || ctx.Err() != nil {
			return
		}
		if errors.Is(err, schemas.ErrFatal) || errors.Is(err, schemas.ErrPoison) {
			g.queues.fail(err)
			return
		}
		if progress > 0 {
			attempt = 0
		}
		b := backoff{}
		g.log.cfg.Logger.Warn("reading the log failed: joining the group again", slog.String("group", g.conf.Name),
			slog.Any("err", err), slog.Duration("in", b.wait(attempt)))
		if b.sleep(ctx, attempt) != nil {
			return
		}
	}
}

// member runs one membership, until the context ends or an error occurs.
func (g *groupReader) member(ctx context.Context, progress *int) error {
	failed := make(chan error, 1)
	opts := append(consumerOptions(g.log.cfg),
		kgo.ConsumerGroup(g.conf.Name), kgo.ConsumeTopics(g.topics...),
		kgo.Balancers(kgo.CooperativeStickyBalancer()),
		kgo.SessionTimeout(g.conf.Session), kgo.HeartbeatInterval(g.conf.Session/4),
		// The leader looks for added partitions and has them assigned.
		kgo.MetadataMaxAge(metadataAge),
		kgo.RebalanceTimeout(max(30*time.Second, g.conf.Session)),
		kgo.ConsumeStartOffset(kgo.NewOffset().AtStart()),
		kgo.AutoCommitMarks(), kgo.AutoCommitInterval(time.Second),
		kgo.AdjustFetchOffsetsFn(func(ctx context.Context, at map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
			at, err := g.adjust(ctx, at)
			if err != nil {
				select {
				case failed <- err:
				default:
				}
			}
			return at, err
		}),
		kgo.OnPartitionsRevoked(func(ctx context.Context, cl *kgo.Client, tps map[string][]int32) {
			g.queues.remove(partitions(tps)...)
			if err := cl.CommitMarkedOffsets(ctx); err != nil {
				g.log.cfg.Logger.Warn("commit before giving up partitions failed: other members will read again", slog.Any("err", err))
			}
		}),
		kgo.OnPartitionsLost(func(_ context.Context, _ *kgo.Client, tps map[string][]int32) {
			g.queues.remove(partitions(tps)...)
		}),
	)
	if g.conf.Instance != "" {
		opts = append(opts, kgo.InstanceID(g.conf.Instance))
	}
	cl, err := g.log.endpoint.client(opts...)
	if err != nil {
		return err
	}
	// Closing leaves the group and calls revoked, which commits the marked offsets.
	defer cl.Close()
	g.queues.session(cl)
	defer g.queues.session(nil)
	g.setClient(cl)
	defer g.setClient(nil)

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watching := make(chan struct{})
	go func() {
		defer close(watching)
		select {
		case err := <-failed:
			cancel(err)
		case <-ctx.Done():
		}
	}()
	err = g.log.poll(ctx, cl, g.queues, progress)
	cancel(nil)
	<-watching
	if cause := context.Cause(ctx); err == nil && cause != nil && !errors.Is(cause, context.Canceled) {
		err = fmt.Errorf("group %s: %w", g.conf.Name, cause)
	}
	return err
}

func (g *groupReader) setClient(cl *kgo.Client) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.client = cl
}

// adjust decides where newly assigned partitions start, and adds queues for them.
func (g *groupReader) adjust(ctx context.Context, at map[string]map[int32]kgo.Offset) (map[string]map[int32]kgo.Offset, error) {
	want := schemas.Watermark{}
	for topic, parts := range at {
		for p, o := range parts {
			tp := schemas.TopicPartition{Topic: topic, Partition: p}
			committed := o.EpochOffset().Offset
			if g.start == StartProjections || g.start == StartCheckpoint || committed < 0 {
				want[tp] = g.from(tp)
			} else {
				want[tp] = committed
			}
		}
	}
	from, err := g.log.resolve(ctx, want)
	if err != nil {
		return nil, err
	}
	for tp, next := range from {
		g.queues.add(tp, next, -1)
		at[tp.Topic][tp.Partition] = kgo.NewOffset().At(next)
	}
	return at, nil
}

// mark records what may be committed: every offset below the delivery's next.
func (g *groupReader) mark(d *delivery) {
	g.mu.Lock()
	cl := g.client
	g.mu.Unlock()
	if cl != nil {
		cl.MarkCommitOffsets(map[string]map[int32]kgo.EpochOffset{
			d.tp.Topic: {d.tp.Partition: {Epoch: -1, Offset: d.next}},
		})
	}
}

func partitions(m map[string][]int32) []schemas.TopicPartition {
	var tps []schemas.TopicPartition
	for topic, parts := range m {
		for _, p := range parts {
			tps = append(tps, schemas.TopicPartition{Topic: topic, Partition: p})
		}
	}
	return tps
}
