package evidence

import (
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
)

// How many things of other kinds an answer has: commands, symbols and operations that the
// text finds, and names of the hits that are looked up in the code.
const (
	maxFound  = 5
	maxLooked = 8
)

// Commands, code and spans have no tenant but the default one: a principal sees them as far
// as it is granted them, and of commands those of its workspaces.

// seesCommands says whether the principal may see the commands of a workspace; "*" asks
// for those of all.
func (a *session) seesCommands(workspace string) bool {
	return a.p.Granted(schemas.GrantCommands) && a.p.InWorkspace(workspace)
}

func (a *session) seesCode() bool    { return a.p.Granted(schemas.GrantCode) }
func (a *session) seesRuntime() bool { return a.p.Granted(schemas.GrantRuntime) }

// notGranted is why a kind is left out.
const notGranted = "the token is not granted it"

// wide says whether things of other kinds may answer without being asked for.
func (a *session) wide() bool {
	return a.s.Commands.Set != nil && a.s.Runtime.Set != nil && a.seesCommands("*") && a.seesRuntime()
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

// beside shows a thing of another kind that something is joined to, once, behind the hits.
func (w *answer) beside(o Object) {
	if !w.shown[o.ID] {
		o.Role = "joined"
		w.show(o)
	}
}

// join adds an edge to another kind of thing before those among objects, of which some
// may be cut.
func (w *answer) join(e Edge) {
	w.resp.Edges = slices.Insert(w.resp.Edges, w.toOthers, e)
	w.toOthers++
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
