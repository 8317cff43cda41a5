package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// Group commit.
//
// Everything that is written (record batches, producer windows, topics, group offsets) is an op
// handed to the committer. It consists of a queue and two goroutines:
//
//  1. submit appends an op to the queue.
//  2. The committer takes everything queued (up to maxGroupBytes) and has each op add its writes to one
//     Pebble batch, in order; consecutive appends of this process are merged by partition (merge.go).
//     Batches of a topic with many bytes in the group are instead written to a segment file and synced
//     (segments.go). Then it applies the Pebble batch, which puts it into the WAL's buffer and the
//     memtable, not yet on disk.
//  3. The finisher waits for the WAL's fsync, appends the new log ends to the high-water file, and reports
//     to each op, in order, that it is done.
//
// While the finisher waits for one fsync the committer builds the next group, so under load every
// fsync covers everything that arrived during the previous one.
//
// Invariants:
//   - Ops are built and done in the order of submission, except that consecutive appends of this process
//     are built by partition. So an op may rely on the decisions of earlier ops (assigned offsets) that are
//     not on disk yet: if they never get there, neither does this one.
//   - What a Pebble batch refers to in a segment file is on disk before the Pebble batch is handed over.
//   - Nothing is published to a reader before done: only the finisher moves the high watermark.
//   - After the first error nothing is written any more: what the WAL holds after a failed write is unknown,
//     so the store is failed for good, and a restart, which reads the disk, finds out.

// op is a unit of writing. It becomes durable as a whole or not at all.
type op interface {
	// build adds the writes to the batch; the committer's goroutine calls it. An error refuses the
	// op, which must then have written nothing.
	build(*pebble.Batch) error
	// done gets the outcome; the finisher's goroutine calls it. It is nil when the writes are on
	// disk, else build's error or ErrFailed. done must not block.
	done(error)
	// size returns roughly how many bytes build will write.
	size() int
}

var (
	// ErrFailed reports that the store has failed: nothing is written until the log is opened again.
	ErrFailed = errors.New("the log's store has failed; restart to recover")
	// ErrClosed reports that the log is closed, or closing.
	ErrClosed = errors.New("the broker is closed")
)

const (
	// maxGroupBytes limits one group, so that it stays well below the size from which Pebble treats
	// a batch as a memtable of its own, and a small produce never waits for more than this.
	maxGroupBytes = 8 << 20
	// maxQueuedBytes limits what waits for the committer over all connections; beyond it submit
	// blocks, which stops reading from the connections.
	maxQueuedBytes = 64 << 20
)

type committer struct {
	s *store

	mu     sync.Mutex
	wake   sync.Cond // signalled when the queue grows or closes
	room   sync.Cond // signalled when the queue shrinks
	queue  []op
	bytes  int
	closed bool

	// The state of the group being built, used by the committer only.
	moved []*Partition
	gone  []topicNum
	bulk  []*Topic // topics whose batches go to segment files
	own   merger   // appends not built yet

	groups chan *group
	ended  chan struct{} // closed when the finisher has returned

	// Counts of what was made durable, for Stats.
	commits, ops, appended atomic.Int64
}

// group is a set of ops that become durable together.
type group struct {
	batch  *pebble.Batch
	ops    []op
	errs   []error // parallel to ops: the errors of build
	moved  []moved
	gone   []topicNum // deleted topics
	number uint64
}

// moved is the new end of a partition after a group.
type moved struct {
	p *Partition
	t State
}

// touch records that the op being built has changed p.tail, which is then stored with the group and
// published when the group is durable.
func (c *committer) touch(p *Partition) {
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

// submit queues o. It blocks while too much is queued. If it returns an error, o.done will not be
// called.
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
		return ErrClosed
	}
	c.queue = append(c.queue, o)
	c.bytes += n
	c.wake.Signal()
	return nil
}

// take waits for ops and returns a group of them; nil if the queue is closed and empty.
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
		g := &group{ops: ops, errs: make([]error, len(ops))}
		if err := c.apply(g); err != nil {
			c.s.fail(err)
		}
		c.groups <- g
	}
}

// apply builds g's batch and hands it to Pebble. A crash after it keeps the whole group or none of
// it, and no client has been answered yet. A crash in it leaves at most unreferenced bytes in a
// segment file.
func (c *committer) apply(g *group) (err error) {
	if c.s.failure() != nil {
		return nil
	}
	// Pebble panics on some write errors (a WAL that cannot be created). Treat that like any other
	// error.
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
			continue // deleted in this same group: its state must not be stored again
		}
		g.moved = append(g.moved, moved{p, p.tail})
		if err := errors.Join(p.writeState(g.batch), p.writeLineage(g.batch, c.s.opening)); err != nil {
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
		return nil // only duplicates and refusals; still wait for the groups before
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

// chooseBulk selects the topics with so many bytes in ops that they go to segment files, and
// returns roughly how many bytes are left for the Pebble batch.
func (c *committer) chooseBulk(ops []op) int {
	size := 0
	for _, o := range ops {
		size += o.size()
	}
	if size < c.s.bulkBytes {
		return size
	}
	bytes := map[*Topic]int{}
	for _, o := range ops {
		switch o := o.(type) {
		case *ownAppend:
			bytes[o.p.topic] += len(o.batch)
		case *AppendOp:
			for i := range o.Parts {
				if o.Parts[i].Err == nil {
					bytes[o.Parts[i].Partition.topic] += len(o.Parts[i].Batch)
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

// finish waits until groups are on disk and reports to their ops.
func (c *committer) finish() {
	defer close(c.ended)
	for g := range c.groups {
		err := c.durable(g)
		if err != nil {
			c.s.fail(err)
		}
		if c.s.failure() != nil {
			err = ErrFailed
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

// close waits until the queued ops are finished, or until the store fails.
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

// funcOp is an op made of two functions, used for everything but appends.
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

// update makes what write adds to the batch durable, in one atomic commit with other concurrent
// writes, and returns when it is. The committer's goroutine calls write, after everything submitted
// before; write must not block, and if it returns an error it must have written nothing: update
// then returns that error. The finisher calls after, if not nil, once the write is durable and
// before anything submitted later is: it is the place to publish the new state.
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
		return ErrFailed
	case <-ctx.Done():
		return ctx.Err()
	}
}
