package extract

import (
	"bytes"
	"strings"
)

// tree is a parsed file. Its nodes lie in one slice in source order, a node before
// its children, so that walking it is counting; ref names one. The root is 0, and
// none stands for no node: every method takes it and answers with nothing.
type tree struct {
	*grammar
	src   []byte
	nodes []node
}

type ref int32

const none ref = -1

// kind is the grammar's name of n: "call", or for a token its text: "async".
func (t *tree) kind(n ref) string {
	if n == none {
		return ""
	}
	return t.kindName(t.nodes[n].kind)
}

func (g *grammar) kindName(kind uint16) string {
	if int(kind) < len(g.kinds) {
		return g.kinds[kind]
	}
	return "ERROR"
}

func (t *tree) named(n ref) bool { return n != none && t.nodes[n].flags&flagNamed != 0 }

// text is the source of n.
func (t *tree) text(n ref) string {
	if n == none {
		return ""
	}
	return string(t.src[t.nodes[n].start:t.nodes[n].end])
}

func (t *tree) start(n ref) uint32 { return t.nodes[n].start }
func (t *tree) end(n ref) uint32   { return t.nodes[n].end }

// parent of n; none above the root.
func (t *tree) parent(n ref) ref {
	if n <= 0 {
		return none
	}
	return ref(t.nodes[n].parent)
}

// first is n's first child, next the child behind n: together they loop over
// children, tokens and comments included.
func (t *tree) first(n ref) ref {
	if n == none || t.nodes[n].next == uint32(n)+1 {
		return none
	}
	return n + 1
}

func (t *tree) next(n ref) ref {
	if n <= 0 || t.nodes[n].next >= t.nodes[t.nodes[n].parent].next {
		return none
	}
	return ref(t.nodes[n].next)
}

// children yields the named children of n that are no comments.
func (t *tree) children(n ref) func(yield func(ref) bool) {
	return func(yield func(ref) bool) {
		for c := t.first(n); c != none; c = t.next(c) {
			if f := t.nodes[c].flags; f&flagNamed != 0 && f&flagExtra == 0 && !yield(c) {
				return
			}
		}
	}
}

// child is n's i-th named child that is no comment.
func (t *tree) child(n ref, i int) ref {
	for c := range t.children(n) {
		if i == 0 {
			return c
		}
		i--
	}
	return none
}

// field is n's first child in a field of the grammar: field(call, "function").
func (t *tree) field(n ref, name string) ref {
	for c := t.first(n); c != none; c = t.next(c) {
		if f := t.nodes[c].field; f != 0 && t.fields[f] == name {
			return c
		}
	}
	return none
}

// fieldOf is the name of the field that n fills in its parent.
func (t *tree) fieldOf(n ref) string {
	if n == none {
		return ""
	}
	return t.fields[t.nodes[n].field]
}

// firstOf is n's first child of a kind, tokens included.
func (t *tree) firstOf(n ref, kind string) ref {
	for c := t.first(n); c != none; c = t.next(c) {
		if t.kind(c) == kind {
			return c
		}
	}
	return none
}

// has reports whether a child of n is of a kind: has(function, "async").
func (t *tree) has(n ref, kind string) bool { return t.firstOf(n, kind) != none }

// before is the sibling in front of n, comments and tokens included.
func (t *tree) before(n ref) ref {
	p := t.parent(n)
	if p == none || n-1 == p {
		return none
	}
	m := n - 1 // the last node below it
	for t.parent(m) != p {
		m = t.parent(m)
	}
	return m
}

// lineEnd is the end of the line on which n begins, or of n if that comes first.
func (t *tree) lineEnd(n ref) uint32 {
	end := t.end(n)
	if i := bytes.IndexByte(t.src[t.start(n):end], '\n'); i >= 0 {
		return t.start(n) + uint32(i)
	}
	return end
}

// commentBefore is the documentation in front of n: the block comment, or the line
// comments, that end on the line above it (or on its own).
func (t *tree) commentBefore(n ref) string {
	var from, to uint32
	at := t.start(n)
	for c := t.before(n); c != none && strings.Contains(t.kind(c), "comment"); c = t.before(c) {
		gap := t.src[min(t.end(c), at):at]
		block := bytes.HasPrefix(t.src[t.start(c):], []byte("/*"))
		lines := bytes.Count(gap, []byte("\n"))
		if t.end(c) > t.start(c) && t.src[t.end(c)-1] == '\n' {
			lines++ // some grammars take the line's end into the comment
		}
		if len(bytes.TrimSpace(gap)) > 0 || lines > 1 || block && to > 0 || !t.startsLine(c) {
			break
		}
		if from = t.start(c); to == 0 {
			to = t.end(c)
		}
		if at = from; block {
			break
		}
	}
	return cleanDoc(string(t.src[from:to]))
}

// startsLine reports whether nothing stands in front of n on its line.
func (t *tree) startsLine(n ref) bool {
	line := t.src[:t.start(n)]
	return len(bytes.TrimSpace(line[bytes.LastIndexByte(line, '\n')+1:])) == 0
}

// problem is the first syntax error: where it is, and in words; none leaves near empty.
func (t *tree) problem() (at uint32, near string) {
	for i, n := range t.nodes {
		switch {
		case n.flags&flagMissing != 0:
			return n.start, "missing " + t.kind(ref(i))
		case n.flags&flagError != 0:
			return n.start, "near " + quoteShort(t.src[n.start:n.end])
		}
	}
	return 0, ""
}
