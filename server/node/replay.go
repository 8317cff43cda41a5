package node

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// The limits of a batch in a replay. Large batches amortise a projection's cost per batch; the
// limit in bytes matters because each partition holds one batch.
const (
	replayRecords = 4096
	replayBytes   = 16 << 20
)

// replay reads the log from the position of to up to until, makes records in the same way as the
// live stream, and applies them; it reads the partitions concurrently. reject is nil if the log has
// the rejected events already. count is called with the number of events applied.
func (n *Node) replay(ctx context.Context, to pipeline.Target, until schemas.Watermark, reject pipeline.RejectFunc, count func(events int64)) error {
	todo := schemas.Watermark{}
	for tp, end := range until {
		if to.Next(tp) < end {
			todo[tp] = end
		}
	}
	if len(todo) == 0 {
		return nil
	}
	// Follow would wait forever for offsets that the log does not have.
	ends, err := n.log.Ends(ctx, n.topics()...)
	if err != nil {
		return err
	}
	for _, tp := range todo.Partitions() {
		if todo[tp] > ends[tp] {
			return fmt.Errorf("%s was read up to offset %d, but the log ends at %d: it was truncated or replaced while this process had it open: restart the process", tp, todo[tp], ends[tp])
		}
	}
	return n.log.Follow(ctx, pipeline.FollowOptions{
		Partitions: todo.Partitions(), From: to.Next, Until: todo,
		MaxRecords: replayRecords, MaxBytes: replayBytes,
	}, func(ctx context.Context, tp schemas.TopicPartition, recs []schemas.LogRecord, next int64) error {
		records, err := processors.Records(ctx, recs, n.chain)
		if err != nil {
			return err
		}
		b := schemas.Batch{Topic: tp.Topic, Partition: tp.Partition, Next: next, Records: records}
		if err := pipeline.Project(ctx, to, b, reject); err != nil {
			return err
		}
		count(int64(len(recs)))
		return nil
	})
}

// meter reports progress a few times a second, and once at the end of a phase.
type meter struct {
	tell  func(api.Progress)
	start time.Time
	done  atomic.Int64

	mu    sync.Mutex
	phase string
	total int64
	last  time.Time
}

func newMeter(tell func(api.Progress)) *meter {
	if tell == nil {
		tell = func(api.Progress) {}
	}
	return &meter{tell: tell, start: time.Now()}
}

// begin starts a phase of total events, 0 if unknown.
func (m *meter) begin(phase string, total int64) {
	m.done.Store(0)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.phase, m.total = phase, total
	m.say()
}

// add adds to the events done in this phase and may report.
func (m *meter) add(events int64) {
	m.done.Add(events)
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.last) > 200*time.Millisecond {
		m.say()
	}
}

func (m *meter) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.say()
}

func (m *meter) say() {
	m.last = time.Now()
	m.tell(api.Progress{Phase: m.phase, Done: m.done.Load(), Total: m.total, Elapsed: time.Since(m.start).Milliseconds()})
}

// mute stops the reports: nobody listens any more.
func (m *meter) mute() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tell = func(api.Progress) {}
}

// now returns the progress of the current phase.
func (m *meter) now() api.Progress {
	m.mu.Lock()
	defer m.mu.Unlock()
	return api.Progress{Phase: m.phase, Done: m.done.Load(), Total: m.total, Elapsed: time.Since(m.start).Milliseconds()}
}

// missing returns the number of offsets below a watermark that a target has still to apply. Partitions
// of topics that it does not read count nothing: replay leaves them out.
func missing(to pipeline.Target, until schemas.Watermark) int64 {
	var n int64
	for tp, end := range until {
		n += max(end-to.Next(tp), 0)
	}
	return n
}

// distance returns the number of offsets between two watermarks.
func distance(from, to schemas.Watermark) int64 {
	var n int64
	for tp, end := range to {
		n += max(end-from[tp], 0)
	}
	return n
}

// lacks returns what answers have to say while the projections still apply what the log held when the node opened, as
// they do after an update that reads it anew; "" afterwards.
func (n *Node) lacks() string {
	if n.ready.Load() || n.set == nil {
		return ""
	}
	read, unread := n.set.Watermark(), int64(0)
	for tp, end := range n.starts {
		unread += max(end-read[tp], 0)
	}
	if unread == 0 {
		return ""
	}
	return fmt.Sprintf("the answer may lack something: %d events of the log are not read yet; GET /readyz, or recount status, says when all are", unread)
}

// catchUp brings a local node's projections to the log's end, so that an answer includes what was
// appended before the question.
func (n *Node) catchUp(ctx context.Context) error {
	if !n.local || n.set == nil {
		return nil
	}
	n.catching.Lock()
	defer n.catching.Unlock()
	ends, err := n.log.Ends(ctx, n.topics()...)
	if err != nil {
		return err
	}
	have := n.set.Watermark()
	if have.Covers(ends) {
		n.ready.Store(true)
		return nil
	}
	m := newMeter(n.progress)
	m.begin("catch up", missing(gated{n}, ends))
	if err := n.replay(ctx, gated{n}, ends, n.log.Reject, m.add); err != nil {
		return fmt.Errorf("catch up with the log: %w", err)
	}
	m.end()
	n.ready.Store(true)
	return nil
}

// work makes sure that only one rebuild, verify or erasure runs at a time. The returned context
// ends when the node stops; done releases the lock. A local node first catches up with the log.
// names are the selected projections.
func (n *Node) work(ctx context.Context, projections []string) (_ context.Context, names []string, done func(), err error) {
	if n.set == nil {
		return nil, nil, nil, noRole(RoleProject)
	}
	if names, err = n.named(projections); err != nil {
		return nil, nil, nil, err
	}
	if err := n.catchUp(ctx); err != nil {
		return nil, nil, nil, err
	}
	if !n.long.TryLock() {
		return nil, nil, nil, fmt.Errorf("%w: another rebuild or verify is running", api.ErrBusy)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	unhook := context.AfterFunc(n.stopping, func() { cancel(errors.New("the node is shutting down")) })
	return ctx, names, func() { unhook(); cancel(nil); n.long.Unlock() }, nil
}

func noRole(role string) error {
	return fmt.Errorf("%w: this process does not have the role %s", api.ErrUnavailable, role)
}
