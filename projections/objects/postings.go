package objects

import (
	"sort"
	"sync"

	"github.com/recountdb/recount/schemas"
)

// postings are in-memory lists of a table's rows that queries read by time: all rows of an
// audience, and those of a session or an agent in it. A list is in log order, so every earlier
// state is a prefix of it. The latest time of each block of rows lets a reader skip blocks when it
// looks for the newest.
type postings struct {
	mu    sync.RWMutex
	lists map[postingKey]*posting
}

// postingKey identifies a list by numbers of the shard's dictionaries.
type postingKey struct {
	audience, name uint32
	of             byte
}

const (
	ofAll = iota
	ofSession
	ofAgent
)

// posting only grows at its end, so a reader with a copy may continue to read.
type posting struct {
	rows []uint32
	last []int64 // the latest time in each full block of postingBlock rows
}

const postingBlock = 128

// add adds a row of a table to its lists.
func (p *postings) add(t *table, n uint32, r *row) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lists == nil {
		p.lists = map[postingKey]*posting{}
	}
	p.list(postingKey{r.audience, 0, ofAll}, t, n)
	if *t.names.at(r.session) != "" {
		p.list(postingKey{r.audience, r.session, ofSession}, t, n)
	}
	if *t.names.at(r.agent) != "" {
		p.list(postingKey{r.audience, r.agent, ofAgent}, t, n)
	}
}

func (p *postings) list(key postingKey, t *table, n uint32) {
	l := p.lists[key]
	if l == nil {
		l = &posting{}
		p.lists[key] = l
	}
	l.rows = append(l.rows, n)
	if len(l.rows)%postingBlock == 0 {
		last := t.at(n).time
		for _, k := range l.rows[len(l.rows)-postingBlock:] {
			last = max(last, t.at(k).time)
		}
		l.last = append(l.last, last)
	}
}

// get returns the prefix of a list whose rows are below n.
func (p *postings) get(key postingKey, n uint32) posting {
	p.mu.RLock()
	defer p.mu.RUnlock()
	l := p.lists[key]
	if l == nil {
		return posting{}
	}
	l2 := *l
	if k := len(l2.rows); k > 0 && l2.rows[k-1] >= n {
		l2.rows = l2.rows[:sort.Search(k, func(i int) bool { return l2.rows[i] >= n })]
	}
	return l2
}

// latest offers to best, which holds at most k entries, the rows of a list that pass the filter.
func (l posting) latest(p *shardView, c *compiled, best *oldestFirst, k int) {
	for end := len(l.rows); end > 0; {
		block := (end - 1) / postingBlock
		start := block * postingBlock
		// If the list is cut within a block, the latest time of the whole block is still an upper
		// bound.
		if len(*best) < k || block >= len(l.last) || l.last[block] >= (*best)[0].time {
			for i := end - 1; i >= start; i-- {
				if r := p.at(l.rows[i]); c.passes(l.rows[i], r) {
					best.offer(p.when(r), k)
				}
			}
		}
		end = start
	}
}

// when returns the time and position of a row.
func (t *table) when(r *row) when {
	return when{r.time, schemas.ObjectRef{Position: schemas.Position{Topic: t.tp.Topic, Partition: t.tp.Partition, Offset: r.offset}, Index: uint32(r.index)}}
}
