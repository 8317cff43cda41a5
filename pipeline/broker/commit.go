package broker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// Group commit.
//
// Everything that is written (record batches, producer windows, topics, group
// offsets) is an op handed to the committer. Two goroutines and a queue:
//
//  1. submit puts an op at the end of the queue.
//  2. The committer takes all that is queued (up to maxGroupBytes), has each op
//     add its writes to one Pebble batch, in order; appends of this process that
//     follow each other are merged by partition (merge.go). Batches of a topic with
//     much in the group are written to a segment file instead and synced (segments.go).
//     Then it applies the Pebble batch: that is in the WAL's buffer and the
//     memtable, not yet on disk.
//  3. The finisher waits for the WAL's fsync, appends the new log ends to the
//     high-water file, and tells each op, in order, that it is done.
//
// While the finisher waits for one fsync the committer builds the next group, so
// under load every fsync carries all that arrived during the one before.
//
// Invariants:
//   - Ops are built and done in the order of submission, but that appends of this
//     process with no other op between them are built by partition. So an op may rely on
//     what earlier ops decided (assigned offsets) although it is not on disk
//     yet: if they never get there, neither does this one.
//   - What a Pebble batch refers to in a segment file is on disk before the Pebble
//     batch is handed over.
//   - Nothing is published to a reader before done: the high watermark only
//     moves on the finisher.
//   - After the first error nothing is ever written again: what the WAL holds
//     behind a failed write is unknown, so the store is failed for good, and a
//     restart, which reads the disk, is what finds out.

// op is a unit of writing. It becomes durable as a whole or not at all.
type op interface {
	// build adds the writes to the batch, on the committer's goroutine. An
	// error refuses the op; it must then have written nothing.
	build(*pebble.Batch) error
	// done is told the outcome, on the finisher's goroutine: nil when the
	// writes are on disk, else build's error, or errStoreFailed. It must not block.
	done(error)
	// size is about how many bytes build will write.
	size() int
}

var (
	errStoreFailed = errors.New("the log's store has failed; restart to recover")
	errClosed      = errors.New("the broker is closed")
)

const (
	// maxGroupBytes bounds one group, so that it stays well below the size from
	// which Pebble treats a batch as a memtable of its own, and a small produce
	// never waits behind more than this.
	maxGroupBytes = 8 << 20
	// maxQueuedBytes bounds what waits for the committer over all connections;
	// beyond it submit blocks, which stops reading from the connections.
	maxQueuedBytes = 64 << 20
)

type committer struct {
	s *store

	mu     sync.Mutex
	wake   sync.Cond // queue grew or closed
	room   sync.Cond // queue shrank
	queue  []op
	bytes  int
	closed bool

	// Of the group being built; the committer's alone.
	moved []*partition
	gone  []topicNum
	bulk  []*topic // whose batches go to segment files
	own   merger   // of appends not built yet

	groups chan *group
	ended  chan struct{} // closed when the finisher has returned

	// What has been made durable, for Stats.
	commits, ops, appended atomic.Int64
}

// group is what becomes durable together.
type group struct {
	batch   *pebble.Batch
	ops     []op
	errs    []error // parallel to ops: refused by build
	moved   []moved
	gone    []topicNum // topics deleted
	number  uint64
	started time.Time
}

// moved is where a group leaves a partition.
type moved struct {
	p *partition
	t tail
}

// touch says that the op being built has changed p.tail: it is stored with the
// group, and published when the group is durable.
func (c *committer) touch(p *partition) {
	if !p.touched {
		p.touched = true
		c.moved = append(c.moved, p)
	}
}

func newCommitter(s *store) *committer {
	c := &committer{s: s, own: merger{s: s}, groups: make(chan *group, 2), ended: make(chan struct{})}
	c.wake.L, c.room.L = &c.mu, &c.mu
	return c
}

// submit queues o. It blocks while too much is queued. If it returns an error,
// o.done will not be called.
func (c *committer) submit(o op) error {
	n := o.size()
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.bytes > maxQueuedBytes && !c.closed && c.s.failure() == nil {
		c.room.Wait()
	}
	if err := c.s.failure(); err != nil {
		return err
	}
	if c.closed {
		return errClosed
	}
	c.queue = append(c.queue, o)
	c.bytes += n
	c.wake.Signal()
	return nil
}

// take waits for ops and returns a group's worth; nil when closed and empty.
func (c *committer) take() []op {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.queue) == 0 && !c.closed {
		c.wake.Wait()
	}
	n, bytes := 0, 0
	for n < len(c.queue) && (n == 0 || bytes < maxGroupBytes) {
		bytes += c.queue[n].size()
		n++
	}
	if n == 0 {
		return nil
	}
	ops := make([]op, n)
	copy(ops, c.queue)
	rest := copy(c.queue, c.queue[n:])
	clear(c.queue[rest:])
	c.queue = c.queue[:rest]
	c.bytes -= bytes
	c.room.Broadcast()
	return ops
}

// run builds and applies groups until close.
func (c *committer) run() {
	defer close(c.groups)
	for {
		ops := c.take()
		if ops == nil {
			return
		}
		g := &group{ops: ops, errs: make([]error, len(ops)), started: time.Now()}
		if err := c.apply(g); err != nil {
			c.s.fail(err)
		}
		c.groups <- g
	}
}

// apply builds g's batch and hands it to Pebble. A crash after it loses the
// group or keeps it whole; nobody has been told either. A crash in it leaves at
// most bytes in a segment file that nothing refers to.
func (c *committer) apply(g *group) (err error) {
	if c.s.failure() != nil {
		return nil
	}
	// Pebble panics on some write errors (a WAL that cannot be created). Here
	// that is an error like any other.
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("commit: %v", p)
		}
	}()
	size := c.chooseBulk(g.ops)
	g.batch = c.s.db.NewBatch(pebble.WithInitialSizeBytes(size), pebble.WithMaxRetainedSizeBytes(2*maxGroupBytes))
	for i, o := range g.ops {
		if _, ok := o.(*ownAppend); !ok {
			c.own.flush(g.batch)
		}
		g.errs[i] = o.build(g.batch)
	}
	c.own.flush(g.batch)
	for _, p := range c.moved {
		p.touched = false
		p.trimWindows()
		if p.topic.deleted {
			continue // in this very group: its state must not come back
		}
		g.moved = append(g.moved, moved{p, p.tail})
		if err := errors.Join(p.writeTail(g.batch), p.writeLineage(g.batch, c.s.opening)); err != nil {
			return fmt.Errorf("commit: %w", err)
		}
	}
	c.moved = c.moved[:0]
	for _, t := range c.bulk {
		t.bulk = false
	}
	c.bulk = c.bulk[:0]
	g.gone, c.gone = c.gone, nil
	if g.batch.Empty() {
		return nil // duplicates and refusals only; still wait for the groups before
	}
	if err := c.s.segments.write(g.batch); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	c.s.lastCommit++
	g.number = c.s.lastCommit
	if err := g.batch.Set(metaCommit, encodeUint64(g.number), nil); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	if err := c.s.db.ApplyNoSyncWait(g.batch, pebble.Sync); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	c.own.written()
	return nil
}

// chooseBulk finds the topics of which ops append so much that it goes to segment
// files, and returns about how many bytes are left for the Pebble batch.
func (c *committer) chooseBulk(ops []op) int {
	size := 0
	for _, o := range ops {
		size += o.size()
	}
	if size < c.s.bulkBytes {
		return size
	}
	bytes := map[*topic]int{}
	for _, o := range ops {
		switch o := o.(type) {
		case *ownAppend:
			bytes[o.p.topic] += len(o.batch)
		case *appendOp:
			for i := range o.parts {
				if o.parts[i].err == nil {
					bytes[o.parts[i].p.topic] += len(o.parts[i].batch)
				}
			}
		}
	}
	for t, n := range bytes {
		if n >= c.s.bulkBytes {
			t.bulk = true
			c.bulk = append(c.bulk, t)
			size -= n
		}
	}
	return size
}

// finish waits for groups to be on disk and tells their ops.
func (c *committer) finish() {
	defer close(c.ended)
	for g := range c.groups {
		err := c.durable(g)
		if err != nil {
			c.s.fail(err)
		}
		if c.s.failure() != nil {
			err = errStoreFailed
		}
		if err == nil {
			for _, m := range g.moved {
				c.appended.Add(m.p.publish(m.t))
			}
		}
		for i, o := range g.ops {
			if g.errs[i] != nil && err == nil {
				o.done(g.errs[i])
				continue
			}
			o.done(err)
		}
		if err == nil {
			c.commits.Add(1)
			c.ops.Add(int64(len(g.ops)))
			c.s.hooks.onCommit(len(g.ops), time.Since(g.started))
		}
	}
}

func (c *committer) durable(g *group) error {
	if g.batch == nil || g.number == 0 || c.s.failure() != nil {
		return nil
	}
	if err := g.batch.SyncWait(); err != nil {
		return fmt.Errorf("commit: sync: %w", err)
	}
	if c.s.failure() != nil {
		return nil
	}
	if err := c.s.highwater.record(g.number, g.moved, g.gone); err != nil {
		return err
	}
	return g.batch.Close()
}

// close lets what is queued finish, and returns when it has, or when the store fails.
func (c *committer) close() {
	c.mu.Lock()
	c.closed = true
	c.wake.Broadcast()
	c.room.Broadcast()
	c.mu.Unlock()
	select {
	case <-c.ended:
	case <-c.s.failed:
	}
}

// funcOp is an op of two functions, for everything but produce.
type funcOp struct {
	write func(*pebble.Batch) error
	after func()
	out   chan error
}

func (o *funcOp) build(b *pebble.Batch) error { return o.write(b) }

func (o *funcOp) done(err error) {
	if err == nil && o.after != nil {
		o.after()
	}
	o.out <- err
}

func (o *funcOp) size() int { return 256 }

// update makes what write adds to the batch durable, in one atomic commit with
// whatever else is in flight, and returns when it is. write runs on the
// committer's goroutine, after everything submitted before; it must not block,
// and if it returns an error it must have written nothing: update then returns
// that error. after, if not nil, runs on the finisher once the write is durable
// and before anything submitted later is: the place to publish the new state.
//
// If ctx ends first the write still happens, but update no longer waits for it.
func (s *store) update(ctx context.Context, write func(*pebble.Batch) error, after func()) error {
	o := &funcOp{write: write, after: after, out: make(chan error, 1)}
	if err := s.commit.submit(o); err != nil {
		return err
	}
	select {
	case err := <-o.out:
		return err
	case <-s.failed:
		return errStoreFailed
	case <-ctx.Done():
		return ctx.Err()
	}
}
