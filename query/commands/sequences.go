package commands

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
)

// Limits of sequences.
const (
	minSequence     = 2 // templates
	maxSequence     = 5
	minSequenceRuns = 3 // how often it must have been run
)

// stream is the concatenation of the sessions' templates: consecutive equal templates count
// once, and sessions are separated by the entry none.
type stream struct {
	template []int32
	run      []int32 // the run that each entry is
	session  []int32
	count    []int64 // of a template's entries
	total    int64
}

func newStream(r *runs) *stream {
	st := &stream{
		template: make([]int32, 0, len(r.list)), run: make([]int32, 0, len(r.list)),
		session: make([]int32, 0, len(r.list)), count: make([]int64, len(r.template.all)),
	}
	add := func(template, run, session int32) {
		st.template, st.run, st.session = append(st.template, template), append(st.run, run), append(st.session, session)
	}
	r.eachSession(func(session int32, of []int32) {
		add(none, none, session)
		last := none
		for _, i := range of {
			t := r.list[i].template
			if t != none {
				if t == last {
					continue
				}
				st.count[t]++
				st.total++
			}
			add(t, i, session)
			last = t
		}
	})
	return st
}

// gram is one sequence of templates.
type gram struct {
	first    int32 // where in the stream it first begins
	n        int32 // its templates
	runs     int64 // not overlapping
	sessions int64
	end      int32 // of the last run counted
	session  int32 // of the last run counted
	absorbed bool  // a longer one is as frequent
	lift     float64
	score    float64
}

// sequences finds frequent sequences of templates within sessions, by levels: a sequence of
// n templates is a pair of frequent sequences of n-1 that overlap in all but their ends,
// so that numbering pairs numbers sequences exactly.
//
// It omits sequences that were run less than three times, that end with the template they
// begin with (a shorter one repeated), that are part of a longer one which was run as
// often, that are a rotation of a better one, and that occur no more often than their
// templates would by chance.
func sequences(ctx context.Context, r *runs, limit int) ([]gram, *stream, map[string]int64, error) {
	st := newStream(r)
	counts := map[string]int64{"steps": st.total}
	// at has, for each place in the stream, the number of the frequent sequence of the
	// previous level that begins there.
	at := make([]int32, len(st.template))
	for i, t := range st.template {
		at[i] = none
		if t != none && st.count[t] >= minSequenceRuns {
			at[i] = t
		}
	}
	var best, shorter []gram
	for length := int32(minSequence); length <= maxSequence; length++ {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		grams, next := st.level(at, length)
		st.absorb(grams, shorter, at, length)
		best = append(best, shorter...)
		if shorter, at = grams, next; len(grams) == 0 {
			break
		}
	}
	best = append(best, shorter...)
	best = slices.DeleteFunc(best, func(g gram) bool {
		if g.absorbed || g.runs < minSequenceRuns {
			return true
		}
		counts["frequent"]++
		return false
	})
	for i := range best {
		st.rate(&best[i])
	}
	slices.SortFunc(best, func(a, b gram) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.runs, a.runs), slices.CompareFunc(st.templates(&a), st.templates(&b), func(x, y int32) int {
			return strings.Compare(r.template.all[x], r.template.all[y])
		}))
	})
	var out []gram
	rounds := map[[maxSequence]int32]bool{}
	for _, g := range best {
		if len(out) == limit || g.lift <= 1 {
			break
		}
		if round := st.canonicalRotation(&g); !rounds[round] {
			rounds[round] = true
			out = append(out, g)
		}
	}
	return out, st, counts, nil
}

// level returns the frequent sequences of a length, and for each place the number of the one that begins
// there. at has the same of the sequences that are shorter by one.
func (st *stream) level(at []int32, length int32) (grams []gram, next []int32) {
	pair := func(i int) (uint64, bool) {
		if i+1 >= len(at) || at[i] == none || at[i+1] == none {
			return 0, false
		}
		return uint64(uint32(at[i]))<<32 | uint64(uint32(at[i+1])), true
	}
	seen := map[uint64]int32{}
	for i := range at {
		if key, ok := pair(i); ok {
			seen[key]++
		}
	}
	// Numbers are assigned in the order of the stream, not of the map.
	number := map[uint64]int32{}
	next = make([]int32, len(at))
	for i := range at {
		next[i] = none
		key, ok := pair(i)
		if !ok || seen[key] < minSequenceRuns {
			continue
		}
		id, known := number[key]
		if !known {
			id = int32(len(grams))
			number[key] = id
			grams = append(grams, gram{first: int32(i), n: length, session: none})
		}
		next[i] = id
		g := &grams[id]
		if int32(i) < g.end {
			continue
		}
		g.runs++
		g.end = int32(i) + length
		if g.session != st.session[i] {
			g.session = st.session[i]
			g.sessions++
		}
	}
	return grams, next
}

// absorb marks cyclic sequences, which stay a part of longer ones but are none themselves, and shorter ones
// that are part of one that was run as often.
func (st *stream) absorb(grams, shorter []gram, at []int32, length int32) {
	for i := range grams {
		g := &grams[i]
		if st.isCyclic(g) {
			g.absorbed = true
			continue
		}
		if length == minSequence {
			continue
		}
		for _, part := range []int32{at[g.first], at[g.first+1]} {
			if p := &shorter[part]; p.runs <= g.runs {
				p.absorbed = true
			}
		}
	}
}

// templates returns the templates of a sequence.
func (st *stream) templates(g *gram) []int32 { return st.template[g.first : g.first+g.n] }

// isCyclic reports whether a sequence ends with the template it begins with.
func (st *stream) isCyclic(g *gram) bool {
	t := st.templates(g)
	for n := 1; n < len(t); n++ {
		if slices.Equal(t[:n], t[len(t)-n:]) {
			return true
		}
	}
	return false
}

// rate sets the lift, which is runs divided by the number expected if templates were
// independent, and the score runs·ln(lift): the information in the sequence beyond that of
// its templates.
func (st *stream) rate(g *gram) {
	expected := float64(st.total)
	for _, t := range st.templates(g) {
		expected *= float64(st.count[t]) / float64(st.total)
	}
	g.lift = float64(g.runs) / expected
	g.score = float64(g.runs) * math.Log(g.lift)
}

// canonicalRotation returns the smallest rotation of a sequence, which is the same for all its rotations.
func (st *stream) canonicalRotation(g *gram) (least [maxSequence]int32) {
	t := st.templates(g)
	for n := range t {
		key := [maxSequence]int32{none, none, none, none, none}
		copy(key[copy(key[:], t[n:]):], t[:n])
		if n == 0 || slices.Compare(key[:], least[:]) < 0 {
			least = key
		}
	}
	return least
}

// newest returns the first runs of the newest occurrences of a sequence.
func (st *stream) newest(g *gram, most int) []int32 {
	want := st.templates(g)
	var out []int32
	for i := 0; i+len(want) <= len(st.template); i++ {
		if st.template[i] == want[0] && slices.Equal(st.template[i:i+len(want)], want) {
			out = append(out, st.run[i])
			i += len(want) - 1
		}
	}
	slices.Sort(out) // the newest come first
	return slices.Clone(out[:min(len(out), most)])
}

// Census has counts of commands.
type Census struct {
	Count          int64
	Oldest, Newest time.Time // zero without commands
	// Shards are the statistics of the partitions that hold commands, in order.
	Shards []segment.ShardStats
	// The outcomes of the newest Recent commands.
	Recent, OK, Failed, Unknown int64
}

// Count returns a census. It reads the outcomes of at most recent of the newest commands.
func Count(ctx context.Context, s Sources, recent int64) (Census, error) {
	a, err := s.open(ctx, query.Moment{}, segment.Name, narrative.Name)
	if err != nil {
		return Census{}, err
	}
	defer a.Close()
	var c Census
	for _, st := range a.segment.Stats() {
		if st.Rows() == 0 {
			continue
		}
		c.Shards = append(c.Shards, st)
		c.Count += int64(st.Rows())
		lo, hi := time.Unix(0, st.MinTime).UTC(), time.Unix(0, st.MaxTime).UTC()
		if c.Oldest.IsZero() || lo.Before(c.Oldest) {
			c.Oldest = lo
		}
		if hi.After(c.Newest) {
			c.Newest = hi
		}
	}
	var inner error
	err = a.segment.Scan(ctx, segment.Filter{Below: a.Visible}, segment.NewestFirst, func(v *segment.View) bool {
		code, err := a.exitCode(v)
		switch {
		case err != nil:
			inner = err
			return false
		case code == nil:
			c.Unknown++
		default:
			switch resultOf(*code, v) {
			case narrative.Success:
				c.OK++
			case narrative.Interrupted:
				c.Unknown++
			default:
				c.Failed++
			}
		}
		c.Recent++
		return c.Recent < recent
	})
	if inner != nil {
		return c, inner
	}
	return c, err
}
