package code

import (
	"fmt"
	"slices"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// ref is a node of one of a world's graphs.
type ref struct{ g, n int32 }

// world has the graphs that one walk covers; the requested one is first.
type world struct {
	graphs []*Graph
	snaps  []*snapshots.Snapshot
	// left is the number of repositories that were omitted.
	left int
}

// kinds is a set of edge kinds, one bit each. maxKinds is its capacity; a test checks that the enum
// fits.
type kinds uint64

const maxKinds = 64

func kindsOf(all ...recountv1.EdgeKind) (k kinds) {
	for _, e := range all {
		if e < 0 || e >= maxKinds {
			panic(fmt.Sprintf("edge kind %d: a set holds only kinds below %d", e, maxKinds))
		}
		k |= 1 << e
	}
	return k
}

func (k kinds) has(kind uint8) bool { return k&(1<<kind) != 0 }

const (
	eContains   = recountv1.EdgeKind_EDGE_KIND_CONTAINS
	eImports    = recountv1.EdgeKind_EDGE_KIND_IMPORTS
	eCalls      = recountv1.EdgeKind_EDGE_KIND_CALLS
	eMayCall    = recountv1.EdgeKind_EDGE_KIND_MAY_CALL
	eImplements = recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS
	eOverrides  = recountv1.EdgeKind_EDGE_KIND_OVERRIDES
	eHandles    = recountv1.EdgeKind_EDGE_KIND_HANDLES_ROUTE
	eServes     = recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS_RPC
	eDecorates  = recountv1.EdgeKind_EDGE_KIND_DECORATES
)

// dispatched is the maximum confidence, in thousandths, of what a call through an interface may
// reach.
const dispatched = 700

// rules define which edges a walk follows: those in along forwards, those in against backwards.
// Those in dispatchAlong and dispatchAgainst are followed between methods only, with limited
// confidence.
type rules struct {
	along, against                 kinds
	dispatchAlong, dispatchAgainst kinds
	min                            uint16
}

var (
	callKinds = kindsOf(eCalls, eMayCall, recountv1.EdgeKind_EDGE_KIND_CONSUMES_RPC, recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT)
	// toCallers walks from a symbol to its callers, toCallees in the other direction.
	toCallers = rules{against: callKinds, along: kindsOf(eServes, eHandles), dispatchAlong: kindsOf(eImplements, eOverrides)}
	toCallees = rules{along: callKinds, against: kindsOf(eServes, eHandles), dispatchAgainst: kindsOf(eImplements, eOverrides)}
	// toAffected walks from what changes to what may be affected.
	toAffected = rules{
		against:       ^kindsOf(eContains, eImports, recountv1.EdgeKind_EDGE_KIND_UNSPECIFIED),
		along:         kindsOf(eServes, eHandles),
		dispatchAlong: kindsOf(eImplements, eOverrides),
	}
)

// link is one edge as a walk follows it, forwards or backwards.
type link struct {
	kind       uint8
	confidence uint16
	provenance uint8
	// site is the place of the edge: a node in its file, and line is the line.
	site ref
	line uint32
	// to is the target of the edge: a node of the site's graph, or, if outside is set, one of its
	// symbols.
	to      int32
	outside bool
}

// from calls use with the nodes that an edge of the rules joins to a node, in the order of the
// maps: along, then against, then other repositories.
func (w *world) from(r ref, by *rules, use func(to ref, l link)) {
	g := w.graphs[r.g]
	method := isMethod(g.kind(r.n))
	follow := func(e *edge, to int32, plain, bounded kinds) {
		c := e.confidence
		if recountv1.EdgeKind(e.kind) == eHandles {
			// Resolvers create this edge in either direction; along means from a handler to its
			// route.
			plain = by.against
			if g.kind(to) == recountv1.SymbolKind_SYMBOL_KIND_ROUTE {
				plain = by.along
			}
		}
		switch {
		case plain.has(e.kind):
		case bounded.has(e.kind) && method && isMethod(g.kind(to)):
			c = min(c, dispatched)
		default:
			return
		}
		if c >= by.min {
			use(ref{r.g, to}, link{e.kind, c, e.provenance, ref{r.g, e.from}, e.line, e.to, false})
		}
	}
	if by.along|by.dispatchAlong != 0 {
		for i := g.out[r.n]; i < g.out[r.n+1]; i++ {
			follow(&g.edges[i], g.edges[i].to, by.along, by.dispatchAlong)
		}
	}
	if by.against|by.dispatchAgainst != 0 {
		for _, i := range g.into[g.in[r.n]:g.in[r.n+1]] {
			follow(&g.edges[i], g.edges[i].from, by.against, by.dispatchAgainst)
		}
	}
	if len(w.graphs) > 1 {
		w.across(r, by, use)
	}
}

func isMethod(k recountv1.SymbolKind) bool {
	return k == recountv1.SymbolKind_SYMBOL_KIND_METHOD || k == recountv1.SymbolKind_SYMBOL_KIND_RPC
}

// across follows edges into other repositories and back from them.
func (w *world) across(r ref, by *rules, use func(to ref, l link)) {
	g := w.graphs[r.g]
	for i := g.outStart[r.n]; i < g.outStart[r.n+1]; i++ {
		e := &g.outside[i]
		if !(by.along | by.dispatchAlong).has(e.kind) || e.confidence < by.min {
			continue
		}
		if inText(g.symbols[e.to]) {
			continue // a document says nothing of other repositories
		}
		http := isRequest(g.symbols[e.to])
		if http && len(g.answers(g.symbols[e.to])) > 0 {
			continue // the repository's own route
		}
		for o := range w.graphs {
			if int32(o) == r.g {
				continue
			}
			found := w.graphs[o].answers(g.symbols[e.to])
			for _, n := range found {
				c := unsure(e.confidence, len(found))
				if http {
					c = min(c, ambiguous)
				}
				if c >= by.min {
					use(ref{int32(o), n}, link{e.kind, c, e.provenance, r, e.line, e.to, true})
				}
			}
		}
	}
	if by.against|by.dispatchAgainst == 0 {
		return
	}
	if g.kind(r.n) == recountv1.SymbolKind_SYMBOL_KIND_ROUTE {
		w.asked(r, by, use)
	}
	for _, own := range g.known(r.n) {
		if own.pkg == "" {
			continue
		}
		for o, other := range w.graphs {
			if int32(o) == r.g {
				continue
			}
			sym, used := other.numberOf(own)
			if !used {
				continue
			}
			for _, i := range other.users[other.userStart[sym]:other.userStart[sym+1]] {
				e := &other.outside[i]
				if (by.against | by.dispatchAgainst).has(e.kind) && e.confidence >= by.min {
					from := ref{int32(o), e.from}
					use(from, link{e.kind, e.confidence, e.provenance, from, e.line, e.to, true})
				}
			}
		}
	}
}

// asked follows the requests of other repositories back from a route that matches them.
func (w *world) asked(r ref, by *rules, use func(to ref, l link)) {
	route, ok := schemas.ParseRoute(w.graphs[r.g].name(r.n))
	if !ok {
		return
	}
	for o, other := range w.graphs {
		if int32(o) == r.g {
			continue
		}
		other.requestsTo(route, func(e *edge) {
			if c := min(e.confidence, ambiguous); (by.against | by.dispatchAgainst).has(e.kind) && c >= by.min &&
				len(other.answers(other.symbols[e.to])) == 0 && slices.Contains(w.graphs[r.g].answers(other.symbols[e.to]), r.n) {
				from := ref{int32(o), e.from}
				use(from, link{e.kind, c, e.provenance, from, e.line, e.to, true})
			}
		})
	}
}

// reached is the result of a walk for one node.
type reached struct {
	ref
	// via is the previous node on its path, as an index of the walk's result, or -1 for a seed.
	via        int32
	depth      int32
	confidence uint16
	by         link
}

// visit has the indexes of nodes in a walk's result, plus one.
type visit [][]int32

func (w *world) visits() visit { return make(visit, len(w.graphs)) }

func (v visit) slot(w *world, r ref) *int32 {
	if v[r.g] == nil {
		v[r.g] = make([]int32, len(w.graphs[r.g].nodes))
	}
	return &v[r.g][r.n]
}

// levels walks up to depth edges from the seeds, the nearest first. Among the shortest paths to a
// node, the one whose minimum confidence is highest counts.
func (w *world) levels(seeds []ref, by *rules, depth int) []reached {
	var all []reached
	seen := w.visits()
	for _, s := range seeds {
		if p := seen.slot(w, s); *p == 0 {
			all = append(all, reached{ref: s, via: -1, confidence: 1000})
			*p = int32(len(all))
		}
	}
	for begin, d := 0, int32(1); begin < len(all) && int(d) <= depth; d++ {
		end := len(all)
		for i := begin; i < end; i++ {
			from := all[i]
			w.from(from.ref, by, func(to ref, l link) {
				c := min(from.confidence, l.confidence)
				p := seen.slot(w, to)
				if *p == 0 {
					all = append(all, reached{to, int32(i), d, c, l})
					*p = int32(len(all))
				} else if known := &all[*p-1]; known.depth == d && c > known.confidence {
					known.via, known.confidence, known.by = int32(i), c, l
				}
			})
		}
		begin = end
	}
	return all
}

// widest walks to everything that the seeds reach. For each node it takes the path whose minimum
// confidence is highest, and the shortest of these.
func (w *world) widest(seeds []ref, by *rules) []reached {
	var all []reached
	seen := w.visits()
	var queue [1001][]int32 // indexes of all, by confidence
	for _, s := range seeds {
		if p := seen.slot(w, s); *p == 0 {
			all = append(all, reached{ref: s, via: -1, confidence: 1000})
			*p = int32(len(all))
			queue[1000] = append(queue[1000], *p-1)
		}
	}
	for c := 1000; c >= 0; c-- {
		for head := 0; head < len(queue[c]); head++ {
			i := queue[c][head]
			from := all[i]
			if int(from.confidence) != c {
				continue // a better path was found
			}
			w.from(from.ref, by, func(to ref, l link) {
				conf := min(from.confidence, l.confidence)
				p := seen.slot(w, to)
				if *p == 0 {
					all = append(all, reached{ref: to})
					*p = int32(len(all))
				} else if known := &all[*p-1]; conf < known.confidence || conf == known.confidence && from.depth+1 >= known.depth {
					return
				}
				all[*p-1] = reached{to, i, from.depth + 1, conf, l}
				queue[conf] = append(queue[conf], *p-1)
			})
		}
	}
	return all
}

// seeds returns nodes with everything that belongs to them.
func (w *world) seeds(of []ref) []ref {
	var all []ref
	for _, r := range of {
		g := w.graphs[r.g]
		for _, n := range g.members(r.n) {
			all = append(all, ref{r.g, n})
			if first := g.first(n); first != n {
				all = append(all, ref{r.g, first})
			}
		}
	}
	return all
}
