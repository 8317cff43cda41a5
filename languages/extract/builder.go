package extract

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// builder writes the facts of a file, at positions in bytes.
type builder struct {
	facts   *recountv1.FileFacts
	content []byte
	lines   []uint32 // where each line begins
	// indented says that indentation is syntax.
	indented bool
	bound    map[bindingKey]bool
}

type bindingKey struct {
	in                 uint32
	target, value, typ string
}

func newBuilder(facts *recountv1.FileFacts, content []byte) *builder {
	return &builder{facts: facts, content: content, lines: lineStarts(content), bound: map[bindingKey]bool{}}
}

func lineStarts(src []byte) []uint32 {
	lines := make([]uint32, 1, len(src)/32+1)
	for at := 0; ; {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			return lines
		}
		at += i + 1
		lines = append(lines, uint32(at))
	}
}

// place is the position of a byte.
func (b *builder) place(at uint32) *recountv1.Place {
	line := sort.Search(len(b.lines), func(i int) bool { return b.lines[i] > at })
	return &recountv1.Place{Line: uint32(line), Column: at - b.lines[line-1]}
}

// declaration describes one for declare.
type declaration struct {
	kind recountv1.SymbolKind
	name string
	in   uint32
	doc  string
	// node is the declaration; whole, where set, is it with its decorators. Without
	// nodes: it is [start, end), from `from` on with its decorators.
	node, whole      ref
	start, end, from uint32
	// head is where the signature ends, before the body; 0 is the end. prefix is put
	// before it.
	head   uint32
	prefix string
}

// declare adds a declaration and returns what `in` is inside it. What a broken file
// gives no name is called "?".
func (b *builder) declare(d declaration) (uint32, *recountv1.Declaration) {
	if d.from == 0 || d.from > d.start {
		d.from = d.start
	}
	d.end = max(d.end, d.start)
	if d.head < d.start || d.head > d.end {
		d.head = d.end
	}
	head := string(b.content[d.start:min(d.head, d.start+4*maxSignature)])
	decl := &recountv1.Declaration{
		Kind: d.kind, Name: clip(firstOf(oneLine(d.name), unknown), maxName), Owner: d.in,
		Signature: oneLine(d.prefix + strings.ToValidUTF8(head, "")),
		Doc:       d.doc, Start: b.place(d.start), End: b.place(d.end),
		BodyHash: bodyHash(b.content[d.from:d.end], b.indented, int(b.place(d.from).Column)),
	}
	b.facts.Declarations = append(b.facts.Declarations, decl)
	return uint32(len(b.facts.Declarations)), decl
}

// decl is the declaration that `in` names; nil for the file.
func (b *builder) decl(in uint32) *recountv1.Declaration {
	if in == 0 {
		return nil
	}
	return b.facts.Declarations[in-1]
}

// refer adds a reference, unless nothing of its path is known.
func (b *builder) refer(edge recountv1.EdgeKind, in uint32, path string, at uint32) *recountv1.Reference {
	r := &recountv1.Reference{Edge: edge, In: in, Path: path, At: b.place(at)}
	if path != "" && path != unknown {
		b.facts.References = append(b.facts.References, r)
	}
	return r
}

// bind adds a flow of value into target; a second equal one is left out.
func (b *builder) bind(in uint32, target, value, typ string, at uint32) {
	if target == "" || strings.HasPrefix(target, unknown) || value == "" && typ == "" {
		return
	}
	key := bindingKey{in, target, value, typ}
	if b.bound[key] {
		return
	}
	b.bound[key] = true
	b.facts.Bindings = append(b.facts.Bindings, &recountv1.Binding{
		In: in, Target: target, Value: value, Type: typ, At: b.place(at),
	})
}

// addImport adds an import.
func (b *builder) addImport(in uint32, path string, at uint32) *recountv1.Import {
	i := &recountv1.Import{Path: clip(path, maxValue), In: in, At: b.place(at)}
	b.facts.Imports = append(b.facts.Imports, i)
	return i
}

// addRoute adds a route or a group.
func (b *builder) addRoute(r *recountv1.RouteFact, at uint32) {
	r.At = b.place(at)
	r.Pattern = clip(r.Pattern, maxValue)
	b.facts.Routes = append(b.facts.Routes, r)
}

// sort puts what was found late in its place: source order.
func (b *builder) sort() {
	slices.SortStableFunc(b.facts.References, func(x, y *recountv1.Reference) int { return comparePlaces(x.At, y.At) })
	slices.SortStableFunc(b.facts.Imports, func(x, y *recountv1.Import) int { return comparePlaces(x.At, y.At) })
	slices.SortStableFunc(b.facts.Bindings, func(x, y *recountv1.Binding) int { return comparePlaces(x.At, y.At) })
	slices.SortStableFunc(b.facts.Routes, func(x, y *recountv1.RouteFact) int { return comparePlaces(x.At, y.At) })
}

func comparePlaces(a, b *recountv1.Place) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
