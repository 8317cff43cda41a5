package segment

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"sync"

	"github.com/recountdb/recount/schemas"
)

// Order is the order of a scan.
type Order uint8

// The orders of a scan: by (time, topic, partition, offset), ascending or descending.
const (
	OldestFirst Order = iota
	NewestFirst
)

// Scan calls fn with every row that the filter selects, in order of time over all shards, until fn
// returns false. It sees one state; rows applied meanwhile do not appear. It does not read segments
// outside the filter's times.
func (p *Projection) Scan(ctx context.Context, filter Filter, order Order, fn func(*View) bool) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	h := cursors{newest: order == NewestFirst}
	for _, s := range p.snapshot() {
		for _, f := range s.files {
			if filter.excludesTimes(f.h.MinTime, f.h.MaxTime) {
				continue
			}
			c, x, err := f.rows()
			if err != nil {
				return err
			}
			h.add(&filter, View{c: c, tp: s.tp, f: f}, x.timeOrder)
		}
		h.add(&filter, View{c: &s.hot, tp: s.tp}, s.order.sorted(&s.view))
	}
	h.init()
	for n := 0; len(h.list) > 0; n++ {
		if n&1023 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		top := h.list[0]
		if top.filter.match(top.row) && !fn(&top.View) {
			return nil
		}
		if !top.advance(h.newest) {
			last := len(h.list) - 1
			h.list[0] = h.list[last]
			h.list = h.list[:last]
		}
		h.down(0)
	}
	return nil
}

// cursor walks one table in order of time.
type cursor struct {
	View
	filter tableFilter
	order  []uint32 // nil: the rows are stored in order of time
	lo, hi int      // the remaining part of order, including the current row
	time   int64    // of the current row
}

// place makes the next remaining row the current one.
func (c *cursor) place(newest bool) {
	i := c.lo
	if newest {
		i = c.hi - 1
	}
	if c.row = i; c.order != nil {
		c.row = int(c.order[i])
	}
	c.time = c.c.time[c.row]
}

func (c *cursor) advance(newest bool) bool {
	if newest {
		c.hi--
	} else {
		c.lo++
	}
	if c.lo >= c.hi {
		return false
	}
	c.place(newest)
	return true
}

// cursors is a heap of tables, ordered by their current row. It does not use container/heap because
// every row of a scan passes through it.
type cursors struct {
	list   []*cursor
	newest bool
}

func (h *cursors) add(filter *Filter, v View, order []uint32) {
	t, some := filter.on(v.c, v.tp)
	if !some {
		return
	}
	c := &cursor{View: v, filter: t, order: order}
	from := func(at int64) int {
		return sort.Search(v.c.n, func(i int) bool {
			if order != nil {
				i = int(order[i])
			}
			return v.c.time[i] >= at
		})
	}
	c.lo, c.hi = from(t.from), v.c.n
	if t.to != math.MaxInt64 {
		c.hi = from(t.to)
	}
	if c.lo < c.hi {
		c.place(h.newest)
		h.list = append(h.list, c)
	}
}

func (h *cursors) init() {
	for i := len(h.list)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

// down moves the table at i down to its place in the heap.
func (h *cursors) down(i int) {
	for {
		child := 2*i + 1
		if child >= len(h.list) {
			return
		}
		if child+1 < len(h.list) && h.before(child+1, child) {
			child++
		}
		if !h.before(child, i) {
			return
		}
		h.list[i], h.list[child] = h.list[child], h.list[i]
		i = child
	}
}

// before reports whether the row of table i comes before that of table j.
func (h *cursors) before(i, j int) bool {
	a, b := h.list[i], h.list[j]
	if a.time != b.time {
		return (a.time < b.time) != h.newest
	}
	less := cmp.Or(a.tp.Compare(b.tp), cmp.Compare(a.Offset(), b.Offset()))
	return (less < 0) != h.newest
}

// hotOrder caches the order of time of a hot buffer whose rows did not arrive in that order, as
// those of an import may not.
type hotOrder struct {
	mu   sync.Mutex
	base int64
	rows []uint32
}

// sorted returns the order of a snapshot's hot rows, nil if they are in order of time.
func (o *hotOrder) sorted(v *view) []uint32 {
	if v.ordered {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.base == v.base && len(o.rows) == v.hot.n {
		return o.rows
	}
	rows := make([]uint32, v.hot.n)
	for i := range rows {
		rows[i] = uint32(i)
	}
	sortByTime(rows, v.hot.time)
	o.base, o.rows = v.base, rows
	return rows
}

// ShardStats describes a shard.
type ShardStats struct {
	Partition  schemas.TopicPartition
	Next       int64
	Segments   int
	SealedRows int
	HotRows    int
	// Bytes is the size of the sealed files.
	Bytes int64
	// MinTime and MaxTime are when the earliest and the latest command started, in unix
	// nanoseconds; zero without rows.
	MinTime, MaxTime int64
}

// Rows returns how many rows the shard has.
func (s ShardStats) Rows() int { return s.SealedRows + s.HotRows }

// Stats describes every shard, in order. It reads no rows.
func (p *Projection) Stats() []ShardStats {
	var all []ShardStats
	for _, v := range p.snapshot() {
		st := ShardStats{Partition: v.tp, Next: v.next, Segments: v.sealed, HotRows: v.hot.n}
		times := []int64{}
		for i, f := range v.files {
			if f.h.Rows > 0 { // a file may have outcomes alone
				times = append(times, f.h.MinTime, f.h.MaxTime)
			}
			if i >= v.sealed {
				st.HotRows += int(f.h.Rows)
				continue
			}
			st.SealedRows += int(f.h.Rows)
			st.Bytes += int64(f.h.Length)
		}
		if v.hot.n > 0 {
			times = append(times, v.hot.minTime, v.hot.maxTime)
		}
		if len(times) > 0 {
			st.MinTime, st.MaxTime = slices.Min(times), slices.Max(times)
		}
		all = append(all, st)
	}
	return all
}
