package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Limits of what tree-sitter is given.
const (
	// maxParsed is the largest file that is parsed.
	maxParsed = 1 << 20
	// A file of at least minifiedSize bytes whose lines are longer than minifiedLine
	// on average was written by a minifier.
	minifiedSize = 8 << 10
	minifiedLine = 400
)

// file is a parsed file whose facts are being written. An extractor walks the tree
// once, in source order, and calls declare, refer, bind, addImport and addRoute; the
// `in` of each is what declare returned for the enclosing declaration, 0 at the top.
type file struct {
	*tree
	facts *recountv1.FileFacts
	// indented says that indentation is syntax.
	indented bool

	bound map[bindingKey]bool
	// inline are the imports without a name of their own, by the node that makes them.
	inline map[ref]string
}

type bindingKey struct {
	in                 uint32
	target, value, typ string
}

// parsed makes a Language's Extract of a grammar and of what walks its trees: it
// parses, keeps the limits, and says what is wrong with the file.
func parsed(load func() *grammar, walk func(f *file)) func([]byte, *recountv1.FileFacts) {
	return func(content []byte, facts *recountv1.FileFacts) {
		if why := unreadable(content); why != "" {
			facts.Skipped = why
			return
		}
		src, bad := validText(content)
		facts.Generated = isGenerated(src)
		g := load()
		nodes, cut, err := g.parse(src)
		if err != nil {
			partial(facts, nil, err.Error())
			return
		}
		f := &file{tree: newTree(g, src, nodes), facts: facts, bound: map[bindingKey]bool{}, inline: map[ref]string{}}
		if place, near, found := f.problem(); found {
			partial(facts, place, "syntax error "+near)
		}
		if cut {
			partial(facts, nil, fmt.Sprintf("nested more than %d deep", MaxDepth))
		}
		if bad >= 0 {
			partial(facts, f.place(uint32(bad)), "a byte that is not UTF-8 text")
		}
		walk(f)
		f.sort()
	}
}

// unreadable says why a file is not parsed.
func unreadable(content []byte) string {
	if len(content) > maxParsed {
		return fmt.Sprintf("large: %d bytes, at most %d are parsed", len(content), maxParsed)
	}
	if lines := strings.Count(string(content), "\n") + 1; len(content) >= minifiedSize && len(content)/lines > minifiedLine {
		return fmt.Sprintf("minified: %d bytes in %d lines", len(content), lines)
	}
	return ""
}

// partial marks the facts; the first problem stays.
func partial(facts *recountv1.FileFacts, at *recountv1.Place, problem string) {
	facts.Partial = true
	if facts.Problem != "" {
		return
	}
	if at != nil {
		problem = fmt.Sprintf("line %d: %s", at.Line, problem)
	}
	facts.Problem = clip(problem, maxValue)
}

// declaration describes one for declare.
type declaration struct {
	kind recountv1.SymbolKind
	name string
	in   uint32
	// node is the declaration; whole, where set, is it with its decorators.
	node, whole ref
	// head is where the signature ends: the byte before the body; 0 is node's end.
	head uint32
	doc  string
}

// declare adds a declaration and returns what `in` is inside it.
func (f *file) declare(d declaration) (uint32, *recountv1.Declaration) {
	whole := d.whole
	if whole <= 0 {
		whole = d.node
	}
	start, end := f.start(d.node), f.end(d.node)
	head := d.head
	if head == 0 {
		head = end
	}
	text := f.src[f.start(whole):f.end(whole)]
	decl := &recountv1.Declaration{
		Kind: d.kind, Name: clip(d.name, maxName), Owner: d.in,
		Signature: oneLine(string(f.src[start:min(head, start+4*maxSignature, end)])),
		Doc:       d.doc, Start: f.place(start), End: f.place(end),
	}
	decl.BodyHash = bodyHash(text, f.indented, int(f.place(f.start(whole)).Column))
	f.facts.Declarations = append(f.facts.Declarations, decl)
	return uint32(len(f.facts.Declarations)), decl
}

// knownPath is a path as the type of something: empty where it is not known.
func knownPath(path string) string {
	if path == unknown {
		return ""
	}
	return path
}

// decl is the declaration that `in` names; nil for the file.
func (f *file) decl(in uint32) *recountv1.Declaration {
	if in == 0 {
		return nil
	}
	return f.facts.Declarations[in-1]
}

// refer adds a reference, unless nothing of its path is known.
func (f *file) refer(edge recountv1.EdgeKind, in uint32, path string, at ref) *recountv1.Reference {
	r := &recountv1.Reference{Edge: edge, In: in, Path: path, At: f.place(f.start(at))}
	if path != "" && path != unknown {
		f.facts.References = append(f.facts.References, r)
	}
	return r
}

// bind adds a flow of value into target; a second equal one is left out.
func (f *file) bind(in uint32, target, value, typ string, at ref) {
	if target == "" || strings.HasPrefix(target, unknown) || value == "" && typ == "" {
		return
	}
	key := bindingKey{in, target, value, typ}
	if f.bound[key] {
		return
	}
	f.bound[key] = true
	f.facts.Bindings = append(f.facts.Bindings, &recountv1.Binding{
		In: in, Target: target, Value: value, Type: typ, At: f.place(f.start(at)),
	})
}

// addImport adds an import.
func (f *file) addImport(in uint32, path string, at ref) *recountv1.Import {
	i := &recountv1.Import{Path: clip(path, maxValue), In: in, At: f.place(f.start(at))}
	f.facts.Imports = append(f.facts.Imports, i)
	return i
}

// inlineImport adds the import that node at makes, once, and returns the name that
// it has in access paths.
func (f *file) inlineImport(in uint32, path string, at ref) string {
	if alias, ok := f.inline[at]; ok {
		return alias
	}
	i := f.addImport(in, path, at)
	i.Alias = fmt.Sprintf("<import%d>", len(f.inline)+1)
	f.inline[at] = i.Alias
	return i.Alias
}

// addRoute adds a route or a group.
func (f *file) addRoute(r *recountv1.RouteFact, at ref) {
	r.At = f.place(f.start(at))
	r.Pattern = clip(r.Pattern, maxValue)
	f.facts.Routes = append(f.facts.Routes, r)
}

// sort puts what was found late in its place: source order.
func (f *file) sort() {
	slices.SortStableFunc(f.facts.References, func(a, b *recountv1.Reference) int { return comparePlaces(a.At, b.At) })
	slices.SortStableFunc(f.facts.Imports, func(a, b *recountv1.Import) int { return comparePlaces(a.At, b.At) })
	slices.SortStableFunc(f.facts.Bindings, func(a, b *recountv1.Binding) int { return comparePlaces(a.At, b.At) })
	slices.SortStableFunc(f.facts.Routes, func(a, b *recountv1.RouteFact) int { return comparePlaces(a.At, b.At) })
}

func comparePlaces(a, b *recountv1.Place) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
