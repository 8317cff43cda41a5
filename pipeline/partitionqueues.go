package pipeline

import (
	"context"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/schemas"
)

// partitionQueues holds the records that were fetched and are not yet acknowledged, in one queue per
// partition, and delivers them batch by batch. Its methods may be called concurrently.
//
// Invariants:
//   - A queue has at most one batch in flight. The next one is delivered after ack, the
//     same one (or a longer one) after nack. So the order within a partition does not
//     depend on the number of concurrent consumers.
//   - next changes in ack only, and only forwards.
//   - With end offsets set, a queue waits while its fraction done is larger than that of
//     any other queue's in-flight or pending batch, so that all finish together. A
//     projection that joins partitions then has both sides in memory; before, a partition
//     with half as many records finished when the other was half done. The queue with the
//     smallest fraction may always continue, so there is no deadlock.
//   - A queue that holds more than high bytes is paused. It is resumed below low, and when
//     it is removed: in the client a pause outlives an assignment, and the partition would
//     stall for ever if it were assigned again.
type partitionQueues struct {
	maxRecords, maxBytes int
	high, low            int

	mu     sync.Mutex
	cond   *sync.Cond // signals a change of ready, unfinished or err
	byTP   map[schemas.TopicPartition]*partitionQueue
	ready  []*partitionQueue // queues with a batch to deliver, the one that waits longest first
	client *kgo.Client       // the client of the present session, used for pausing
	err    error             // set once, final
	// grown, if not nil, restarts the present session.
	grown func()
	// finite means that the queues have ends; take returns nil when all have reached theirs.
	finite     bool
	unfinished int
}

// partitionQueue is the queue of one partition. All fields are guarded by partitionQueues.mu.
type partitionQueue struct {
	tp       schemas.TopicPartition
	from     int64 // the offset at which the queue started
	next     int64 // the start of the next batch: every lower offset is done
	end      int64 // the end of the batch in flight
	lastNext int64 // next after the last batch that had records
	fetched  int64 // the next offset to fetch
	until    int64 // records at or beyond it are not delivered; -1 means no end
	recs     []*kgo.Record
	bytes    int
	inFlight bool // a batch is in flight
	queued   bool // the queue is in partitionQueues.ready
	paused   bool
	removed  bool
	// tries counts how often the pending batch was delivered.
	tries int
}

// delivery is a batch in flight. Exactly one of ack and nack must be called.
type delivery struct {
	queues *partitionQueues
	queue  *partitionQueue
	tp     schemas.TopicPartition
	// recs has no control records. It may be empty if only the position moves.
	recs []*kgo.Record
	// from is the position after the last batch with records: a consumer that applied all of them
	// is at this offset, or in a gap behind it.
	from int64
	// next is the position of the partition after the batch.
	next int64
	// last is the offset of the last record in recs, -1 if there is none.
	last int64
	// attempt counts from 0 how often this batch was delivered before.
	attempt int
	// n is the number of records taken from the queue, of which control are control records.
	n, control, bytes int
}

// These are the default limits of a batch.
const (
	defaultBatchRecords = 1024
	defaultBatchBytes   = 8 << 20
)

func newPartitionQueues(maxRecords, maxBytes int) *partitionQueues {
	if maxRecords <= 0 {
		maxRecords = defaultBatchRecords
	}
	if maxBytes <= 0 {
		maxBytes = defaultBatchBytes
	}
	qs := &partitionQueues{
		maxRecords: maxRecords, maxBytes: maxBytes,
		high: 2 * maxBytes, low: maxBytes,
		byTP: map[schemas.TopicPartition]*partitionQueue{},
	}
	qs.cond = sync.NewCond(&qs.mu)
	return qs
}

// add starts a queue at next. until is its end; -1 means no end.
func (qs *partitionQueues) add(tp schemas.TopicPartition, next, until int64) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := &partitionQueue{tp: tp, from: next, next: next, lastNext: next, fetched: next, until: until}
	qs.byTP[tp] = q
	if until >= 0 {
		qs.finite = true
		if next < until {
			qs.unfinished++
		}
	}
	qs.cond.Broadcast()
}

// grow adds queues while others are fed; the session restarts with all of them.
func (qs *partitionQueues) grow(starts schemas.Watermark) {
	for tp, next := range starts {
		qs.add(tp, next, -1)
	}
	qs.mu.Lock()
	grown := qs.grown
	qs.mu.Unlock()
	if grown != nil {
		grown()
	}
}

// onGrowth sets the function that grow calls.
func (qs *partitionQueues) onGrowth(f func()) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.grown = f
}

// lacks returns the given partitions that have no queue.
func (qs *partitionQueues) lacks(tps []schemas.TopicPartition) []schemas.TopicPartition {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(tps), func(tp schemas.TopicPartition) bool { return qs.byTP[tp] != nil })
}

// remove drops queues with their records. The outcome of a batch in flight is ignored from then on.
func (qs *partitionQueues) remove(tps ...schemas.TopicPartition) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	for _, tp := range tps {
		q := qs.byTP[tp]
		if q == nil {
			continue
		}
		qs.setPaused(q, false)
		q.removed, q.recs, q.bytes = true, nil, 0
		delete(qs.byTP, tp)
	}
}

// session sets the client that feeds the queues from now on. In that client no partition is paused
// yet.
func (qs *partitionQueues) session(cl *kgo.Client) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	qs.client = cl
	for _, q := range qs.byTP {
		q.paused = false
	}
}

// positions returns the next offset to fetch for each queue that is not at its end.
func (qs *partitionQueues) positions() schemas.Watermark {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	w := schemas.Watermark{}
	for tp, q := range qs.byTP {
		if q.until < 0 || q.fetched < q.until {
			w[tp] = q.fetched
		}
	}
	return w
}

// skip moves fetching forward over offsets that the log no longer has.
func (qs *partitionQueues) skip(tp schemas.TopicPartition, to int64) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q := qs.byTP[tp]; q != nil && to > q.fetched {
		q.fetched = to
		qs.offer(q)
	}
}

// push appends fetched records to a queue, in order.
func (qs *partitionQueues) push(tp schemas.TopicPartition, recs []*kgo.Record) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	q := qs.byTP[tp]
	if q == nil {
		return // revoked in the meantime
	}
	for _, r := range recs {
		if r.Offset < q.fetched {
			continue
		}
		q.fetched = r.Offset + 1
		if q.until >= 0 && r.Offset >= q.until {
			break
		}
		q.recs = append(q.recs, r)
		q.bytes += recordBytes(r)
	}
	if q.until >= 0 && q.fetched >= q.until {
		qs.setPaused(q, true) // the end is reached: fetch no more
	} else if q.bytes > qs.high {
		qs.setPaused(q, true)
	}
	qs.offer(q)
}

func recordBytes(r *kgo.Record) int {
	n := len(r.Key) + len(r.Value) + 64
	for _, h := range r.Headers {
		n += len(h.Key) + len(h.Value)
	}
	return n
}

// setPaused pauses or resumes fetching in the client. The client only records the change, so the
// call does not block.
func (qs *partitionQueues) setPaused(q *partitionQueue, paused bool) {
	if q.paused == paused || qs.client == nil {
		return
	}
	q.paused = paused
	tps := map[string][]int32{q.tp.Topic: {q.tp.Partition}}
	if paused {
		qs.client.PauseFetchPartitions(tps)
	} else {
		qs.client.ResumeFetchPartitions(tps)
	}
}

// due reports whether the queue has something to deliver: records, or a gap up to its end or to the
// next offset to fetch.
func (q *partitionQueue) due() bool {
	return !q.removed && !q.inFlight && (len(q.recs) > 0 || q.limit(q.fetched) > q.next)
}

// limit returns off, but not more than the queue's end.
func (q *partitionQueue) limit(off int64) int64 {
	if q.until >= 0 {
		return min(off, q.until)
	}
	return off
}

// offer queues the queue if it is due.
func (qs *partitionQueues) offer(q *partitionQueue) {
	if q.due() && !q.queued {
		q.queued = true
		qs.ready = append(qs.ready, q)
		qs.cond.Signal()
	}
}

// fail makes every present and future take return err.
func (qs *partitionQueues) fail(err error) {
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if qs.err == nil {
		qs.err = err
	}
	qs.cond.Broadcast()
}

// take waits for the next batch. It returns nil without an error when all queues are at their end.
// Several goroutines may call it.
func (qs *partitionQueues) take(ctx context.Context) (*delivery, error) {
	stop := context.AfterFunc(ctx, func() {
		qs.mu.Lock()
		defer qs.mu.Unlock()
		qs.cond.Broadcast()
	})
	defer stop()
	qs.mu.Lock()
	defer qs.mu.Unlock()
	for {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case qs.err != nil:
			return nil, qs.err
		case qs.finite && qs.unfinished == 0:
			return nil, nil
		}
		if q := qs.pick(); q != nil {
			return qs.handOut(q), nil
		}
		qs.cond.Wait()
	}
}

// pick returns the queue that has waited longest of those that may be delivered, nil if there is
// none.
func (qs *partitionQueues) pick() *partitionQueue {
	for i := 0; i < len(qs.ready); {
		q := qs.ready[i]
		due := q.due()
		if due && !qs.inStep(q) {
			i++
			continue
		}
		qs.ready = slices.Delete(qs.ready, i, i+1)
		q.queued = false
		if due {
			return q
		}
	}
	return nil
}

// inStep reports whether the queue's fraction done is no larger than that of the in-flight or
// pending batches of the other queues.
func (qs *partitionQueues) inStep(q *partitionQueue) bool {
	if !qs.finite {
		return true
	}
	for _, o := range qs.byTP {
		at := o.next
		if o.inFlight {
			at = o.end
		}
		if o != q && o.next < o.until && q.part(q.next) > o.part(at) {
			return false
		}
	}
	return true
}

// part returns the fraction of a finite queue that lies before offset, 0 to 1.
func (q *partitionQueue) part(offset int64) float64 {
	return float64(offset-q.from) / float64(q.until-q.from)
}

func (qs *partitionQueues) handOut(q *partitionQueue) *delivery {
	d := &delivery{queues: qs, queue: q, tp: q.tp, from: q.lastNext, attempt: q.tries, last: -1}
	q.inFlight = true
	q.tries++
	for d.n < len(q.recs) && d.n < qs.maxRecords {
		r := q.recs[d.n]
		size := recordBytes(r)
		if d.n > 0 && d.bytes+size > qs.maxBytes {
			break
		}
		if r.Attrs.IsControl() {
			d.control++
		} else {
			d.last = r.Offset
		}
		d.n++
		d.bytes += size
	}
	if d.n == len(q.recs) {
		d.next = q.limit(q.fetched) // including a gap after the last record
	} else {
		d.next = q.recs[d.n-1].Offset + 1
	}
	if q.end = d.next; qs.finite {
		qs.cond.Broadcast() // other queues may be in step now
	}
	d.recs = q.recs[:d.n:d.n]
	if d.control > 0 {
		d.recs = make([]*kgo.Record, 0, d.n-d.control)
		for _, r := range q.recs[:d.n] {
			if !r.Attrs.IsControl() {
				d.recs = append(d.recs, r)
			}
		}
	}
	return d
}

// ack acknowledges the batch and moves the position. It returns false if the partition was removed
// in the meantime, in which case the position belongs to another reader.
func (d *delivery) ack() bool {
	qs, q := d.queues, d.queue
	qs.mu.Lock()
	defer qs.mu.Unlock()
	if q.removed {
		return false
	}
	clear(q.recs[:d.n]) // release the records
	q.recs = q.recs[d.n:]
	q.bytes -= d.bytes
	wasUnfinished := q.until >= 0 && q.next < q.until
	q.next, q.inFlight, q.tries = d.next, false, 0
	if len(d.recs) > 0 {
		q.lastNext = d.next
	}
	if wasUnfinished && q.next >= q.until {
		qs.unfinished--
	}
	if qs.finite {
		qs.cond.Broadcast()
	}
	if q.bytes < qs.low && (q.until < 0 || q.fetched < q.until) {
		qs.setPaused(q, false)
	}
	qs.offer(q)
	return true
}

// nack reports that the batch was not applied: it will be delivered once more.
func (d *delivery) nack() {
	d.queues.mu.Lock()
	defer d.queues.mu.Unlock()
	d.queue.inFlight = false
	d.queues.offer(d.queue)
}
