package pipeline

import (
	"context"
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/schemas"
)

// lanes holds what was fetched and not yet taken, one lane a partition, and
// hands it out batch by batch.
//
// Invariants:
//   - A lane has at most one batch out. The next is handed out after done, the
//     same one (or a longer one) after again. So order within a partition needs
//     nothing from whoever takes the batches, however many take at once.
//   - next moves in done only, and only forwards.
//   - Of finite lanes none is handed out that is further on its way, in parts of the
//     whole, than what is out or due of another one: they come to their ends together.
//     What joins partitions then has both sides in memory; before, a partition with
//     half as many records was through when the other had half of them before it.
//     The lane that is the least far always may go on, so there is no deadlock.
//   - A lane that holds more than high bytes is paused; it is resumed below low,
//     and when it is removed: a pause outlives an assignment in the client, and
//     the partition would stall for ever if it came back.
type lanes struct {
	maxRecords, maxBytes int
	high, low            int

	mu     sync.Mutex
	cond   *sync.Cond // ready, unfinished or err changed
	byTP   map[schemas.TopicPartition]*lane
	ready  []*lane     // lanes with a batch to hand out, longest waiting first
	client *kgo.Client // of the present session; for pausing
	err    error       // final
	// grown, if not nil, begins the present session anew.
	grown func()
	// finite: the lanes have ends, and take returns nil when all reached theirs.
	finite     bool
	unfinished int
}

// lane is one partition. All fields are guarded by lanes.mu.
type lane struct {
	tp      schemas.TopicPartition
	from    int64 // where it started
	next    int64 // where the next batch starts: everything below is done
	end     int64 // of the batch that is out
	told    int64 // next, as of the last batch that had records
	fetched int64 // where fetching goes on
	until   int64 // no record at or beyond is handed out; -1: no end
	recs    []*kgo.Record
	bytes   int
	out     bool // a batch is out
	queued  bool // stands in lanes.ready
	paused  bool
	removed bool
	// tries counts how often the batch that is due was handed out.
	tries int
}

// delivery is a batch that is out. Exactly one of done and again must be called.
type delivery struct {
	lanes *lanes
	lane  *lane
	tp    schemas.TopicPartition
	// recs has no control records; it may be empty, where only the position moves.
	recs []*kgo.Record
	// from is where the partition stood after the batch before, of those that had
	// records: whoever applied them all stands there, or in a gap behind.
	from int64
	// next is where the partition goes on after the batch.
	next int64
	// last is the offset of the last of recs, -1 if there is none.
	last int64
	// attempt counts from 0 how often this batch was handed out before.
	attempt int
	// n counts what is taken from the lane, control of them control records.
	n, control, bytes int
}

// Defaults of a batch.
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

// add starts a lane at next; until -1 is no end.
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

// grow adds lanes while others are fed: the session begins anew with all of them.
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

// onGrowth says what grow calls.
func (ls *lanes) onGrowth(f func()) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.grown = f
}

// lacks are those of the partitions that have no lane.
func (ls *lanes) lacks(tps []schemas.TopicPartition) []schemas.TopicPartition {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(tps), func(tp schemas.TopicPartition) bool { return ls.byTP[tp] != nil })
}

// remove drops lanes with what they hold. A batch that is out stays out; what
// becomes of it no longer matters here.
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

// session says which client feeds the lanes from here on; the partitions that
// it is to fetch are not paused in it.
func (ls *lanes) session(cl *kgo.Client) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.client = cl
	for _, ln := range ls.byTP {
		ln.paused = false
	}
}

// positions is where fetching has to go on, for lanes that are not at their end.
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

// push gives a lane what was fetched, in order.
func (ls *lanes) push(tp schemas.TopicPartition, recs []*kgo.Record) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ln := ls.byTP[tp]
	if ln == nil {
		return // revoked meanwhile
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
		ls.setPaused(ln, true) // its end is reached: fetch no more
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

// setPaused tells the client, which only notes it: no call here blocks.
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

// due reports whether the lane has something to hand out: records, or a gap up
// to its end or to where fetching goes on.
func (ln *lane) due() bool {
	return !ln.removed && !ln.out && (len(ln.recs) > 0 || ln.limit(ln.fetched) > ln.next)
}

// limit is off, but not beyond the lane's end.
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

// fail ends every take, now and later.
func (ls *lanes) fail(err error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ls.err == nil {
		ls.err = err
	}
	ls.cond.Broadcast()
}

// take waits for the next batch. Nil without an error: all lanes are at their end.
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

// pick is the lane that waits longest of those that may be handed out, nil if there
// is none.
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

// inStep reports whether a lane is no further on its way than what is out or due of
// the others.
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

// part is how far an offset lies on a finite lane's way, 0 to 1.
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
		d.next = ln.limit(ln.fetched) // over a gap behind the last record, too
	} else {
		d.next = ln.recs[d.n-1].Offset + 1
	}
	if ln.end = d.next; ls.finite {
		ls.cond.Broadcast() // others may be in step now
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

// done says that the batch was taken: the position moves. False if the partition
// was removed meanwhile, and its position is no longer ours to move.
func (d *delivery) done() bool {
	ls, ln := d.lanes, d.lane
	ls.mu.Lock()
	defer ls.mu.Unlock()
	if ln.removed {
		return false
	}
	clear(ln.recs[:d.n]) // let go of the records
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

// again says that the batch was not taken: it is due once more.
func (d *delivery) again() {
	d.lanes.mu.Lock()
	defer d.lanes.mu.Unlock()
	d.lane.out = false
	d.lanes.offer(d.lane)
}
