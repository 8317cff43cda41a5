package query

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/projections/lexical"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/schemas"
)

// search ranks by the paths and fuses them.
func (f *finding) search() ([]fused, error) {
	if f.s.Embedder != nil {
		f.query = f.s.Embedder.Embed(f.r.Text)
		f.embed = dot(f.query[:], f.query[:]) > 0
	}
	f.folded = folded(f.r.Text)
	queries := []termQuery{{path: pathWords, Query: lexical.Query{Field: lexical.Words, K: max(wordsDepth, f.r.Limit), Text: f.r.Text}}}
	if f.s.Concepts != nil {
		queries = append(queries, termQuery{path: pathConcepts, Query: lexical.Query{Field: lexical.Concepts, K: conceptsDepth, Terms: f.s.Concepts(f.r.Text)}})
	}
	if err := f.lookUp(queries); err != nil {
		return nil, err
	}
	var lists []ranked
	for i := range queries {
		l, err := f.byTerms(&queries[i])
		if err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	words := lists[0]
	if f.embed {
		lists = append(lists, f.byMeaning())
	}
	lists = append(lists, f.byText(words))
	chosen := fuse(lists, func(a, b int) int { return f.candidates[a].compareNewest(&f.candidates[b]) })
	f.lap("fuse")
	f.proveLists(lists, chosen)
	return chosen, nil
}

// termQuery is a lexical path, and what its search came to.
type termQuery struct {
	path string
	lexical.Query
	found []lexical.Hit
	stats lexical.Stats
	tally *tally
	took  time.Duration
}

func (q *termQuery) empty() bool { return q.Text == "" && len(q.Terms) == 0 }

// lookUp searches for all at the same time: it is nearly all of the work, and
// none needs another's result.
func (f *finding) lookUp(queries []termQuery) error {
	var g errgroup.Group
	for i := range queries {
		q := &queries[i]
		q.tally = f.newTally()
		q.Distinct, q.Below = !f.r.Repeats, f.visible
		if q.empty() {
			continue
		}
		g.Go(func() (err error) {
			defer func() {
				// Out of reach of whoever recovers for the caller.
				if p := recover(); p != nil {
					err = fmt.Errorf("search for %s: a bug: %v", q.path, p)
				}
			}()
			start := time.Now()
			err = f.segment.Read(func(rows *segment.Reader) error { return f.searchTerms(q, rows) })
			q.took = time.Since(start)
			return err
		})
	}
	err := g.Wait()
	f.clock = time.Now()
	return err
}

func (f *finding) searchTerms(q *termQuery, rows *segment.Reader) error {
	var failed error
	if len(f.filters) > 0 {
		q.Filter = func(tp schemas.TopicPartition, offset int64) (keep bool) {
			if failed != nil {
				return false
			}
			v, err := rows.At(tp, offset)
			if err == nil && v != nil {
				keep, err = f.match(v, q.tally)
			}
			failed = err
			return keep && err == nil
		}
	}
	var err error
	q.found, q.stats, err = f.lexical.Search(f.ctx, q.Query)
	return cmp.Or(failed, err)
}

// byTerms ranks what a search found: the best commands by BM25 that may be
// answered.
func (f *finding) byTerms(q *termQuery) (ranked, error) {
	l := ranked{path: q.path, inputs: map[string]string{}, counts: map[string]int64{}}
	if q.empty() {
		return l, nil
	}
	positions := make([]schemas.Position, len(q.found))
	for i, h := range q.found {
		positions[i] = schemas.Position{Topic: h.TP.Topic, Partition: h.TP.Partition, Offset: h.Offset}
	}
	err := f.segment.ViewAt(f.ctx, positions, func(i int, v *segment.View) error {
		key, err := f.candidate(v, q.path)
		if err == nil && key >= 0 {
			l.keys, l.scores = append(l.keys, key), append(l.scores, q.found[i].Score)
		}
		return err
	})
	if err != nil {
		return l, err
	}
	if q.tally.filtered > f.tally.filtered {
		f.tally = *q.tally
	}
	var terms []string
	for _, term := range q.stats.Terms {
		terms = append(terms, term.Term)
		l.counts["documents with "+term.Term] = int64(term.Documents)
		// What must or must not be there is known of words alone, so that the other
		// paths may only rank what this one found.
		f.closed = f.closed || term.Required || term.Excluded
	}
	l.inputs["terms"] = strings.Join(terms, " ")
	// How rare a term is counts over all that is indexed, also where as_of lets no
	// more than a part of it be answered.
	l.inputs["statistics_below"] = q.stats.Watermark.String()
	l.counts["documents"] = int64(q.stats.Documents)
	l.counts["scored"], l.counts["kept_out"] = int64(q.stats.Scored), q.tally.filtered
	f.clock = f.clock.Add(-q.took)
	f.lap(q.path)
	return l, nil
}

// byMeaning ranks what the other paths found by the cosine of the embeddings,
// exactly.
func (f *finding) byMeaning() ranked {
	l := ranked{
		path: pathSemantic, inputs: map[string]string{"embedder": f.s.Embedder.Name()},
		counts: map[string]int64{"compared": 0},
	}
	for i, c := range f.candidates {
		if c.vector {
			l.counts["compared"]++
		}
		if c.vector && c.cosine > 0 {
			l.keys = append(l.keys, i)
		}
	}
	slices.SortFunc(l.keys, func(a, b int) int {
		x, y := &f.candidates[a], &f.candidates[b]
		return cmp.Or(cmp.Compare(y.cosine, x.cosine), x.compareNewest(y))
	})
	l.keys = l.keys[:min(len(l.keys), max(wordsDepth, f.r.Limit))]
	for _, i := range l.keys {
		l.scores = append(l.scores, f.candidates[i].cosine)
	}
	f.lap(pathSemantic)
	return l
}

// byText keeps of the words path what has the whole text in it as it stands, but
// for case and white space.
func (f *finding) byText(words ranked) ranked {
	l := ranked{path: pathExact, inputs: map[string]string{}, counts: map[string]int64{}}
	for _, key := range words.keys {
		if f.candidates[key].exact {
			l.keys, l.scores = append(l.keys, key), append(l.scores, 1)
		}
	}
	return l
}

// folded is a text in lower case with its white space folded.
func folded(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// proveLists tells of each path what it looked for and counted, and where the
// answer's hits stood in it.
func (f *finding) proveLists(lists []ranked, chosen []fused) {
	answered := map[int]bool{}
	for _, c := range chosen[:min(len(chosen), f.r.Limit)] {
		answered[c.key] = true
	}
	for _, l := range lists {
		l.inputs["path"] = l.path
		l.inputs["weight"] = strconv.FormatFloat(pathWeights[l.path], 'g', -1, 64)
		l.counts["commands"] = int64(len(l.keys))
		s := Step{Operator: "lexical", Inputs: l.inputs, Counts: l.counts}
		if l.path == pathSemantic || l.path == pathExact {
			s.Operator = l.path
		}
		for i, key := range l.keys {
			if answered[key] {
				s.Hits = append(s.Hits, Evidence{f.candidates[key].pos, i + 1, l.scores[i]})
			}
		}
		f.step(s)
	}
	f.step(Step{
		Operator: "fuse", Inputs: map[string]string{"method": "reciprocal rank", "k": strconv.Itoa(rrfK)},
		Counts: map[string]int64{"candidates": int64(len(chosen))},
	})
}
