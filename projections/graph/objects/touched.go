package objects

import (
	"slices"
	"sync"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// Touch says that an event at a position brought something that has to do with an id: it
// is the event's own id, that of an object of which it makes a version, that of an event
// or object to which one of its edges leads, or the EntityID of what it names.
type Touch struct {
	ID schemas.EventID
	At schemas.Position
}

// EntityID stands for an entity that objects of an audience name, where ids of events and
// objects are meant.
func EntityID(a schemas.AudienceID, name string) schemas.EventID {
	var room [128]byte
	b := append(append(room[:0], a[:]...), name...)
	return xxh3.Hash128(b).Bytes()
}

// ringSize is how many touches are remembered.
const ringSize = 1 << 16

// ring remembers the last touches since the projection was opened. They are counted.
type ring struct {
	mu    sync.Mutex
	count uint64
	all   []ringEntry // a ring once full
	tps   []schemas.TopicPartition
	// unsettled are the counts before batches that are told of and not committed.
	unsettled []uint64
}

// touch is a Touch within its partition.
type touch struct {
	id     schemas.EventID
	offset int64
}

type ringEntry struct {
	touch
	tp int32 // its number in tps
}

// add tells of a batch, and gives the count before it, by which it is settled.
func (r *ring) add(tp schemas.TopicPartition, all []touch) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	before := r.count
	r.unsettled = append(r.unsettled, before)
	n := int32(0)
	for int(n) < len(r.tps) && r.tps[n] != tp {
		n++
	}
	if int(n) == len(r.tps) {
		r.tps = append(r.tps, tp)
	}
	for _, t := range all {
		if len(r.all) < ringSize {
			r.all = append(r.all, ringEntry{t, n})
		} else {
			r.all[r.count%ringSize] = ringEntry{t, n}
		}
		r.count++
	}
	return before
}

// settle says that a batch is committed, or never will be.
func (r *ring) settle(before uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.Index(r.unsettled, before) // batches without touches have one count
	r.unsettled = slices.Delete(r.unsettled, i, i+1)
}

// settled is the count up to which every view that is opened from now on has all.
func (r *ring) settled() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.unsettled) > 0 {
		return slices.Min(r.unsettled)
	}
	return r.count
}

// Touched returns what was touched since a count, which an earlier call or
// View.Touched gave, and the count now. It is false where that was too long ago for all
// of it to be known: then anything may have been.
//
// It is how a cache of what was read from views stays exact. An event is told of before a
// view can have it. So what was read of some ids from one view is what another one, whose
// watermark covers the first's, would read as well, unless one of the ids was touched at
// a position at or above the first one's watermark. To keep what was read, drop it if
// Touched(view.Touched()) names such a touch, and go on from the count that this returns.
func (x *Objects) Touched(since uint64) (all []Touch, now uint64, whole bool) {
	r := &x.touched
	r.mu.Lock()
	defer r.mu.Unlock()
	if since > r.count || r.count-since > uint64(len(r.all)) {
		return nil, r.count, false
	}
	for ; since < r.count; since++ {
		e := &r.all[since%ringSize]
		tp := r.tps[e.tp]
		all = append(all, Touch{e.id, schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: e.offset}})
	}
	return all, r.count, true
}
