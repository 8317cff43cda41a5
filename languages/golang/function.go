package golang

import (
	"go/ast"
	"go/token"
	"slices"

	"github.com/zeebo/xxh3"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// functionPart is what is known of one function of a file. While its text, the beginning of the file and
// everything that it uses stay the same, the checker need not read its body: its edges are those
// that the file's graph had under its key, and its constraints are the same.
//
// A function that declares types has no part: it has several nodes, and its types are distinguished
// by their positions. Neither has the generated handler of a procedure: its edges begin at other
// nodes (see served).
type functionPart struct {
	text         uint64 // a hash, from "func" to the last brace
	line, column int    // of "func"
	uses         []mark // sorted
	flow         *flow
}

// using reports whether the function depends on one of the marks.
func (p *functionPart) using(changed marks) bool { return usesAny(p.uses, changed) }

func usesAny(sorted []mark, changed marks) bool {
	if len(changed) > len(sorted) {
		return slices.ContainsFunc(sorted, func(m mark) bool { _, ok := changed[m]; return ok })
	}
	for m := range changed {
		if _, ok := slices.BinarySearch(sorted, m); ok {
			return true
		}
	}
	return false
}

// carried is the part of a function that did not change, with its place in the new file.
type carried struct {
	*functionPart
	key  schemas.NodeKey
	line int // of the function now
}

// cut removes from a file that was read completely the bodies of functions whose parts are still
// valid. known is the file in the previous snapshot, nil if nothing of it is valid. Bodies that
// were cut before, and whose parts are no longer valid, are restored.
func (s *source) cut(fset *token.FileSet, names *declared, known *kept, changed marks) {
	syntax := *s.syntax
	syntax.Decls = s.decls
	s.carried, s.was = nil, nil
	if known != nil && s.problem == "" && known.head == s.head(fset) {
		syntax.Decls = slices.Clone(s.decls)
		s.carried, s.was = make([]*carried, len(s.decls)), known
		for i, decl := range s.decls {
			f, ok := decl.(*ast.FuncDecl)
			if !ok || f.Body == nil {
				continue
			}
			key := names.ofName[f.Name]
			p := known.parts[key]
			if p == nil || p.using(changed) {
				continue
			}
			if at := s.place(fset, f); p.column == at.Column && p.text == s.text(fset, f) {
				s.carried[i] = &carried{p, key, at.Line}
				empty := *f
				empty.Body = &ast.BlockStmt{Lbrace: f.Body.Lbrace, Rbrace: f.Body.Rbrace}
				syntax.Decls[i] = &empty
			}
		}
	}
	s.syntax = &syntax
}

// carries returns what is known of the i-th declaration, nil if its body was not cut.
func (s *source) carries(i int) *carried {
	if s.carried == nil {
		return nil
	}
	return s.carried[i]
}

// affected reports whether what is kept of the file, or of one of its functions, depends on one of
// the marks.
func (s *source) affected(changed marks) bool {
	return s.kept != nil && s.kept.using(changed) ||
		slices.ContainsFunc(s.carried, func(c *carried) bool { return c != nil && c.using(changed) })
}

// partial reports whether anything is kept of the file.
func (s *source) partial() bool {
	return s.kept != nil || slices.ContainsFunc(s.carried, func(c *carried) bool { return c != nil })
}

// sizes returns how many bytes the checker reads of the file, in functions and outside.
func (s *source) sizes() (bodies, rest int) {
	rest = len(s.content)
	for _, decl := range s.syntax.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Body != nil {
			size := int(f.Body.Rbrace - f.Body.Lbrace)
			rest -= size
			if len(f.Body.List) > 0 { // otherwise it was cut, or is empty
				bodies += size
			}
		}
	}
	return bodies, rest
}

// head returns a hash of the text above the first declaration that is not an import: it decides
// what the names of packages mean in the file, how it is built, and whether it is generated.
func (s *source) head(fset *token.FileSet) uint64 {
	end := endOf(fset, s.syntax.Name)
	for _, decl := range s.decls {
		if d, ok := decl.(*ast.GenDecl); ok && d.Tok == token.IMPORT {
			end = endOf(fset, d)
		}
	}
	return xxh3.Hash(s.content[:fset.PositionFor(end, false).Offset])
}

func (s *source) text(fset *token.FileSet, n ast.Node) uint64 {
	return xxh3.Hash(s.content[fset.PositionFor(n.Pos(), false).Offset:fset.PositionFor(endOf(fset, n), false).Offset])
}

// place returns the position at which a declaration begins.
func (s *source) place(fset *token.FileSet, decl ast.Decl) token.Position {
	return fset.PositionFor(decl.Pos(), false)
}

// separable reports whether a declaration is a function that has a part.
func separable(names *declared, decl ast.Decl) bool {
	f, ok := decl.(*ast.FuncDecl)
	return ok && f.Body != nil && !names.local[f.Name] && handled(f) == ""
}

// carry adds the edges of the functions that were not read to the file's graph.
func (s *source) carry(g *resolve.FileGraph) {
	for _, c := range s.carried {
		if c == nil {
			continue
		}
		was, by := &s.was.graph, c.line-c.functionPart.line
		for _, e := range under(was.Edges, c.key, func(e resolve.Edge) schemas.NodeKey { return e.From }) {
			if e.Kind != recountv1.EdgeKind_EDGE_KIND_CONTAINS { // which the declarations add
				e.Edge = shiftedEdge(e.Edge, by)
				g.Edges = append(g.Edges, e)
			}
		}
		for _, x := range under(was.Externals, c.key, func(x resolve.External) schemas.NodeKey { return x.From }) {
			if x.Kind != recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS_RPC { // which the handler adds
				x.Edge = shiftedEdge(x.Edge, by)
				g.Externals = append(g.Externals, x)
			}
		}
		for _, u := range under(was.Unresolved, c.key, func(u resolve.Unresolved) schemas.NodeKey { return u.From }) {
			u.At = shifted(u.At, by)
			g.Unresolved = append(g.Unresolved, u)
		}
	}
}

// under returns the elements that begin at a node, from a slice sorted by where they begin.
func under[E any](all []E, key schemas.NodeKey, from func(E) schemas.NodeKey) []E {
	compare := func(e E, key schemas.NodeKey) int {
		switch from := from(e); {
		case from < key:
			return -1
		case from > key:
			return 1
		}
		return 0
	}
	start, _ := slices.BinarySearchFunc(all, key, compare)
	end := start
	for end < len(all) && from(all[end]) == key {
		end++
	}
	return all[start:end]
}

// shiftedEdge returns an edge whose sites are some lines further down. It copies the edge, since
// one that is in a graph is never changed.
func shiftedEdge(e *recountv1.CodeEdge, by int) *recountv1.CodeEdge {
	if by == 0 || len(e.GetSites()) == 0 {
		return e
	}
	moved := proto.CloneOf(e)
	for _, at := range moved.Sites {
		at.Line = uint32(int(at.Line) + by)
	}
	return moved
}

func shifted(at *recountv1.Place, by int) *recountv1.Place {
	if by == 0 || at == nil {
		return at
	}
	return &recountv1.Place{Line: uint32(int(at.Line) + by), Column: at.Column}
}
