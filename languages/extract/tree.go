package extract

import (
	"bytes"
	"strings"
)

// Tree is a parsed file. Its nodes are in one slice in source order, each before its children, so
// that walking it is counting. A Ref is an index in the slice. The root is 0; None stands for no
// node, and every method except Start and End accepts it and returns a zero value.
type Tree struct {
	*Grammar
	Src   []byte
	Nodes []Node
}

type Ref int32

const None Ref = -1

// Kind returns the grammar's name of n's kind, such as "call"; for a token it is the text: "async".
func (t *Tree) Kind(n Ref) string {
	if n == None {
		return ""
	}
	return t.KindName(t.Nodes[n].Kind)
}

func (g *Grammar) KindName(kind uint16) string {
	if int(kind) < len(g.kinds) {
		return g.kinds[kind]
	}
	return "ERROR"
}

func (t *Tree) Named(n Ref) bool { return n != None && t.Nodes[n].Flags&flagNamed != 0 }

// Text returns the source of n.
func (t *Tree) Text(n Ref) string {
	if n == None {
		return ""
	}
	return string(t.Src[t.Nodes[n].Start:t.Nodes[n].End])
}

func (t *Tree) Start(n Ref) uint32 { return t.Nodes[n].Start }
func (t *Tree) End(n Ref) uint32   { return t.Nodes[n].End }

// Parent returns the parent of n; None for the root.
func (t *Tree) Parent(n Ref) Ref {
	if n <= 0 {
		return None
	}
	return Ref(t.Nodes[n].Parent)
}

// First returns n's first child, and Next the next sibling: together they iterate over all
// children, including tokens and comments.
func (t *Tree) First(n Ref) Ref {
	if n == None || t.Nodes[n].Next == uint32(n)+1 {
		return None
	}
	return n + 1
}

func (t *Tree) Next(n Ref) Ref {
	if n <= 0 || t.Nodes[n].Next >= t.Nodes[t.Nodes[n].Parent].Next {
		return None
	}
	return Ref(t.Nodes[n].Next)
}

// Children yields the named children of n, without comments.
func (t *Tree) Children(n Ref) func(yield func(Ref) bool) {
	return func(yield func(Ref) bool) {
		for c := t.First(n); c != None; c = t.Next(c) {
			if f := t.Nodes[c].Flags; f&flagNamed != 0 && f&flagExtra == 0 && !yield(c) {
				return
			}
		}
	}
}

// Child returns n's i-th named child that is not a comment.
func (t *Tree) Child(n Ref, i int) Ref {
	for c := range t.Children(n) {
		if i == 0 {
			return c
		}
		i--
	}
	return None
}

// Field returns n's first child in a field of the grammar: Field(call, "function").
func (t *Tree) Field(n Ref, name string) Ref {
	for c := t.First(n); c != None; c = t.Next(c) {
		if f := t.Nodes[c].field; f != 0 && t.fields[f] == name {
			return c
		}
	}
	return None
}

// FieldOf returns the name of the field of its parent that n is in.
func (t *Tree) FieldOf(n Ref) string {
	if n == None {
		return ""
	}
	return t.fields[t.Nodes[n].field]
}

// FirstOf returns n's first child of a kind, including tokens.
func (t *Tree) FirstOf(n Ref, kind string) Ref {
	for c := t.First(n); c != None; c = t.Next(c) {
		if t.Kind(c) == kind {
			return c
		}
	}
	return None
}

// Has reports whether n has a child of a kind: Has(function, "async").
func (t *Tree) Has(n Ref, kind string) bool { return t.FirstOf(n, kind) != None }

// Before returns the sibling before n, including comments and tokens.
func (t *Tree) Before(n Ref) Ref {
	p := t.Parent(n)
	if p == None || n-1 == p {
		return None
	}
	m := n - 1 // the last node below the sibling
	for t.Parent(m) != p {
		m = t.Parent(m)
	}
	return m
}

// LineEnd returns the end of the line on which n begins, or of n if that comes first.
func (t *Tree) LineEnd(n Ref) uint32 {
	end := t.End(n)
	if i := bytes.IndexByte(t.Src[t.Start(n):end], '\n'); i >= 0 {
		return t.Start(n) + uint32(i)
	}
	return end
}

// CommentBefore returns the documentation before n: the block comment or the line comments
// that end on the line above it, or on its own line.
func (t *Tree) CommentBefore(n Ref) string {
	var from, to uint32
	at := t.Start(n)
	for c := t.Before(n); c != None && strings.Contains(t.Kind(c), "comment"); c = t.Before(c) {
		gap := t.Src[min(t.End(c), at):at]
		block := bytes.HasPrefix(t.Src[t.Start(c):], []byte("/*"))
		lines := bytes.Count(gap, []byte("\n"))
		if t.End(c) > t.Start(c) && t.Src[t.End(c)-1] == '\n' {
			lines++ // some grammars include the line's end in the comment
		}
		if len(bytes.TrimSpace(gap)) > 0 || lines > 1 || block && to > 0 || !t.startsLine(c) {
			break
		}
		if from = t.Start(c); to == 0 {
			to = t.End(c)
		}
		if at = from; block {
			break
		}
	}
	return CleanDoc(string(t.Src[from:to]))
}

// startsLine reports whether n is the first thing on its line.
func (t *Tree) startsLine(n Ref) bool {
	line := t.Src[:t.Start(n)]
	return len(bytes.TrimSpace(line[bytes.LastIndexByte(line, '\n')+1:])) == 0
}

// problem returns the position of the first syntax error and the text near it, "" if there is none.
func (t *Tree) problem() (at uint32, near string) {
	for i, n := range t.Nodes {
		switch {
		case n.Flags&FlagMissing != 0:
			return n.Start, "missing " + t.Kind(Ref(i))
		case n.Flags&FlagError != 0:
			return n.Start, "near " + QuoteShort(t.Src[n.Start:n.End])
		}
	}
	return 0, ""
}

func FirstRef(a, b Ref) Ref {
	if a != None {
		return a
	}
	return b
}
