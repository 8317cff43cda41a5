package objects

import (
	"sort"
	"sync"

	"github.com/recountdb/recount/schemas"
)

// postings are lists of a table's rows that are asked for by time: all of an audience,
// those of a session or an agent in it. They are in memory, as a list has them in the
// order of the log, of which any state is a beginning; the latest are found by the
// latest time of each block.
type postings struct {
	mu    sync.RWMutex
	lists map[postingKey]*posting
}

// postingKey names a list: by numbers in the shard's dictionaries.
type postingKey struct {
	audience, name uint32
	of             byte
}

const (
	ofAll = iota
	ofSession
	ofAgent
)

// posting is added to at its end, so that a reader who has a copy may read on.
type posting struct {
	rows []uint32
	last []int64 // the latest time of each block of postingBlock rows that is full
}

const postingBlock = 128

// add lists a row of a table.
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

// get is a list as far as its rows are below n.
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

// latest adds to best, which holds at most k, those of a list that pass and are later
// than what is there.
func (l posting) latest(p *part, c *compiled, best *oldestFirst, k int) {
	for end := len(l.rows); end > 0; {
		block := (end - 1) / postingBlock
		start := block * postingBlock
		// Of a block that a beginning of the list cuts, the latest time is a bound.
		if len(*best) < k || block >= len(l.last) || l.last[block] >= (*best)[0].time {
			for i := end - 1; i >= start; i-- {
				if r := p.at(l.rows[i]); c.passes(r) {
					best.offer(p.when(r), k)
				}
			}
		}
		end = start
	}
}

// when is the time and place of a row.
func (t *table) when(r *row) when {
	return when{r.time, schemas.ObjectRef{Position: schemas.Position{Topic: t.tp.Topic, Partition: t.tp.Partition, Offset: r.offset}, Index: uint32(r.index)}}
}
