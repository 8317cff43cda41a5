package pipeline

import (
	"context"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/schemas"
)

// lanes holds the records that were fetched and are not yet acknowledged, in one queue (lane) per
// partition, and delivers them batch by batch. Its methods may be called concurrently.
//
// Invariants:
//   - A lane has at most one batch in flight. The next one is delivered after done, the
//     same one (or a longer one) after again. So the order within a partition does not
//     depend on the number of concurrent consumers.
//   - next changes in done only, and only forwards.
//   - With end offsets set, a lane waits while its fraction done is larger than that of
//     any other lane's in-flight or pending batch, so that all finish together. A
//     projection that joins partitions then has both sides in memory; before, a partition
//     with half as many records finished when the other was half done. The lane with the
//     smallest fraction may always continue, so there is no deadlock.
//   - A lane that holds more than high bytes is paused. It is resumed below low, and when
//     it is removed: in the client a pause outlives an assignment, and the partition would
//     stall for ever if it were assigned again.
type lanes struct {
	maxRecords, maxBytes int
	high, low            int

	mu     sync.Mutex
	cond   *sync.Cond // signals a change of ready, unfinished or err
	byTP   map[schemas.TopicPartition]*lane
	ready  []*lane     // lanes with a batch to deliver, the one that waits longest first
	client *kgo.Client // the client of the present session, used for pausing
	err    error       // set once, final
	// grown, if not nil, restarts the present session.
	grown func()
	// finite means that the lanes have ends; take returns nil when all have reached theirs.
	finite     bool
	unfinished int
}

// lane is the queue of one partition. All fields are guarded by lanes.mu.
type lane struct {
	tp      schemas.TopicPartition
	from    int64 // the offset at which the lane started
	next    int64 // the start of the next batch: every lower offset is done
	end     int64 // the end of the batch in flight
	told    int64 // next after the last batch that had records
	fetched int64 // the next offset to fetch
	until   int64 // records at or beyond it are not delivered; -1 means no end
	recs    []*kgo.Record
	bytes   int
	out     bool // a batch is in flight
	queued  bool // the lane is in lanes.ready
	paused  bool
	removed bool
	// tries counts how often the pending batch was delivered.
	tries int
}

// delivery is a batch in flight. Exactly one of done and again must be called.
type delivery struct {
	lanes *lanes
	lane  *lane
	tp    schemas.TopicPartition
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
	// n is the number of records taken from the lane, of which control are control records.
	n, control, bytes int
}

// These are the default limits of a batch.
const (
	defaultBatchRecords = 1024
	defaultBatchBytes   = 8 << 20
)

func newLanes(maxRecords, maxBytes int) *lanes {
	if maxRecords <= 0 {
		maxRecords = defaultBatchRecords
	}
	if maxBytes <= 0 {
		maxBytes = defaultBatchBytes
	}
	ls := &lanes{
		maxRecords: maxRecords, maxBytes: maxBytes,
		high: 2 * maxBytes, low: maxBytes,
		byTP: map[schemas.TopicPartition]*lane{},
	}
	ls.cond = sync.NewCond(&ls.mu)
	return ls
}

// add starts a lane at next. until is its end; -1 means no end.
func (ls *lanes) add(tp schemas.TopicPartition, next, until int64) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ln := &lane{tp: tp, from: next, next: next, told: next, fetched: next, until: until}
	ls.byTP[tp] = ln
	if until >= 0 {
		ls.finite = true
		if next < until {
			ls.unfinished++
		}
	}
	ls.cond.Broadcast()
}

// grow adds lanes while others are fed; the session restarts with all of them.
func (ls *lanes) grow(starts schemas.Watermark) {
	for tp, next := range starts {
		ls.add(tp, next, -1)
	}
	ls.mu.Lock()
	grown := ls.grown
	ls.mu.Unlock()
	if grown != nil {
		grown()
	}
}

// onGrowth sets the function that grow calls.
func (ls *lanes) onGrowth(f func()) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.grown = f
}

// lacks returns the given partitions that have no lane.
func (ls *lanes) lacks(tps []schemas.TopicPartition) []schemas.TopicPartition {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(tps), func(tp schemas.TopicPartition) bool { return ls.byTP[tp] != nil })
}

// remove drops lanes with their records. The outcome of a batch in flight is ignored from then on.
func (ls *lanes) remove(tps ...schemas.TopicPartition) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for _, tp := range tps {
		ln := ls.byTP[tp]
		if ln == nil {
			continue
		}
		ls.setPaused(ln, false)
		ln.removed, ln.recs, ln.bytes = true, nil, 0
		delete(ls.byTP, tp)
	}
}

// session sets the client that feeds the lanes from now on. In that client no partition is paused
// yet.
func (ls *lanes) session(cl *kgo.Client) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.client = cl
	for _, ln := range ls.byTP {
		ln.paused = false
	}
}

// positions returns the next offset to fetch for each lane that is not at its end.
func (ls *lanes) positions() schemas.Watermark {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	w := schemas.Watermark{}
	for tp, ln := range ls.byTP {
		if ln.until < 0 || ln.fetched < ln.until {
			w[tp] = ln.fetched
		}
	}
	return w
}

// skip moves fetching forward over offsets that the log no longer has.
func (ls *lanes) skip(tp schemas.TopicPartition, to int64) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ln := ls.byTP[tp]; ln != nil && to > ln.fetched {
		ln.fetched = to
		ls.offer(ln)
	}
}

// push appends fetched records to a lane, in order.
func (ls *lanes) push(tp schemas.TopicPartition, recs []*kgo.Record) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ln := ls.byTP[tp]
	if ln == nil {
		return // revoked in the meantime
	}
	for _, r := range recs {
		if r.Offset < ln.fetched {
			continue
		}
		ln.fetched = r.Offset + 1
		if ln.until >= 0 && r.Offset >= ln.until {
			break
		}
		ln.recs = append(ln.recs, r)
		ln.bytes += recordBytes(r)
	}
	if ln.until >= 0 && ln.fetched >= ln.until {
		ls.setPaused(ln, true) // the end is reached: fetch no more
	} else if ln.bytes > ls.high {
		ls.setPaused(ln, true)
	}
	ls.offer(ln)
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
func (ls *lanes) setPaused(ln *lane, paused bool) {
	if ln.paused == paused || ls.client == nil {
		return
	}
	ln.paused = paused
	tps := map[string][]int32{ln.tp.Topic: {ln.tp.Partition}}
	if paused {
		ls.client.PauseFetchPartitions(tps)
	} else {
		ls.client.ResumeFetchPartitions(tps)
	}
}

// due reports whether the lane has something to deliver: records, or a gap up to its end or to the
// next offset to fetch.
func (ln *lane) due() bool {
	return !ln.removed && !ln.out && (len(ln.recs) > 0 || ln.limit(ln.fetched) > ln.next)
}

// limit returns off, but not more than the lane's end.
func (ln *lane) limit(off int64) int64 {
	if ln.until >= 0 {
		return min(off, ln.until)
	}
	return off
}

// offer queues the lane if it is due.
func (ls *lanes) offer(ln *lane) {
	if ln.due() && !ln.queued {
		ln.queued = true
		ls.ready = append(ls.ready, ln)
		ls.cond.Signal()
	}
}

// fail makes every present and future take return err.
func (ls *lanes) fail(err error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.err == nil {
		ls.err = err
	}
	ls.cond.Broadcast()
}

// take waits for the next batch. It returns nil without an error when all lanes are at their end.
// Several goroutines may call it.
func (ls *lanes) take(ctx context.Context) (*delivery, error) {
	stop := context.AfterFunc(ctx, func() {
		ls.mu.Lock()
		defer ls.mu.Unlock()
		ls.cond.Broadcast()
	})
	defer stop()
	ls.mu.Lock()
	defer ls.mu.Unlock()
	for {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case ls.err != nil:
			return nil, ls.err
		case ls.finite && ls.unfinished == 0:
			return nil, nil
		}
		if ln := ls.pick(); ln != nil {
			return ls.handOut(ln), nil
		}
		ls.cond.Wait()
	}
}

// pick returns the lane that has waited longest of those that may be delivered, nil if there is
// none.
func (ls *lanes) pick() *lane {
	for i := 0; i < len(ls.ready); {
		ln := ls.ready[i]
		due := ln.due()
		if due && !ls.inStep(ln) {
			i++
			continue
		}
		ls.ready = slices.Delete(ls.ready, i, i+1)
		ln.queued = false
		if due {
			return ln
		}
	}
	return nil
}

// inStep reports whether the lane's fraction done is no larger than that of the in-flight or
// pending batches of the other lanes.
func (ls *lanes) inStep(ln *lane) bool {
	if !ls.finite {
		return true
	}
	for _, o := range ls.byTP {
		at := o.next
		if o.out {
			at = o.end
		}
		if o != ln && o.next < o.until && ln.part(ln.next) > o.part(at) {
			return false
		}
	}
	return true
}

// part returns the fraction of a finite lane that lies before offset, 0 to 1.
func (ln *lane) part(offset int64) float64 {
	return float64(offset-ln.from) / float64(ln.until-ln.from)
}

func (ls *lanes) handOut(ln *lane) *delivery {
	d := &delivery{lanes: ls, lane: ln, tp: ln.tp, from: ln.told, attempt: ln.tries, last: -1}
	ln.out = true
	ln.tries++
	for d.n < len(ln.recs) && d.n < ls.maxRecords {
		r := ln.recs[d.n]
		size := recordBytes(r)
		if d.n > 0 && d.bytes+size > ls.maxBytes {
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
	if d.n == len(ln.recs) {
		d.next = ln.limit(ln.fetched) // including a gap after the last record
	} else {
		d.next = ln.recs[d.n-1].Offset + 1
	}
	if ln.end = d.next; ls.finite {
		ls.cond.Broadcast() // other lanes may be in step now
	}
	d.recs = ln.recs[:d.n:d.n]
	if d.control > 0 {
		d.recs = make([]*kgo.Record, 0, d.n-d.control)
		for _, r := range ln.recs[:d.n] {
			if !r.Attrs.IsControl() {
				d.recs = append(d.recs, r)
			}
		}
	}
	return d
}

// done acknowledges the batch and moves the position. It returns false if the partition was removed
// in the meantime, in which case the position belongs to another reader.
func (d *delivery) done() bool {
	ls, ln := d.lanes, d.lane
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ln.removed {
		return false
	}
	clear(ln.recs[:d.n]) // release the records
	ln.recs = ln.recs[d.n:]
	ln.bytes -= d.bytes
	wasUnfinished := ln.until >= 0 && ln.next < ln.until
	ln.next, ln.out, ln.tries = d.next, false, 0
	if len(d.recs) > 0 {
		ln.told = d.next
	}
	if wasUnfinished && ln.next >= ln.until {
		ls.unfinished--
	}
	if ls.finite {
		ls.cond.Broadcast()
	}
	if ln.bytes < ls.low && (ln.until < 0 || ln.fetched < ln.until) {
		ls.setPaused(ln, false)
	}
	ls.offer(ln)
	return true
}

// again reports that the batch was not applied: it will be delivered once more.
func (d *delivery) again() {
	d.lanes.mu.Lock()
	defer d.lanes.mu.Unlock()
	d.lane.out = false
	d.lanes.offer(d.lane)
}
