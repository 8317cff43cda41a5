package evidence

import (
	"errors"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
)

// How many things of other kinds an answer has: commands, symbols and operations that the
// text finds, and names of the hits that are looked up in the code.
const (
	mostFound  = 5
	mostLooked = 8
)

// Commands, code and spans have no tenant: they are of the default one. Whoever belongs to
// all of its workspaces sees all of them; who belongs to some sees their commands.

// seesAll says whether the principal may see what has no workspace.
func (a *asking) seesAll() bool {
	return a.p.Operator || a.p.Tenant == "" && slices.Contains(a.p.Workspaces, "*")
}

// seesCommands says whether it may see the commands of a workspace.
func (a *asking) seesCommands(workspace string) bool {
	return a.seesAll() || a.p.Tenant == "" && slices.Contains(a.p.Workspaces, workspace)
}

// wide says whether things of other kinds may answer without being asked for.
func (a *asking) wide() bool {
	return a.s.Commands.Set != nil && a.s.Runtime.Set != nil && a.seesAll()
}

// others adds the things of other kinds that the plan wants, and what joins them to the
// hits.
func (w *answer) others(p *plan, hits []*hit) error {
	for _, kind := range []struct {
		name string
		has  bool
		add  func(*plan, []*hit) error
	}{
		{KindCommands, w.s.Commands.Set != nil, w.commands},
		{KindSymbols, w.s.Code.Set != nil, w.symbols},
		{KindRuntime, w.s.Runtime.Set != nil, w.operations},
	} {
		switch {
		case !p.answers(kind.name):
			continue
		case !kind.has:
			w.step(Step{Path: kind.name, Operator: "leave out", Why: "this server keeps none"})
			continue
		}
		if err := kind.add(p, hits); err != nil {
			return err
		}
		w.lap(kind.name)
	}
	return nil
}

// rest adds to the positions that the answer rests on.
func (w *answer) rest(mark schemas.Watermark) {
	both := schemas.Watermark{}
	for tp, next := range mark {
		both[tp] = next
	}
	for tp, next := range w.resp.Watermark { // of one partition, what was read first
		both[tp] = next
	}
	w.resp.Watermark = both
}

// join adds an edge to another kind of thing before those among objects, of which some
// may be cut.
func (w *answer) join(e Edge) {
	w.resp.Edges = slices.Insert(w.resp.Edges, w.joined, e)
	w.joined++
}

// symbols looks up in the code what the hits name, and what the text does. The code as of
// another time is not asked for: revisions are not moments.
func (w *answer) symbols(_ *plan, hits []*hit) error {
	switch {
	case !w.seesAll():
		w.step(Step{Path: KindSymbols, Operator: "leave out", Why: "code is for those who belong to all workspaces of the default tenant"})
		return nil
	case !w.r.AsOf.IsZero():
		w.step(Step{Path: KindSymbols, Operator: "leave out", Why: "as_of does not say a revision"})
		return nil
	}
	s := Step{Path: KindSymbols, Operator: "join", Counts: map[string]int64{}}
	shown := map[string]bool{}
	// lookUp adds the symbols of a name that match well enough, and is false where the code
	// cannot be asked.
	lookUp := func(name string, limit int, good []string, joined func(code.SymbolHit, string)) (bool, error) {
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
			id := "symbol:" + h.Repo + " " + h.Name
			if !shown[id] {
				shown[id] = true
				w.show(Object{ID: id, Kind: KindSymbols, Role: "joined", Type: h.Kind, Title: h.Name, Snippet: strings.TrimSpace(h.Place() + " " + h.Signature)})
				s.Counts["symbols"]++
			}
			joined(h, id)
		}
		return true, nil
	}
	looked := map[string]bool{}
	for _, h := range hits {
		for _, e := range h.o.Edges {
			kind, name, _ := strings.Cut(e.Entity, ":")
			if kind != "symbol" && kind != "file" || len(name) > code.MaxName || !looked[e.Entity] && len(looked) == mostLooked {
				continue
			}
			looked[e.Entity] = true
			ok, err := lookUp(name, 1, []string{"name", "exact", "place"}, func(x code.SymbolHit, id string) {
				w.join(Edge{From: h.o.ObjectID().String(), To: id, Kind: "names", Confidence: round(float64(e.Confidence)), Rule: "symbol_" + x.Match})
			})
			if err != nil {
				return err
			}
			if !ok {
				w.step(s)
				return nil
			}
		}
	}
	s.Counts["looked_up"] = int64(len(looked))
	if w.r.Text != "" {
		if _, err := lookUp(w.r.Text, mostFound, []string{"name", "exact", "case", "place", "text"}, func(code.SymbolHit, string) {}); err != nil {
			return err
		}
	}
	w.step(s)
	return nil
}

// operations adds what was seen to run that the text names; where it asks why something
// fails, what fails.
func (w *answer) operations(p *plan, _ []*hit) error {
	switch {
	case !w.seesAll():
		w.step(Step{Path: KindRuntime, Operator: "leave out", Why: "spans are for those who belong to all workspaces of the default tenant"})
		return nil
	case w.r.AsOf.Offsets != nil:
		w.step(Step{Path: KindRuntime, Operator: "leave out", Why: "spans are summed by time: as_of may say a time, not positions"})
		return nil
	}
	failing := p.cues.failing != ""
	ask := runtime.TrafficRequest{Window: runtime.Window{From: w.since(p), To: w.r.Until, At: w.r.At}, Failing: failing, Limit: 1000}
	if t := w.r.AsOf.Time; !t.IsZero() && (ask.To.IsZero() || t.Before(ask.To)) {
		ask.To = t
	}
	if !ask.To.IsZero() && !ask.From.Before(ask.To) {
		return nil
	}
	r, err := runtime.TrafficOf(w.ctx, w.s.Runtime, ask)
	if err != nil {
		return err
	}
	w.rest(r.Watermark)
	s := Step{Path: KindRuntime, Operator: "search", Inputs: map[string]string{"failing": strconv.FormatBool(failing)}, Counts: map[string]int64{"looked_at": int64(len(r.Operations))}}
	for _, o := range r.Operations {
		name := o.Service + " " + o.Operation
		if s.Counts["operations"] == mostFound || !namesOne(name, w.words) {
			continue
		}
		s.Counts["operations"]++
		out := Object{
			ID: "operation:" + name, Kind: KindRuntime, Type: "operation", Title: brief(name, maxTitle), Time: o.Last, Failed: o.Errors > 0,
			Snippet: strconv.FormatUint(o.Count, 10) + " seen, " + strconv.FormatUint(o.Errors, 10) + " failed, since " + o.First.UTC().Format(time.RFC3339),
		}
		if len(o.Examples) > 0 {
			out.Position = o.Examples[0].Position.String()
		}
		w.show(out)
		if c := o.Code; c != nil && c.Symbol != nil {
			w.join(Edge{From: out.ID, To: "symbol:" + c.Symbol.Repo + " " + c.Symbol.Name, Kind: "handled_by", Confidence: round(c.Confidence), Rule: c.Rule})
		}
	}
	w.step(s)
	return nil
}

// since is from when on things are asked for: by the request, or by the words of the text.
func (w *answer) since(p *plan) time.Time {
	if w.r.Since.IsZero() && p.cues.from != 0 {
		return time.Unix(0, p.cues.from).UTC()
	}
	return w.r.Since
}

// namesOne says whether a name has one of the words in it.
func namesOne(name string, words []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}
