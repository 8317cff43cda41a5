package extract

import (
	"bytes"
	"fmt"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// MaxParsed is the maximum size of a file that is parsed with tree-sitter, in bytes.
const MaxParsed = 1 << 20

// A file of at least minifiedSize bytes with an average line length above minifiedLine
// counts as minified.
const (
	minifiedSize = 8 << 10
	minifiedLine = 400
)

// File is a parsed file while its facts are written. An extractor walks the tree
// once, in source order, and calls Declare, Refer, Bind, AddImport and AddRoute; the
// `in` of each is what Declare returned for the enclosing declaration, 0 at the top.
type File struct {
	*Tree
	*Builder
	// Inlined has the names of imports without a name of their own, by their nodes.
	Inlined map[Ref]string
	Names
}

// Parsed returns a Language's Extract for a grammar and a function that walks its trees: it
// parses, enforces the limits, and reports problems of the file.
func Parsed(load func() *Grammar, walk func(f *File)) func([]byte, *recountv1.FileFacts) {
	return Repaired(load, nil, walk)
}

// Repaired is like Parsed for a grammar that lacks some syntax of its language: if there
// are syntax errors, repair rewrites valid syntax without moving anything, and the tree
// with fewer errors is used. The facts quote the original file.
func Repaired(load func() *Grammar, repair func([]byte) []byte, walk func(f *File)) func([]byte, *recountv1.FileFacts) {
	return ParsedBy(load, func(g *Grammar, src []byte) ([]Node, bool, error) {
		nodes, cut, err := g.Parse(src)
		if err == nil && repair != nil && Mistakes(nodes) > 0 {
			if again, cutAgain, err := g.Parse(repair(src)); err == nil && Mistakes(again) < Mistakes(nodes) {
				return again, cutAgain, nil
			}
		}
		return nodes, cut, err
	}, walk)
}

// ParsedBy is like Parsed, with parse to make the tree.
func ParsedBy(load func() *Grammar, parse func(g *Grammar, src []byte) ([]Node, bool, error), walk func(f *File)) func([]byte, *recountv1.FileFacts) {
	return func(content []byte, facts *recountv1.FileFacts) {
		if len(content) > MaxParsed {
			facts.Skipped = fmt.Sprintf("large: %d bytes, at most %d are parsed", len(content), MaxParsed)
			return
		}
		src, bad := ValidText(content)
		facts.Generated = IsGenerated(src)
		g := load()
		nodes, cut, err := parse(g, src)
		if err != nil {
			Partial(facts, nil, err.Error())
			return
		}
		f := &File{Tree: &Tree{g, src, nodes}, Builder: NewBuilder(facts, src), Inlined: map[Ref]string{}, Names: NewNames()}
		if at, near := f.problem(); near != "" {
			Partial(facts, f.Place(at), "syntax error "+near)
		}
		if cut {
			Partial(facts, nil, TooDeep)
		}
		if bad >= 0 {
			Partial(facts, f.Place(uint32(bad)), "a byte that is not UTF-8 text")
		}
		walk(f)
		f.Sort()
	}
}

// Mistakes returns the number of bytes in syntax errors of a tree, plus one for each missing
// token.
func Mistakes(nodes []Node) (n int) {
	for i := 0; i < len(nodes); {
		switch e := nodes[i]; {
		case e.Flags&FlagMissing != 0:
			n++
		case e.Flags&FlagError != 0:
			n += int(e.End-e.Start) + 1
			i = int(e.Next)
			continue
		}
		i++
	}
	return n
}

// Unminified wraps an extractor to skip minified files, whose names have no meaning.
func Unminified(extract func([]byte, *recountv1.FileFacts)) func([]byte, *recountv1.FileFacts) {
	return func(content []byte, facts *recountv1.FileFacts) {
		lines := bytes.Count(content, []byte("\n")) + 1
		if len(content) >= minifiedSize && len(content)/lines > minifiedLine {
			facts.Skipped = fmt.Sprintf("minified: %d bytes in %d lines", len(content), lines)
			return
		}
		extract(content, facts)
	}
}

// Partial marks the facts as partial; the first problem is kept.
func Partial(facts *recountv1.FileFacts, at *recountv1.Place, problem string) {
	facts.Partial = true
	if facts.Problem != "" {
		return
	}
	if at != nil {
		problem = fmt.Sprintf("line %d: %s", at.Line, problem)
	}
	facts.Problem = Clip(problem, MaxValue)
}

// Declare calls Builder.Declare for d.Node.
func (f *File) Declare(d Declaration) (uint32, *recountv1.Declaration) {
	d.Start, d.End, d.From = f.Start(d.Node), f.End(d.Node), f.Start(d.Node)
	if d.Whole > 0 {
		d.From = f.Start(d.Whole)
	}
	return f.Builder.Declare(d)
}

// Refer calls Builder.Refer at a node.
func (f *File) Refer(edge recountv1.EdgeKind, in uint32, path string, at Ref) *recountv1.Reference {
	return f.Builder.Refer(edge, in, path, f.Start(at))
}

// Bind calls Builder.Bind at a node.
func (f *File) Bind(in uint32, target, value, typ string, at Ref) {
	f.Builder.bind(in, target, value, typ, f.Start(at))
}

// AddImport calls Builder.AddImport at a node.
func (f *File) AddImport(in uint32, path string, at Ref) *recountv1.Import {
	return f.Builder.AddImport(in, path, f.Start(at))
}

// InlineImport adds the import at a node, once, and returns its name in access paths.
func (f *File) InlineImport(in uint32, path string, at Ref) string {
	if alias, ok := f.Inlined[at]; ok {
		return alias
	}
	i := f.AddImport(in, path, at)
	i.Alias = fmt.Sprintf("<import%d>", len(f.Inlined)+1)
	f.Inlined[at] = i.Alias
	return i.Alias
}

// AddRoute calls Builder.AddRoute at a node.
func (f *File) AddRoute(r *recountv1.RouteFact, at Ref) { f.Builder.AddRoute(r, f.Start(at)) }
