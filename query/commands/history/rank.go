package history

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query/commands/match"
	"github.com/recountdb/recount/schemas"
)

// ErrReplaced means that the projection was rebuilt since the index caught up: catch up again.
var ErrReplaced = errors.New("the projection was rebuilt")

// Request is what is ranked.
type Request struct {
	Query match.Query
	// Key names the filters, "" for none, and Select selects the runs that pass them.
	Key    string
	Select func() (*segment.Selection, error)
	// Limit is the maximum number of hits.
	Limit int
	// Also are the content hashes of commands that are hits whether they match or not, if they pass
	// the filters.
	Also []uint64
}

// Hit is a command.
type Hit struct {
	Hash uint64
	// Last is its newest run of those that pass the filters, and Runs their number.
	Last Run
	Runs int
	// Match is how well it matches, 0 to 1, and Use how much and how lately it was used, 0 to 1.
	Match, Use float64

	text int32
}

// Answer is a ranking.
type Answer struct {
	// Hits are the best matches, best first, then those of Also that are not among them.
	Hits []Hit
	// Matched is the number of commands that match, Commands those that pass the filters, and Runs
	// the runs of these.
	Matched, Commands, Runs int64
	// Authors are all who ran commands, the one with the most first.
	Authors []string
	// Watermark is what the index had read.
	Watermark schemas.Watermark
}

// selection has what passes some filters: for each text its last run and the number of runs.
type selection struct {
	key     string
	version uint64
	last    []Run
	runs    []int32
	total   int64
}

// Rank ranks the commands: by how well they match, and those that match alike, or everything for an
// empty query, by when they last ran.
func (x *Index) Rank(ctx context.Context, of *segment.Projection, r Request) (Answer, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.of != of {
		return Answer{}, ErrReplaced
	}
	sel, err := x.choose(ctx, r)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{Watermark: x.watermark(), Runs: x.total, Authors: slices.SortedFunc(maps.Keys(x.authors), func(a, b string) int {
		return cmp.Or(cmp.Compare(x.authors[b], x.authors[a]), cmp.Compare(a, b))
	})}
	if sel != nil {
		a.Runs = sel.total
	}
	best := x.rank(ctx, r, sel)
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	a.Hits, a.Matched, a.Commands = best.sorted(), best.matched, best.commands
	x.also(&a, r, sel)
	for i := range a.Hits {
		a.Hits[i].Hash = x.texts[a.Hits[i].text].hash
	}
	return a, nil
}

// minPart is the number of commands from which on the work is divided.
const minPart = 20_000

// rank ranks all commands, parts of them side by side.
func (s *state) rank(ctx context.Context, r Request, sel *selection) *ranking {
	parts := make([]ranking, min(max(len(s.texts)/minPart, 1), runtime.GOMAXPROCS(0)))
	var all sync.WaitGroup
	for p := range parts {
		parts[p] = ranking{limit: r.Limit, byTime: r.Query.Empty()}
		from, to := len(s.texts)*p/len(parts), len(s.texts)*(p+1)/len(parts)
		all.Go(func() { s.rankPart(ctx, r, sel, from, to, &parts[p]) })
	}
	all.Wait()
	best := &parts[0]
	for i := range parts[1:] {
		other := &parts[1+i]
		best.matched += other.matched
		best.commands += other.commands
		for _, h := range other.hits {
			best.add(h)
		}
	}
	return best
}

// rankPart ranks the commands from one on to before another: the last first, since they are mostly
// the newest, and what is better comes seldom then. It ends early with the context.
func (s *state) rankPart(ctx context.Context, r Request, sel *selection, from, to int, best *ranking) {
	for i := to - 1; i >= from; i-- {
		if i&0x3ff == 0 && ctx.Err() != nil {
			return
		}
		h, passes := s.hit(int32(i), sel)
		if !passes {
			continue
		}
		best.commands++
		var ok bool
		if h.Match, ok = r.Query.Score(&s.texts[i].Text); !ok {
			continue
		}
		best.matched++
		if !best.byTime {
			h.Use = s.use(&h)
		}
		best.add(h)
	}
}

// hit returns a text as a hit, unless none of its runs pass the filters.
func (s *state) hit(i int32, sel *selection) (Hit, bool) {
	t := &s.texts[i]
	if sel == nil {
		return Hit{text: i, Last: t.last, Runs: int(t.runs)}, true
	}
	return Hit{text: i, Last: sel.last[i], Runs: int(sel.runs[i])}, sel.runs[i] > 0
}

// also adds the commands of r.Also.
func (s *state) also(a *Answer, r Request, sel *selection) {
	has := make(map[int32]bool, len(a.Hits))
	for _, h := range a.Hits {
		has[h.text] = true
	}
	for _, hash := range r.Also {
		i, known := s.byHash[hash]
		if !known || has[i] {
			continue
		}
		has[i] = true
		if h, passes := s.hit(i, sel); passes {
			h.Match, _ = r.Query.Score(&s.texts[i].Text)
			h.Use = s.use(&h)
			a.Hits = append(a.Hits, h)
		}
	}
}

// use returns how much and how lately a command was used. Time counts back from the newest run, not
// from now, so that the same log gives the same ranking; a clock that was ahead for one run makes
// all others older alike.
func (s *state) use(h *Hit) float64 {
	days := float64(s.newest-h.Last.UnixNano) / float64(24*time.Hour)
	return 0.5/(1+days/7) + 0.5*min(1, math.Log2(float64(1+h.Runs))/10)
}

// choose returns what passes the filters, nil without any. mu is read-locked.
func (x *Index) choose(ctx context.Context, r Request) (*selection, error) {
	if r.Key == "" {
		return nil, nil
	}
	x.choosing.Lock()
	defer x.choosing.Unlock()
	if c := x.chosen; c != nil && c.key == r.Key && c.version == x.version {
		return c, nil
	}
	rows, err := r.Select()
	if err != nil {
		return nil, err
	}
	c := &selection{key: r.Key, version: x.version, last: make([]Run, len(x.texts)), runs: make([]int32, len(x.texts))}
	for tp, offsets := range rows.Offsets() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		runs, at := x.runs[tp], 0
		for _, offset := range offsets {
			for at < len(runs) && runs[at].offset < offset {
				at++
			}
			if at == len(runs) {
				break // newer than the index
			}
			if runs[at].offset != offset {
				continue
			}
			i := runs[at].text
			this := Run{UnixNano: runs[at].time, TP: tp, Offset: offset}
			if c.runs[i] == 0 || this.later(c.last[i]) {
				c.last[i] = this
			}
			c.runs[i]++
			c.total++
		}
	}
	x.chosen = c
	return c, nil
}

// ranking keeps the best hits: a heap with the worst on top.
type ranking struct {
	hits   []Hit
	limit  int
	byTime bool
	// matched and commands are those of Answer.
	matched, commands int64
}

func (k *ranking) Len() int           { return len(k.hits) }
func (k *ranking) Less(i, j int) bool { return k.better(&k.hits[j], &k.hits[i]) }
func (k *ranking) Swap(i, j int)      { k.hits[i], k.hits[j] = k.hits[j], k.hits[i] }
func (k *ranking) Push(h any)         { k.hits = append(k.hits, h.(Hit)) }
func (k *ranking) Pop() any           { panic("not used") }

// better reports whether a is to be above b.
func (k *ranking) better(a, b *Hit) bool {
	if !k.byTime {
		if x, y := a.Score(), b.Score(); x != y {
			return x > y
		}
	}
	return a.Last.later(b.Last)
}

// useWeight is what use counts beside how well a command matches.
const useWeight = 0.1

// Score is what hits are ranked by, 0 to 1. Use only tells matches apart.
func (h *Hit) Score() float64 {
	if h.Match == 0 {
		return 0
	}
	return (1-useWeight)*h.Match + useWeight*h.Use
}

func (k *ranking) add(h Hit) {
	switch {
	case len(k.hits) < k.limit:
		heap.Push(k, h)
	case k.limit > 0 && k.better(&h, &k.hits[0]):
		k.hits[0] = h
		heap.Fix(k, 0)
	}
}

func (k *ranking) sorted() []Hit {
	slices.SortFunc(k.hits, func(a, b Hit) int {
		switch {
		case k.better(&a, &b):
			return -1
		case k.better(&b, &a):
			return 1
		}
		return 0
	})
	return k.hits
}

// RunsOf returns the runs of a command, the newest first, at most limit, and how many there are.
func (x *Index) RunsOf(of *segment.Projection, hash uint64, limit int) (newest []Run, all int, err error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if x.of != of {
		return nil, 0, ErrReplaced
	}
	i, known := x.byHash[hash]
	if !known {
		return nil, 0, nil
	}
	for tp, runs := range x.runs {
		for _, r := range runs {
			if r.text == i {
				newest = append(newest, Run{UnixNano: r.time, TP: tp, Offset: r.offset})
			}
		}
	}
	slices.SortFunc(newest, func(a, b Run) int {
		if a.later(b) {
			return -1
		}
		return 1
	})
	return newest[:min(limit, len(newest))], len(newest), nil
}
