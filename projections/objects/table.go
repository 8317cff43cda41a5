package objects

import (
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/recountdb/recount/projections/chunks"
	"github.com/recountdb/recount/schemas"
)

// table is the part of a shard that is held in memory, so that a search over a million objects is
// filtered without a read: for each object 40 bytes, up to 12 in postings and about 75 in links.
//
// It is loaded from the store when first needed. The shard's only writer adds to it before it
// commits, so the table is never behind a view and may be ahead of one: readers check the view's
// watermark. Rows below it never change.
type table struct {
	tp    schemas.TopicPartition
	shard []byte

	mu     sync.Mutex // held while loading
	loaded bool

	n         atomic.Uint32
	chunks    chunks.List[[chunkSize]row]
	audiences dictionary[audience]
	names     dictionary[string] // of workspaces, agents and sessions
	postings  postings
	links     links

	// tenants maps a tenant to its audiences. audiences.mu guards it.
	tenants map[string][]uint32
	// stats is used by the writer only.
	stats stats
}

// row is an object. audience, workspace, agent and session are numbers of the shard's dictionaries.
type row struct {
	offset, time                        int64
	importance                          float32
	audience, workspace, agent, session uint32
	index                               uint16
	typ, memory                         uint8 // memory includes the flags below
}

const (
	flagVersioned   = 0x80
	flagRemoved     = 0x40
	flagConditional = 0x20
	flagAsks        = 0x10
	memoryBits      = 0x0f
	maxType         = math.MaxUint8
)

// audience is an entry of its dictionary. first is the offset of its first object in the shard.
type audience struct {
	schemas.Audience
	id    schemas.AudienceID
	first int64
}

const chunkSize = 1 << 10

// dictionary assigns numbers to keys in the order in which they are added.
type dictionary[T any] struct {
	n      atomic.Uint32
	chunks chunks.List[[chunkSize]T]

	mu      sync.RWMutex
	numbers map[string]uint32
}

func (d *dictionary[T]) at(n uint32) *T { return &d.chunks.At(n / chunkSize)[n%chunkSize] }

// find returns the number of a key.
func (d *dictionary[T]) find(key string) (uint32, bool) {
	d.mu.RLock()
	defer d.mu.RUnlock()
	n, ok := d.numbers[key]
	return n, ok
}

// add assigns the next number to a key.
func (d *dictionary[T]) add(key string, v T) uint32 {
	n := d.n.Load()
	if n%chunkSize == 0 {
		d.chunks.Add(new([chunkSize]T))
	}
	*d.at(n) = v
	d.n.Store(n + 1)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.numbers == nil {
		d.numbers = map[string]uint32{}
	}
	d.numbers[key] = n
	return n
}

func newTable(tp schemas.TopicPartition) *table {
	return &table{tp: tp, shard: appendShard(nil, tp), tenants: map[string][]uint32{}, links: newLinks()}
}

func (t *table) at(k uint32) *row { return &t.chunks.At(k / chunkSize)[k%chunkSize] }

func (t *table) add(r row) {
	n := t.n.Load()
	if n%chunkSize == 0 {
		t.chunks.Add(new([chunkSize]row))
	}
	*t.at(n) = r
	t.postings.add(t, n, &r)
	t.n.Store(n + 1)
}

func (t *table) addAudience(a schemas.Audience, id schemas.AudienceID, first int64) uint32 {
	n := t.audiences.add(string(id[:]), audience{a, id, first})
	t.audiences.mu.Lock()
	defer t.audiences.mu.Unlock()
	t.tenants[a.Tenant] = append(t.tenants[a.Tenant], n)
	return n
}

func (t *table) addName(name string) uint32 { return t.names.add(name, name) }

// number returns the number of a name, or false if the shard does not have it.
func (t *table) number(name string) (uint32, bool) { return t.names.find(name) }

// find returns the row of an object among the first n, which are in order of offset and index.
func (t *table) find(n uint32, offset int64, index uint32) (*row, bool) {
	k, ok := t.rowOf(n, offset, index)
	if !ok {
		return nil, false
	}
	return t.at(k), true
}

// rowOf returns the number of an object's row.
func (t *table) rowOf(n uint32, offset int64, index uint32) (uint32, bool) {
	if n == 0 || index > maxObjects {
		return 0, false
	}
	// Offsets are spread about evenly: guess, then search in growing steps.
	lo, hi := uint32(0), n // the first row not below the object is in [lo, hi]
	last := t.at(n - 1).offset
	if offset > last || offset < 0 {
		return 0, false
	}
	guess := uint32(float64(offset) / float64(last+1) * float64(n))
	guess = min(guess, n-1)
	if t.at(guess).below(offset, index) {
		lo = guess + 1
		for step := uint32(1); lo+step < n; step *= 4 {
			if !t.at(lo+step).below(offset, index) {
				hi = lo + step
				break
			}
			lo += step + 1
		}
	} else {
		hi = guess
		for step := uint32(1); hi > step; step *= 4 {
			if t.at(hi-step).below(offset, index) {
				lo = hi - step + 1
				break
			}
			hi -= step
		}
	}
	k := lo + uint32(sort.Search(int(hi-lo), func(i int) bool { return !t.at(lo+uint32(i)).below(offset, index) }))
	if k >= n {
		return 0, false
	}
	r := t.at(k)
	return k, r.offset == offset && uint32(r.index) == index
}

func (r *row) below(offset int64, index uint32) bool {
	return r.offset < offset || r.offset == offset && uint32(r.index) < index
}

// below returns the number of rows with offsets below an offset.
func (t *table) below(offset int64) uint32 {
	n := t.n.Load()
	return uint32(sort.Search(int(n), func(i int) bool { return t.at(uint32(i)).offset >= offset }))
}

// audiencesOf returns the numbers of a tenant's audiences.
func (t *table) audiencesOf(tenant string) []uint32 {
	t.audiences.mu.RLock()
	defer t.audiences.mu.RUnlock()
	return slices.Clip(t.tenants[tenant])
}
