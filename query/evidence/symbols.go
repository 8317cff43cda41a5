package evidence

import (
	"errors"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
)

// symbols looks up in the code what the hits name, and what the text does. The code as of
// another time is not asked for: revisions are not moments.
func (w *answer) symbols(_ *plan, hits []*hit) error {
	switch {
	case !w.seesCode():
		w.step(Step{Path: KindSymbols, Operator: "leave out", Why: notGranted})
		return nil
	case !w.r.AsOf.IsZero():
		w.step(Step{Path: KindSymbols, Operator: "leave out", Why: "as_of does not say a revision"})
		return nil
	}
	s := Step{Path: KindSymbols, Operator: "join", Counts: map[string]int64{}}
	shown := map[string]bool{}
	// lookUp adds the symbols of a name that match well enough, and is false where the code
	// cannot be asked.
	lookUp := func(name string, limit int, good []string, add func(code.SymbolHit, Object)) (bool, error) {
		r, err := code.Symbols(w.ctx, w.s.Code, code.SymbolsRequest{Text: name, Limit: limit})
		var request *query.RequestError
		var missing *query.NotFoundError
		var ambiguous *code.AmbiguousError
		if errors.As(err, &request) || errors.As(err, &missing) || errors.As(err, &ambiguous) {
			s.Why = err.Error()
			return false, nil
		}
		if err != nil {
			return false, err
		}
		w.rest(r.Watermark)
		for _, h := range r.Symbols {
			if !slices.Contains(good, h.Match) {
				continue
			}
			o := symbolObject(h.Symbol, h.Signature)
			if !shown[o.ID] {
				shown[o.ID] = true
				s.Counts["symbols"]++
			}
			add(h, o)
		}
		return true, nil
	}
	able := true
	if w.r.Text != "" {
		var err error
		able, err = lookUp(w.r.Text, mostFound, []string{"name", "exact", "case", "place", "text"}, func(_ code.SymbolHit, o Object) { w.find(o) })
		if err != nil {
			return err
		}
	}
	looked := map[string]bool{}
	for _, h := range hits {
		for _, e := range h.o.Edges {
			kind, name, _ := strings.Cut(e.Entity, ":")
			if !able || kind != "symbol" && kind != "file" || len(name) > code.MaxName || !looked[e.Entity] && len(looked) == mostLooked {
				continue
			}
			looked[e.Entity] = true
			var err error
			able, err = lookUp(name, 1, []string{"name", "exact", "place"}, func(x code.SymbolHit, o Object) {
				w.beside(o)
				w.join(Edge{From: h.o.ObjectID().String(), To: o.ID, Kind: "names", Confidence: round(float64(e.Confidence)), Rule: "symbol_" + x.Match})
			})
			if err != nil {
				return err
			}
		}
	}
	s.Counts["looked_up"] = int64(len(looked))
	w.step(s)
	return nil
}

// symbolObject is a symbol as an answer has it.
func symbolObject(s code.Symbol, signature string) Object {
	return Object{
		ID: "symbol:" + s.Repo + " " + s.Name, Kind: KindSymbols, Type: s.Kind, Title: s.Name,
		Snippet: brief(strings.TrimSpace(s.Place()+"  "+signature), maxSnippet),
	}
}
