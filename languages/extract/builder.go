package extract

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strings"

	"google.golang.org/protobuf/proto"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Builder writes the facts of a file, at positions in bytes.
type Builder struct {
	Facts   *recountv1.FileFacts
	Content []byte
	Lines   []uint32 // where each line begins
	// Indented is true if indentation is syntax.
	Indented bool
	bound    map[bindingKey]bool
}

type bindingKey struct {
	in                 uint32
	target, value, typ string
}

func NewBuilder(facts *recountv1.FileFacts, content []byte) *Builder {
	return &Builder{Facts: facts, Content: content, Lines: LineStarts(content), bound: map[bindingKey]bool{}}
}

func LineStarts(src []byte) []uint32 {
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

// Place returns the line and column of a byte.
func (b *Builder) Place(at uint32) *recountv1.Place {
	line := sort.Search(len(b.Lines), func(i int) bool { return b.Lines[i] > at })
	return &recountv1.Place{Line: uint32(line), Column: at - b.Lines[line-1]}
}

// Declaration describes a declaration for Declare.
type Declaration struct {
	Kind recountv1.SymbolKind
	Name string
	In   uint32
	Doc  string
	// Node is the declaration; Whole, if set, includes its decorators. Without nodes the
	// declaration is [Start, End), and begins at From with its decorators.
	Node, Whole      Ref
	Start, End, From uint32
	// Head is the end of the signature, before the body; 0 means the end. Prefix is put
	// before the signature.
	Head   uint32
	Prefix string
}

// Declare adds a declaration and returns the value of `in` inside it. A declaration without
// a name, in a broken file, is called "?".
func (b *Builder) Declare(d Declaration) (uint32, *recountv1.Declaration) {
	if d.From == 0 || d.From > d.Start {
		d.From = d.Start
	}
	d.End = max(d.End, d.Start)
	if d.Head < d.Start || d.Head > d.End {
		d.Head = d.End
	}
	head := string(b.Content[d.Start:min(d.Head, d.Start+4*MaxSignature)])
	decl := &recountv1.Declaration{
		Kind: d.Kind, Name: Clip(FirstOf(OneLine(d.Name), Unknown), MaxName), Owner: d.In,
		Signature: OneLine(d.Prefix + strings.ToValidUTF8(head, "")),
		Doc:       d.Doc, Start: b.Place(d.Start), End: b.Place(d.End),
		BodyHash: BodyHash(b.Content[d.From:d.End], b.Indented, int(b.Place(d.From).Column)),
	}
	b.Facts.Declarations = append(b.Facts.Declarations, decl)
	return uint32(len(b.Facts.Declarations)), decl
}

// Decl returns the declaration that `in` names, nil for the file.
func (b *Builder) Decl(in uint32) *recountv1.Declaration {
	if in == 0 {
		return nil
	}
	return b.Facts.Declarations[in-1]
}

// Refer adds a reference, unless its path is entirely unknown.
func (b *Builder) Refer(edge recountv1.EdgeKind, in uint32, path string, at uint32) *recountv1.Reference {
	r := &recountv1.Reference{Edge: edge, In: in, Path: path, At: b.Place(at)}
	if path != "" && path != Unknown {
		b.Facts.References = append(b.Facts.References, r)
	}
	return r
}

// bind adds a flow of value into target; an equal one is not repeated.
func (b *Builder) bind(in uint32, target, value, typ string, at uint32) {
	if target == "" || strings.HasPrefix(target, Unknown) || value == "" && typ == "" {
		return
	}
	key := bindingKey{in, target, value, typ}
	if b.bound[key] {
		return
	}
	b.bound[key] = true
	b.Facts.Bindings = append(b.Facts.Bindings, &recountv1.Binding{
		In: in, Target: target, Value: value, Type: typ, At: b.Place(at),
	})
}

// AddImport adds an import.
func (b *Builder) AddImport(in uint32, path string, at uint32) *recountv1.Import {
	i := &recountv1.Import{Path: Clip(path, MaxValue), In: in, At: b.Place(at)}
	b.Facts.Imports = append(b.Facts.Imports, i)
	return i
}

// AddRoute adds a route or a group.
func (b *Builder) AddRoute(r *recountv1.RouteFact, at uint32) {
	r.At = b.Place(at)
	r.Pattern = Clip(r.Pattern, MaxValue)
	b.Facts.Routes = append(b.Facts.Routes, r)
}

// UniqueRoutes removes route facts from index from on that say the same as one before them, as of a
// call that is read in each round of a loop on which it does not depend.
func (b *Builder) UniqueRoutes(from int) {
	all := b.Facts.Routes
	kept := all[:from]
	for _, r := range all[from:] {
		if !slices.ContainsFunc(kept[from:], func(k *recountv1.RouteFact) bool { return proto.Equal(k, r) }) {
			kept = append(kept, r)
		}
	}
	b.Facts.Routes = kept
}

// Sort sorts the facts into source order.
func (b *Builder) Sort() {
	slices.SortStableFunc(b.Facts.References, func(x, y *recountv1.Reference) int { return ComparePlaces(x.At, y.At) })
	slices.SortStableFunc(b.Facts.Imports, func(x, y *recountv1.Import) int { return ComparePlaces(x.At, y.At) })
	slices.SortStableFunc(b.Facts.Bindings, func(x, y *recountv1.Binding) int { return ComparePlaces(x.At, y.At) })
	slices.SortStableFunc(b.Facts.Routes, func(x, y *recountv1.RouteFact) int { return ComparePlaces(x.At, y.At) })
}

func ComparePlaces(a, b *recountv1.Place) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}
