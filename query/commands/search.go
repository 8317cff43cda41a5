package commands

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
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/fusion"
	"github.com/recountdb/recount/schemas"
)

// rank ranks by the paths and fuses them.
func (f *search) rank() ([]fused, error) {
	if f.s.Embedder != nil {
		f.query = f.s.Embedder.Embed(f.r.Text)
		f.embed = f.kern.Dot(f.query[:], f.query[:]) > 0
	}
	f.folded = folded(f.r.Text)
	queries := []termQuery{{path: pathWords, Query: lexical.Query{Field: lexical.Words, K: max(wordsDepth, f.r.Limit), Text: f.r.Text, Variants: true}}}
	if f.s.Concepts != nil {
		queries = append(queries, termQuery{path: pathConcepts, Query: lexical.Query{Field: lexical.Concepts, K: conceptsDepth, Terms: f.s.Concepts(f.r.Text), Text: f.r.Text}})
	}
	if err := f.filterRows(); err != nil {
		return nil, err
	}
	near, err := f.lookUp(queries)
	if err != nil {
		return nil, err
	}
	if text := lexical.Correct(f.r.Text, queries[0].stats.Variants); text != f.r.Text && f.resp.Variants == nil {
		f.addVariants(queries[0].stats.Variants)
		f.r.Text = text
		return f.rank()
	}
	room := len(near.found)
	for _, q := range queries {
		room += len(q.found)
	}
	f.candidates, f.keys = make([]candidate, 0, room), make(map[runKey]int, room)
	var lists []fusion.List
	for i := range queries {
		l, err := f.rankTerms(&queries[i])
		if err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	if f.embed {
		l, err := f.rankSemantic(&near)
		if err != nil {
			return nil, err
		}
		lists = append(lists, l)
	}
	if err := f.scoreRest(queries, lists); err != nil {
		return nil, err
	}
	lists = append(lists, f.rankExact(lists[0]))
	chosen := fuse(len(f.candidates), lists, func(a, b int) int { return f.candidates[a].compareNewest(&f.candidates[b]) })
	f.RecordTime("fuse")
	f.proveLists(lists, chosen)
	if len(chosen) == 0 && len(f.filters) > 0 {
		return nil, f.blame(queries)
	}
	return chosen, nil
}

// termQuery is a lexical path and the result of its search.
type termQuery struct {
	path string
	lexical.Query
	found []lexical.Hit
	stats lexical.Stats
	took  time.Duration
}

func (q *termQuery) empty() bool { return q.Text == "" && len(q.Terms) == 0 }

// lookUp runs all searches concurrently: they are nearly all of the work, and none needs
// another's result.
func (f *search) lookUp(queries []termQuery) (near meaning, err error) {
	var g errgroup.Group
	start := func(path string, search func() error) {
		g.Go(func() (err error) {
			defer func() {
				// The caller's recover does not reach this goroutine.
				if p := recover(); p != nil {
					err = fmt.Errorf("search for %s: a bug: %v", path, p)
				}
			}()
			return search()
		})
	}
	if f.embed {
		start(pathSemantic, func() (err error) {
			near, err = f.nearest()
			return err
		})
	}
	for i := range queries {
		q := &queries[i]
		q.Distinct, q.Below, q.Only = !f.r.Repeats, f.Visible, f.only
		if q.empty() {
			continue
		}
		start(q.path, func() (err error) {
			start := time.Now()
			if f.only == nil {
				q.Filter = f.filter()
			}
			q.found, q.stats, err = f.lexical.Search(f.Ctx, q.Query)
			q.took = time.Since(start)
			return err
		})
	}
	err = g.Wait()
	f.SkipTime()
	return near, err
}

// rankTerms ranks the results of a search: the best commands by BM25 that may be answered.
func (f *search) rankTerms(q *termQuery) (fusion.List, error) {
	l := fusion.List{Path: q.path, Inputs: map[string]string{}, Counts: map[string]int64{}}
	if q.empty() {
		return l, nil
	}
	positions := make([]schemas.Position, len(q.found))
	for i, h := range q.found {
		positions[i] = schemas.Position{Topic: h.TP.Topic, Partition: h.TP.Partition, Offset: h.Offset}
	}
	err := f.segment.ViewAt(f.Ctx, positions, func(i int, v *segment.View) error {
		key, err := f.candidate(v, q.path)
		if err == nil && key >= 0 {
			l.Keys, l.Scores = append(l.Keys, key), append(l.Scores, q.found[i].Score)
		}
		return err
	})
	if err != nil {
		return l, err
	}
	var terms []string
	for _, term := range q.stats.Terms {
		terms = append(terms, term.Term)
		l.Counts["documents with "+term.Term] = int64(term.Documents)
		// Only words can require or exclude terms, so the other paths may only rank what
		// this path found.
		f.closed = f.closed || term.Required || term.Excluded
	}
	l.Inputs["terms"] = strings.Join(terms, " ")
	f.addVariants(q.stats.Variants)
	// Term frequencies cover everything that is indexed, even if as_of restricts the answer
	// to a part of it.
	l.Inputs["statistics_below"] = q.stats.Watermark.String()
	l.Counts["documents"] = int64(q.stats.Documents)
	l.Counts["scored"] = int64(q.stats.Scored)
	f.AddTime(q.took)
	f.RecordTime(q.path)
	return l, nil
}

// scoreRest adds to the list of each query what it says of the candidates that only other paths
// found, so that every candidate has the score of every path, and sorts the list.
func (f *search) scoreRest(queries []termQuery, lists []fusion.List) error {
	at := make(map[schemas.Position]int, len(f.candidates))
	for key := range f.candidates {
		at[f.candidates[key].pos] = key
	}
	var g errgroup.Group
	for i := range queries {
		q, l := queries[i].Query, &lists[i]
		if queries[i].empty() {
			continue
		}
		has := make([]bool, len(f.candidates))
		for _, key := range l.Keys {
			has[key] = true
		}
		q.Only, q.Filter, q.Distinct, q.K = map[schemas.TopicPartition][]int64{}, nil, false, 0
		q.Again = queries[i].stats.Searched
		for key, c := range f.candidates {
			if !has[key] {
				q.Only[c.pos.TP()] = append(q.Only[c.pos.TP()], c.pos.Offset)
				q.K++
			}
		}
		if q.K == 0 {
			f.newestOfEquals(l)
			continue
		}
		for _, offsets := range q.Only {
			slices.Sort(offsets)
		}
		g.Go(func() error {
			found, _, err := f.lexical.Search(f.Ctx, q)
			for _, h := range found {
				l.Add(at[schemas.Position{Topic: h.TP.Topic, Partition: h.TP.Partition, Offset: h.Offset}], h.Score)
			}
			f.newestOfEquals(l)
			return err
		})
	}
	err := g.Wait()
	f.RecordTime("rest")
	return err
}

// addVariants adds to the answer what was searched for instead of words that no command has.
func (f *search) addVariants(all []lexical.Variant) {
	for _, v := range all {
		again := slices.ContainsFunc(f.resp.Variants, func(o Variant) bool { return o.Word == v.Word && o.Kind == string(v.Kind) })
		if v.Unknown && !again {
			f.resp.Variants = append(f.resp.Variants, Variant{Word: v.Word, As: v.As, Kind: string(v.Kind)})
		}
	}
}

// newestOfEquals orders candidates with equal scores by time, which postings do not have.
func (f *search) newestOfEquals(l *fusion.List) {
	at := make([]int, len(l.Keys))
	for i := range at {
		at[i] = i
	}
	slices.SortFunc(at, func(a, b int) int {
		if l.Scores[a] != l.Scores[b] {
			return cmp.Compare(l.Scores[b], l.Scores[a])
		}
		return f.candidates[l.Keys[a]].compareNewest(&f.candidates[l.Keys[b]])
	})
	keys, scores := make([]int, len(at)), make([]float64, len(at))
	for i, j := range at {
		keys[i], scores[i] = l.Keys[j], l.Scores[j]
	}
	l.Keys, l.Scores = keys, scores
}

// rankExact returns the candidates of the path words that contain the whole text, ignoring
// case and white space.
func (f *search) rankExact(words fusion.List) fusion.List {
	l := fusion.List{Path: pathExact, Inputs: map[string]string{}, Counts: map[string]int64{}}
	for _, key := range words.Keys {
		if f.candidates[key].exact {
			l.Keys, l.Scores = append(l.Keys, key), append(l.Scores, 1)
		}
	}
	return l
}

// folded returns a text in lower case with its white space folded.
func folded(s string) string { return strings.Join(strings.Fields(strings.ToLower(s)), " ") }

// proveLists adds for each path its inputs and counts, and the ranks of the answer's hits,
// to the proof.
func (f *search) proveLists(lists []fusion.List, chosen []fused) {
	answered := map[int]bool{}
	for _, c := range chosen[:min(len(chosen), f.r.Limit)] {
		answered[c.key] = true
	}
	for _, l := range lists {
		l.Inputs["path"] = l.Path
		l.Inputs["weight"] = strconv.FormatFloat(pathWeights[l.Path], 'g', -1, 64)
		l.Counts["commands"] = int64(len(l.Keys))
		s := query.Step{Operator: "lexical", Inputs: l.Inputs, Counts: l.Counts}
		if l.Path != pathWords && l.Path != pathConcepts {
			s.Operator = l.Path
		}
		for i, key := range l.Keys {
			if answered[key] {
				s.Hits = append(s.Hits, query.Evidence{Position: f.candidates[key].pos, Rank: i + 1, Score: l.Scores[i]})
			}
		}
		f.Step(s)
	}
	f.Step(query.Step{
		Operator: "fuse", Inputs: map[string]string{"method": "sum of weighted scores"},
		Counts: map[string]int64{"candidates": int64(len(chosen))},
	})
}
