package look

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/projections/lexical/gloss"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// depth is the number of hits of each kind that are ranked, or the request's limit if that is more.
const depth = 40

// maxOperations is the number of operations that are compared with a text: those with the most
// requests.
const maxOperations = 10_000

// candidate is a hit before it is ranked.
type candidate struct {
	Hit
	content
	at       []query.Evidence
	standing float64 // among the hits of its kind, from 0 to 1
}

// found is what one kind answers.
type found struct {
	kind      string
	left      string // why it was left out
	more      bool
	hits      []candidate
	watermark schemas.Watermark
	filters   []query.AppliedFilter
	counts    map[string]int64
	took      time.Duration
}

// Look answers a request on behalf of a principal. An error is a *query.RequestError, a
// *query.NotVisibleError, that of ctx, or that of a projection.
func Look(ctx context.Context, s evidence.Sources, p schemas.Principal, r Request) (Response, error) {
	r, err := r.Normal()
	if err != nil {
		return Response{}, err
	}
	a, err := query.Begin[query.Step](ctx, s.Set, r.AtLeast, r.WaitMS)
	if err != nil {
		return Response{}, err
	}
	defer a.Close()
	all, err := searchAll(ctx, s, p, r)
	if err != nil {
		return Response{}, err
	}
	a.SkipTime()
	a.Visible = schemas.Watermark{}
	resp := Response{Kinds: []Kind{}}
	var candidates []candidate
	for _, f := range all {
		for tp, next := range f.watermark {
			if have, both := a.Visible[tp]; both {
				next = min(next, have) // what every kind that reads it had applied
			}
			a.Visible[tp] = next
		}
		resp.Kinds = append(resp.Kinds, Kind{Kind: f.kind, Found: len(f.hits), More: f.more, Left: f.left})
		candidates = append(candidates, f.hits...)
		if f.left != "" {
			a.Step(query.Step{Operator: "leave out", Inputs: map[string]string{"kind": f.kind, "why": f.left}})
			continue
		}
		step := query.Step{Operator: "search", Inputs: map[string]string{"kind": f.kind}, Counts: f.counts}
		for i, h := range f.hits {
			for _, e := range h.at {
				step.Hits = append(step.Hits, query.Evidence{Position: e.Position, Rank: i + 1, Score: e.Score})
			}
		}
		a.Step(step)
		a.AddTime(f.took)
		a.RecordTime(f.kind)
	}
	ranked, step := rank(r.Text, candidates)
	a.Step(step)
	resp.Hits = shown(ranked, r)
	a.RecordTime("rank")
	resp.Sure = len(resp.Hits) > 0 && resp.Hits[0].Sure
	resp.Basis = query.BasisOf(&a, len(resp.Hits) == 0, hint(&resp), filters(r, all))
	return resp, nil
}

// noise is the score below which nothing follows a sure hit: it has none of the text's words, and its kind
// has much better ones.
const noise = 0.1

// shown returns the hits that the request asks for.
func shown(ranked []candidate, r Request) []Hit {
	hits := []Hit{}
	for _, c := range ranked {
		switch {
		case len(r.Kinds) > 0 && !slices.Contains(r.Kinds, c.Kind):
		case len(hits) == r.Limit, len(hits) > 0 && hits[0].Sure && c.Score < noise:
			return hits
		default:
			hits = append(hits, c.Hit)
		}
	}
	return hits
}

// hint says why there are no hits, or that the first is not sure.
func hint(r *Response) string {
	var left []string
	for _, k := range r.Kinds {
		if k.Left != "" {
			left = append(left, k.Kind+" ("+k.Left+")")
		}
	}
	text := ""
	switch {
	case len(r.Hits) == 0:
		text = "nothing has a word of the text; try others"
	case !r.Sure:
		text = "no hit has enough of the text's words to be sure"
	}
	if text != "" && len(left) > 0 {
		text += "; left out are " + strings.Join(left, ", ")
	}
	return text
}

// filters lists what the kinds applied, each filter once, and the kinds that are shown.
func filters(r Request, all []found) []query.AppliedFilter {
	applied := []query.AppliedFilter{}
	for _, f := range all {
		for _, x := range f.filters {
			if !slices.Contains(applied, x) {
				applied = append(applied, x)
			}
		}
	}
	if len(r.Kinds) > 0 {
		applied = append(applied, query.AppliedFilter{Field: "kinds", Op: "in", Value: strings.Join(r.Kinds, ",")})
	}
	return applied
}

// searchAll asks every kind at once, so that the ranks do not depend on which kinds are shown.
func searchAll(ctx context.Context, s evidence.Sources, p schemas.Principal, r Request) ([]found, error) {
	all := make([]found, len(Kinds()))
	g, ctx := errgroup.WithContext(ctx)
	for i, kind := range Kinds() {
		all[i].kind = kind
		if all[i].left = leftOut(kind, s, p, r); all[i].left != "" {
			continue
		}
		g.Go(func() (err error) {
			defer func() {
				// The caller's recover does not reach this goroutine.
				if p := recover(); p != nil {
					err = fmt.Errorf("search %s: a bug: %v", kind, p)
				}
			}()
			start := time.Now()
			switch f := &all[i]; kind {
			case Commands:
				err = f.commands(ctx, s.Commands, r)
			case Code:
				err = f.code(ctx, s.Code, r)
			case Runtime:
				err = f.runtime(ctx, s.Runtime, r)
			case Agents:
				err = f.agents(ctx, s, p, r)
			}
			all[i].took = time.Since(start)
			return err
		})
	}
	return all, g.Wait()
}

// leftOut returns why a kind is not searched, "" if it is.
func leftOut(kind string, s evidence.Sources, p schemas.Principal, r Request) string {
	kept, can, granted := true, true, true
	switch kind {
	case Commands:
		// A search over the commands of some workspaces would reveal the statistics of all.
		kept, granted = s.Commands.Set != nil, p.Granted(schemas.GrantCommands) && p.InWorkspace("*")
	case Code:
		kept, can, granted = s.Code.Set != nil, r.Filters == commands.Filters{} && r.AsOf.IsZero(), p.Granted(schemas.GrantCode)
	case Runtime:
		kept, can, granted = s.Runtime.Set != nil, r.Filters == spanned(r.Filters) && r.AsOf.Offsets == nil, p.Granted(schemas.GrantRuntime)
	case Agents:
		can = r.Filters == shared(r.Filters)
	}
	switch {
	case !granted:
		return "the token is not granted it"
	case !kept:
		return "this server keeps none"
	case !can:
		return "it cannot satisfy the filters"
	}
	return ""
}

func (f *found) commands(ctx context.Context, s commands.Sources, r Request) error {
	limit := max(depth, r.Limit)
	resp, err := commands.Find(ctx, s, r.find(limit))
	if err != nil {
		return err
	}
	f.watermark, f.filters, f.more = resp.Watermark, resp.AppliedFilters, len(resp.Hits) == limit
	f.counts = map[string]int64{"hits": int64(len(resp.Hits))}
	positions := make([]schemas.Position, len(resp.Hits))
	for i := range resp.Hits {
		positions[i] = resp.Hits[i].Position
	}
	meant, err := explained(ctx, s, positions)
	if err != nil {
		return err
	}
	for i := range resp.Hits {
		h := &resp.Hits[i]
		title, _, _ := strings.Cut(h.Command, "\n")
		c := candidate{content: newContent(h.Command, meant[i]), at: []query.Evidence{{Position: h.Position, Score: h.Score}}}
		c.Hit = Hit{Kind: Commands, ID: h.ID.String(), Title: title, Command: h}
		c.standing = share(h.Score, resp.Hits[0].Score)
		f.hits = append(f.hits, c)
	}
	return nil
}

// explained returns the words that explain the programs and flags of commands: people ask for these,
// and few commands have them.
func explained(ctx context.Context, s commands.Sources, at []schemas.Position) ([]string, error) {
	words := make([]string, len(at))
	live, release, err := s.Set.Acquire(segment.Name)
	if err != nil {
		return nil, err
	}
	defer release()
	rows, ok := live.(*segment.Projection)
	if !ok {
		return words, nil
	}
	err = rows.ViewAt(ctx, at, func(i int, v *segment.View) error {
		var tokens []*recountv1.Token
		for token := range v.Tokens() {
			tokens = append(tokens, &recountv1.Token{Kind: token.Kind, Text: token.Text})
		}
		gloss.Words(tokens, func(word string) { words[i] += word + " " })
		return nil
	})
	return words, err
}

// standings are those of symbols by the kind of match. Of a description the first hits are better
// than the last.
var standings = map[string]float64{"name": 1, "exact": 1, "place": 1, "case": 0.95, "prefix": 0.8, "words": 0.8, "part": 0.5, "letters": 0.2, "text": 0.9}

func (f *found) code(ctx context.Context, s code.Sources, r Request) error {
	f.counts = map[string]int64{}
	if len(r.Text) > query.MaxName {
		return nil // longer than any name or description of code
	}
	all, err := code.OpenCodebase(ctx, s)
	if err != nil {
		return err
	}
	defer all.Close()
	limit := max(depth, r.Limit)
	hits, err := all.Symbols(r.Text, "", limit)
	if err != nil {
		return err
	}
	f.watermark, f.more = all.Visible(), len(hits) == limit
	f.counts = map[string]int64{"hits": int64(len(hits)), "repositories": int64(len(all.Repositories()))}
	var at []query.Evidence
	for _, step := range all.Steps() {
		at = append(at, step.Hits...)
	}
	for i := range hits {
		h := &hits[i]
		c := candidate{content: newContent(h.Name, h.File, h.Signature, h.Doc, h.Kind)}
		c.Hit = Hit{Kind: Code, ID: h.Repo + " " + h.Name, Title: h.Name, Symbol: h}
		c.standing = standings[h.Match] * float64(depth) / float64(depth+i)
		if i == 0 {
			c.at = at // the snapshots that were read
		}
		f.hits = append(f.hits, c)
	}
	return nil
}

func (f *found) runtime(ctx context.Context, s runtime.Sources, r Request) error {
	ask := runtime.TrafficRequest{Window: runtime.Window{From: r.Filters.Since, To: r.Filters.Until}, Limit: maxOperations}
	if t := r.AsOf.Time; !t.IsZero() && (ask.To.IsZero() || t.Before(ask.To)) {
		ask.To = t
	}
	f.counts = map[string]int64{}
	if !ask.To.IsZero() && !ask.From.Before(ask.To) {
		return nil
	}
	resp, err := runtime.TrafficOf(ctx, s, ask)
	if err != nil {
		return err
	}
	f.watermark, f.filters = resp.Watermark, resp.AppliedFilters
	words := newAsked(r.Text)
	for i := range resp.Operations {
		o := &resp.Operations[i]
		if o.Folded > 0 {
			continue // a sum of many operations has no name
		}
		handler := ""
		if o.Code != nil && o.Code.Symbol != nil {
			handler = o.Code.Symbol.Name
		}
		c := candidate{content: newContent(o.Operation, o.Service, handler)}
		for _, word := range words.words {
			if s, _ := c.has(word); s > 0 {
				c.standing += s / float64(len(words.words))
			}
		}
		if c.standing == 0 {
			continue
		}
		c.Hit = Hit{Kind: Runtime, ID: o.Service + " " + o.Operation, Title: o.Operation, Operation: o}
		if len(o.Examples) > 0 {
			c.at = []query.Evidence{{Position: o.Examples[0].Position}}
		}
		f.hits = append(f.hits, c)
	}
	slices.SortStableFunc(f.hits, func(a, b candidate) int { return cmp.Compare(b.standing, a.standing) })
	f.counts = map[string]int64{"operations": int64(len(resp.Operations)), "hits": int64(len(f.hits))}
	limit := max(depth, r.Limit)
	if f.more = len(f.hits) > limit; f.more {
		f.hits = f.hits[:limit]
	}
	for i := range f.hits {
		f.hits[i].standing = share(f.hits[i].standing, f.hits[0].standing)
	}
	return nil
}

func (f *found) agents(ctx context.Context, s evidence.Sources, p schemas.Principal, r Request) error {
	limit := max(depth, r.Limit)
	resp, err := evidence.Ask(ctx, s, p, evidence.Request{
		Text: r.Text, Mode: evidence.ModeObjects, Kinds: []string{evidence.KindObjects}, Limit: limit,
		Scope: evidence.Scope{Agent: r.Filters.Author, Session: r.Filters.Session, Workspace: r.Filters.Workspace},
		Since: r.Filters.Since, Until: r.Filters.Until, AsOf: r.AsOf, Include: []string{evidence.IncludeProof},
	})
	if err != nil {
		return err
	}
	f.watermark, f.filters, f.more = resp.Watermark, resp.AppliedFilters, len(resp.Objects) == limit
	f.counts = map[string]int64{"hits": int64(len(resp.Objects))}
	for i := range resp.Objects {
		o := &resp.Objects[i]
		if o.Role != "" {
			continue // it is there because of another
		}
		more := []string{o.Snippet, o.Agent}
		for _, x := range o.Results {
			more = append(more, x.Snippet)
		}
		c := candidate{content: newContent(o.Title, more...)}
		c.Hit = Hit{Kind: Agents, ID: o.ID, Title: cmp.Or(o.Title, o.Snippet), Object: o}
		c.standing = share(o.Score, resp.Objects[0].Score)
		if at, err := schemas.ParsePosition(o.Position); err == nil {
			c.at = []query.Evidence{{Position: at, Score: o.Score}}
		}
		f.hits = append(f.hits, c)
	}
	return nil
}

// share returns a score as a share of the best.
func share(score, best float64) float64 {
	if best <= 0 {
		return 0
	}
	return min(1, max(0, score/best))
}
