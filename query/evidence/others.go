package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// These limit the things of other kinds in an answer: commands, symbols and operations that match
// the text, and names in the hits that are looked up in the code.
const (
	maxFound  = 5
	maxLooked = 8
)

// Commands, code and spans belong to the default tenant. A principal sees those that it is granted,
// and of commands those of its workspaces.

// mayReadCommands reports whether the principal may see the commands of a workspace; "*" stands for
// all workspaces.
func (a *session) mayReadCommands(workspace string) bool {
	return a.p.Granted(schemas.GrantCommands) && a.p.InWorkspace(workspace)
}

func (a *session) mayReadCode() bool    { return a.p.Granted(schemas.GrantCode) }
func (a *session) mayReadRuntime() bool { return a.p.Granted(schemas.GrantRuntime) }

// notGranted is the reason why a kind is omitted.
const notGranted = "the token is not granted it"

// wide reports whether things of other kinds may be in the answer without being requested.
func (a *session) wide() bool {
	return a.s.Commands.Set != nil && a.s.Runtime.Set != nil && a.mayReadCommands("*") && a.mayReadRuntime()
}

// others adds the things of other kinds that the plan includes, and joins them to the hits.
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
			w.Step(Step{Path: kind.name, Operator: "leave out", Why: "this server keeps none"})
			continue
		}
		if err := w.Ctx.Err(); err != nil {
			return err
		}
		if err := kind.add(p, hits); err != nil {
			return err
		}
		w.RecordTime(kind.name)
	}
	return w.mentions(p, hits)
}

// rest adds to the watermark of the answer.
func (w *answer) rest(mark schemas.Watermark) {
	both := schemas.Watermark{}
	for tp, next := range mark {
		both[tp] = next
	}
	for tp, next := range w.resp.Watermark { // for a partition in both, the one read first counts
		both[tp] = next
	}
	w.resp.Watermark = both
}

// beside shows a thing of another kind after the hits, once.
func (w *answer) beside(o Object) {
	if !w.shown[o.ID] {
		o.Role = "joined"
		w.show(o)
	}
}

// join adds an edge to a thing of another kind before the edges among objects, of which some may be
// cut.
func (w *answer) join(e Edge) {
	w.resp.Edges = slices.Insert(w.resp.Edges, w.toOthers, e)
	w.toOthers++
}

// since returns the beginning of the time range, from the request or from the text.
func (w *answer) since(p *plan) time.Time {
	if w.r.Since.IsZero() && p.cues.from != 0 {
		return time.Unix(0, p.cues.from).UTC()
	}
	return w.r.Since
}

// namesOne reports whether a name contains one of the words.
func namesOne(name string, words []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(name, word) })
}
