package extract

import (
	"bytes"
	"fmt"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxParsed is the largest file that tree-sitter is given.
const maxParsed = 1 << 20

// A file of at least minifiedSize bytes whose lines are longer than minifiedLine on
// average was written by a minifier.
const (
	minifiedSize = 8 << 10
	minifiedLine = 400
)

// file is a parsed file whose facts are being written. An extractor walks the tree
// once, in source order, and calls declare, refer, bind, addImport and addRoute; the
// `in` of each is what declare returned for the enclosing declaration, 0 at the top.
type file struct {
	*tree
	*builder
	// inline are the imports without a name of their own, by the node that makes them.
	inline map[ref]string
	names
}

// parsed makes a Language's Extract of a grammar and of what walks its trees: it
// parses, keeps the limits, and says what is wrong with the file.
func parsed(load func() *grammar, walk func(f *file)) func([]byte, *recountv1.FileFacts) {
	return repaired(load, nil, walk)
}

// repaired is parsed for a grammar that does not know all of its language: where
// there are syntax errors, repair rewrites what it knows to be right without moving
// anything, and the tree with fewer errors is taken. The facts quote the file as it is.
func repaired(load func() *grammar, repair func([]byte) []byte, walk func(f *file)) func([]byte, *recountv1.FileFacts) {
	return parsedBy(load, func(g *grammar, src []byte) ([]node, bool, error) {
		nodes, cut, err := g.parse(src)
		if err == nil && repair != nil && mistakes(nodes) > 0 {
			if again, cutAgain, err := g.parse(repair(src)); err == nil && mistakes(again) < mistakes(nodes) {
				return again, cutAgain, nil
			}
		}
		return nodes, cut, err
	}, walk)
}

// parsedBy is parsed with a way of its own to make the tree.
func parsedBy(load func() *grammar, parse func(g *grammar, src []byte) ([]node, bool, error), walk func(f *file)) func([]byte, *recountv1.FileFacts) {
	return func(content []byte, facts *recountv1.FileFacts) {
		if len(content) > maxParsed {
			facts.Skipped = fmt.Sprintf("large: %d bytes, at most %d are parsed", len(content), maxParsed)
			return
		}
		src, bad := validText(content)
		facts.Generated = isGenerated(src)
		g := load()
		nodes, cut, err := parse(g, src)
		if err != nil {
			partial(facts, nil, err.Error())
			return
		}
		f := &file{tree: &tree{g, src, nodes}, builder: newBuilder(facts, src), inline: map[ref]string{}, names: newNames()}
		if at, near := f.problem(); near != "" {
			partial(facts, f.place(at), "syntax error "+near)
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

// mistakes is how many bytes a tree has in syntax errors, and one for each token
// that is missing.
func mistakes(nodes []node) (n int) {
	for i := 0; i < len(nodes); {
		switch e := nodes[i]; {
		case e.flags&flagMissing != 0:
			n++
		case e.flags&flagError != 0:
			n += int(e.end-e.start) + 1
			i = int(e.next)
			continue
		}
		i++
	}
	return n
}

// unminified is extract for files that people wrote: of what a minifier leaves, the
// names say nothing.
func unminified(extract func([]byte, *recountv1.FileFacts)) func([]byte, *recountv1.FileFacts) {
	return func(content []byte, facts *recountv1.FileFacts) {
		lines := bytes.Count(content, []byte("\n")) + 1
		if len(content) >= minifiedSize && len(content)/lines > minifiedLine {
			facts.Skipped = fmt.Sprintf("minified: %d bytes in %d lines", len(content), lines)
			return
		}
		extract(content, facts)
	}
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

// declare is builder.declare of d.node.
func (f *file) declare(d declaration) (uint32, *recountv1.Declaration) {
	d.start, d.end, d.from = f.start(d.node), f.end(d.node), f.start(d.node)
	if d.whole > 0 {
		d.from = f.start(d.whole)
	}
	return f.builder.declare(d)
}

// refer is builder.refer at a node.
func (f *file) refer(edge recountv1.EdgeKind, in uint32, path string, at ref) *recountv1.Reference {
	return f.builder.refer(edge, in, path, f.start(at))
}

// bind is builder.bind at a node.
func (f *file) bind(in uint32, target, value, typ string, at ref) {
	f.builder.bind(in, target, value, typ, f.start(at))
}

// addImport is builder.addImport at a node.
func (f *file) addImport(in uint32, path string, at ref) *recountv1.Import {
	return f.builder.addImport(in, path, f.start(at))
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

// addRoute is builder.addRoute at a node.
func (f *file) addRoute(r *recountv1.RouteFact, at ref) { f.builder.addRoute(r, f.start(at)) }
