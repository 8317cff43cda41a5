package golang

import (
	"cmp"
	"iter"
	"slices"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/graph/resolve"
	"github.com/recountdb/recount/schemas"
)

// join adds what only all packages together say, and returns the graphs that
// differ from those returned before, by path. Packages that are gone are returned
// empty.
func (s *step) join() []resolve.FileGraph {
	joined := map[string][]resolve.Edge{}
	add := func(e resolve.Edge) {
		path := e.From.Path()
		joined[path] = append(joined[path], e)
	}
	s.implementations(add)
	s.mayCalls(add)
	var out []resolve.FileGraph
	for _, w := range s.work {
		final := make(map[string]uint64, len(w.graphs))
		for _, g := range w.graphs {
			more := joined[g.Path]
			slices.SortStableFunc(more, compareEdges)
			hash := w.local[g.Path] ^ hashEdges(more)
			if final[g.Path] = hash; w.final[g.Path] == hash {
				continue
			}
			if len(more) > 0 {
				g.Edges = append(slices.Clone(g.Edges), more...)
				g.Normalize()
			}
			out = append(out, g)
		}
		w.final = final
	}
	for path := range s.before {
		if s.byPath[path] == nil {
			out = append(out, resolve.FileGraph{Path: resolve.PackagePath(path)})
		}
	}
	slices.SortFunc(out, func(a, b resolve.FileGraph) int { return cmp.Compare(a.Path, b.Path) })
	return out
}

// facts yields what the files say, by directory and path.
func (s *step) facts() iter.Seq[*facts] {
	return func(yield func(*facts) bool) {
		for _, w := range s.work {
			for _, g := range w.graphs {
				if k := w.files[g.Path]; k != nil && !yield(&k.facts) {
					return
				}
			}
		}
	}
}

// implementations finds which types have the methods that an interface asks for.
func (s *step) implementations(yield func(resolve.Edge)) {
	having := map[string][]*methods{} // by a method's text
	for f := range s.facts() {
		for i := range f.types {
			t := &f.types[i]
			for _, m := range t.all {
				having[m.text] = append(having[m.text], t)
			}
		}
	}
	for f := range s.facts() {
		for i := range f.interfaces {
			asked := &f.interfaces[i]
			rarest := slices.MinFunc(asked.all, func(a, b method) int {
				return cmp.Or(cmp.Compare(len(having[a.text]), len(having[b.text])), cmp.Compare(a.text, b.text))
			})
			for _, t := range having[rarest.text] {
				implement(t, asked, yield)
			}
		}
	}
}

// implement makes the edges from a type to an interface, and from its methods to
// the interface's, where it has them all.
func implement(t, asked *methods, yield func(resolve.Edge)) {
	pairs := make([]resolve.Edge, 0, len(asked.all)+1)
	pair := func(from, to schemas.NodeKey) {
		if from != "" && to != "" {
			pairs = append(pairs, resolve.Edge{From: from, To: to, Kind: implements, Edge: resolve.EdgeAt(typesResolved, nil)})
		}
	}
	pair(t.key, asked.key)
	for _, m := range asked.all {
		has, ok := t.has(m.text)
		if !ok {
			return
		}
		pair(has.key, m.key)
	}
	for _, e := range pairs {
		yield(e)
	}
}

func compareEdges(a, b resolve.Edge) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.To, b.To))
}

// hashGraph is a hash of a graph's every field.
func hashGraph(g *resolve.FileGraph) uint64 {
	var b []byte
	for _, n := range g.Nodes {
		b = appendMessage(append(b, n.Key...), n.Node)
	}
	for _, e := range g.Externals {
		b = append(append(append(append(append(b, e.From...), byte(e.Kind), 0), e.Package...), 0), e.Name...)
		b = appendMessage(append(append(b, 0), e.Language...), e.Edge)
	}
	for _, u := range g.Unresolved {
		b = appendMessage(append(append(append(b, u.From...), byte(u.Kind), 0), u.Path...), u.At)
	}
	return xxh3.Hash(appendEdges(b, g.Edges))
}

func hashEdges(edges []resolve.Edge) uint64 { return xxh3.Hash(appendEdges(nil, edges)) }

func appendEdges(b []byte, edges []resolve.Edge) []byte {
	for _, e := range edges {
		b = append(append(append(b, e.From...), byte(e.Kind), 0), e.To...)
		b = appendMessage(b, e.Edge)
	}
	return b
}

func appendMessage(b []byte, m proto.Message) []byte {
	at := len(b)
	b = append(b, 0, 0, 0, 0)
	// Deterministic only orders maps; nothing here can fail to be encoded.
	b, _ = proto.MarshalOptions{Deterministic: true}.MarshalAppend(b, m)
	n := len(b) - at - 4
	b[at], b[at+1], b[at+2], b[at+3] = byte(n), byte(n>>8), byte(n>>16), byte(n>>24)
	return b
}
