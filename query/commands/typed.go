package commands

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/query/commands/history"
	"github.com/recountdb/recount/query/commands/match"
	"github.com/recountdb/recount/schemas"
)

// What a search is asked and answers, from package ask.
type (
	SearchRequest  = ask.SearchRequest
	SearchResponse = ask.SearchResponse
	SearchHit      = ask.SearchHit
)

const (
	// meaningDepth is the number of hits of find that a search in mode best ranks.
	meaningDepth = 50
	// meaningWeight is what find counts in mode best, beside how well a command matches.
	meaningWeight = 0.1
	// maxAuthors is the maximum number of authors in an answer.
	maxAuthors = 20
	// maxReplaced is how often a search begins again because the projection was rebuilt meanwhile.
	maxReplaced = 3
)

// Search finds commands while their text is typed: from the index of distinct commands, and in some
// modes by find. An error is a *RequestError, a *NotVisibleError, the context's, or one of the
// projections.
func Search(ctx context.Context, s Sources, r SearchRequest) (SearchResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return SearchResponse{}, err
	}
	if s.History == nil {
		s.History = new(history.Index)
	}
	for try := 0; ; try++ {
		resp, err := search1(ctx, s, r)
		if !errors.Is(err, history.ErrReplaced) || try == maxReplaced {
			return resp, err
		}
	}
}

// search1 answers a normal request once.
func search1(ctx context.Context, s Sources, r SearchRequest) (SearchResponse, error) {
	a, err := s.open(ctx, r.Moment(), segment.Name, narrative.Name)
	if err != nil {
		return SearchResponse{}, err
	}
	defer a.Close()
	if err := s.History.CatchUp(ctx, a.segment, a.Visible); err != nil {
		return SearchResponse{}, err
	}
	a.RecordTime("catch_up")
	t := typed{session: a, r: r, filters: compile(r.Filters, query.AsOf{}, a.exitCode)}
	if r.People {
		t.filters = append(t.filters, matcher{query.AppliedFilter{Field: "author", Op: "eq", Value: ""}, func(v *segment.View) (bool, error) { return v.Author() == "", nil }})
	}
	var found []found
	if r.Text != "" && (r.Mode == ask.ModeBest || r.Mode == ask.ModeMeaning) {
		if found, err = t.find(); err != nil {
			return SearchResponse{}, err
		}
	}
	ranked, err := t.rank(found)
	if err != nil {
		return SearchResponse{}, err
	}
	a.RecordTime("rank")
	resp := SearchResponse{
		Hits: []SearchHit{}, Matched: ranked.Matched, Commands: ranked.Commands, Runs: ranked.Runs,
		Authors: append([]string{}, ranked.Authors[:min(len(ranked.Authors), maxAuthors)]...),
	}
	a.Visible = ranked.Watermark
	hint := t.hint(&ranked)
	if err := t.hits(&resp, ranked.Hits); err != nil {
		return SearchResponse{}, err
	}
	t.prove(&resp)
	var applied []query.AppliedFilter
	for _, m := range t.filters {
		applied = append(applied, m.AppliedFilter)
	}
	resp.Basis = query.BasisOf(&a.Session, len(resp.Hits) == 0, s.knownSince(hint, r.Filters.Since), append([]query.AppliedFilter{}, applied...))
	return resp, nil
}

// typed is the state of one search.
type typed struct {
	*session
	r       SearchRequest
	filters []matcher
	// by has the scores of find, 0 to 1, by content.
	by map[uint64]float64
}

// found is a hit of find.
type found struct {
	hash  uint64
	score float64
}

// find asks find, and scales its scores so that the best is 1.
func (t *typed) find() ([]found, error) {
	limit := meaningDepth
	if t.r.Mode == ask.ModeMeaning {
		limit = t.r.Limit
	}
	resp, err := Find(t.Ctx, t.s, FindRequest{Text: t.r.Text, Limit: limit, Filters: t.r.Filters})
	if err != nil {
		return nil, err
	}
	positions := make([]schemas.Position, len(resp.Hits))
	for i, h := range resp.Hits {
		positions[i] = h.Position
	}
	all := make([]found, 0, len(resp.Hits))
	err = t.segment.ViewAt(t.Ctx, positions, func(i int, v *segment.View) error {
		all = append(all, found{v.ContentHash(), resp.Hits[i].Score / max(resp.Hits[0].Score, 1e-9)})
		return nil
	})
	t.Step(query.Step{Operator: "find", Inputs: map[string]string{"text": t.r.Text}, Counts: map[string]int64{"hits": int64(len(all))}})
	t.RecordTime("find")
	return all, err
}

// rank ranks by the index, and by what find found.
func (t *typed) rank(found []found) (history.Answer, error) {
	q := history.Request{Limit: t.r.Limit}
	switch t.r.Mode {
	case ask.ModeExact:
		q.Query = match.Exact(t.r.Text)
	case ask.ModeMeaning:
		if t.r.Text != "" {
			q.Limit = 0
		}
	default:
		q.Query = match.Words(t.r.Text)
	}
	t.by = make(map[uint64]float64, len(found))
	for _, f := range found {
		t.by[f.hash] = f.score
		q.Also = append(q.Also, f.hash)
	}
	if len(t.filters) > 0 {
		key, err := json.Marshal(t.r.Filters)
		if err != nil {
			return history.Answer{}, err
		}
		q.Key, q.Select = fmt.Sprintf("%s people=%t", key, t.r.People), t.selected
	}
	a, err := t.s.History.Rank(t.Ctx, t.segment, q)
	if err != nil || len(found) == 0 {
		return a, err
	}
	if t.r.Mode == ask.ModeMeaning {
		a.Matched = 0
	}
	slices.SortStableFunc(a.Hits, func(x, y history.Hit) int { return cmp.Compare(t.score(&y), t.score(&x)) })
	a.Hits = a.Hits[:min(len(a.Hits), t.r.Limit)]
	return a, nil
}

// selected returns the runs that pass the filters.
func (t *typed) selected() (*segment.Selection, error) {
	var keep func(*segment.View) (bool, error)
	if t.r.Filters.Exit != "" || t.r.People {
		// What the projection cannot apply by itself.
		keep = func(v *segment.View) (bool, error) { return matchAll(t.filters, v, nil) }
	}
	return t.segment.Select(t.Ctx, pushed(t.r.Filters, query.AsOf{}, t.Visible), keep)
}

// score returns what a hit is ranked by.
func (t *typed) score(h *history.Hit) float64 {
	switch {
	case t.r.Text == "":
		return 0
	case t.r.Mode == ask.ModeMeaning:
		return t.by[h.Hash]
	case t.r.Mode == ask.ModeBest:
		return (1-meaningWeight)*h.Score() + meaningWeight*t.by[h.Hash]
	}
	return h.Score()
}

// hits reads the rows of the ranked commands.
func (t *typed) hits(resp *SearchResponse, ranked []history.Hit) error {
	positions := make([]schemas.Position, len(ranked))
	for i, h := range ranked {
		positions[i] = h.Last.Position()
	}
	err := t.segment.ViewAt(t.Ctx, positions, func(i int, v *segment.View) error {
		h := SearchHit{Intent: intentOf(v), Runs: ranked[i].Runs, Score: t.score(&ranked[i])}
		err := t.complete(&h.Intent)
		resp.Hits = append(resp.Hits, h)
		return err
	})
	t.RecordTime("rows")
	return err
}

// hint returns why there are no hits.
func (t *typed) hint(a *history.Answer) string {
	switch {
	case len(a.Hits) > 0:
		return ""
	case a.Runs > 0:
		return "no command matches the text"
	case len(t.filters) > 0:
		return "no command passes the filters; remove some of them"
	}
	return t.s.noCommands()
}

// prove adds what the answer rests on to the proof.
func (t *typed) prove(resp *SearchResponse) {
	if len(t.filters) > 0 {
		in := map[string]string{}
		for _, m := range t.filters {
			in[m.Field+" "+m.Op] = m.Value
		}
		t.Step(query.Step{Operator: "filter", Inputs: in})
	}
	st := query.Step{
		Operator: "rank", Inputs: map[string]string{"text": t.r.Text, "mode": t.r.Mode},
		Counts: map[string]int64{"commands": resp.Commands, "runs": resp.Runs, "matched": resp.Matched, "hits": int64(len(resp.Hits))},
	}
	for i, h := range resp.Hits {
		st.Hits = append(st.Hits, query.Evidence{Position: h.Position, Rank: i + 1, Score: h.Score})
	}
	t.Step(st)
}
