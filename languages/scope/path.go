package scope

import "strings"

// path is an access path, parsed (see Reference in code.proto).
type path struct {
	text  string
	head  string
	steps []step
}

// step is what a path does with the value before it.
type step struct {
	op   byte   // '.', '(' or '['
	name string // of an attribute, the index, or what a call hands on: "0,1"
	at   int    // where it begins in the text
}

func parsePath(text string) path {
	p := path{text: text}
	i := headEnd(text)
	if i < 0 {
		p.head = text
		return p
	}
	p.head = text[:i]
	if p.head == "" { // no name begins with a mark: nothing is known
		return path{text: text, head: "?"}
	}
	for i < len(text) {
		s := step{op: text[i], at: i}
		rest := text[i+1:]
		switch s.op {
		case '.':
			n := strings.IndexAny(rest, ".([")
			if n < 0 {
				n = len(rest)
			}
			s.name = rest[:n]
			i += 1 + n
		case '(':
			n := strings.IndexByte(rest, ')')
			if n < 0 {
				n = len(rest)
			}
			s.name = rest[:n]
			i += n + 2
		case '[':
			n := strings.IndexByte(rest, ']')
			if n < 0 {
				n = len(rest)
			}
			s.name = rest[:n]
			i += n + 2
		default: // a name right behind a bracket: no path that an extractor writes
			return path{text: text, head: "?"}
		}
		p.steps = append(p.steps, s)
	}
	return p
}

// headEnd is where a path's first name ends, -1 where that is all of it. A type in
// angle brackets, <a.List<T[]>>, and the one behind "new " are one name.
func headEnd(text string) int {
	switch {
	case strings.HasPrefix(text, `"`):
		return -1
	case strings.HasPrefix(text, "new "):
		return strings.IndexByte(text, '(')
	case strings.HasPrefix(text, "<"):
		depth := 0
		for i := range len(text) {
			switch text[i] {
			case '<':
				depth++
			case '>':
				if depth--; depth == 0 {
					if i+1 == len(text) {
						return -1
					}
					return i + 1
				}
			}
		}
		return -1
	}
	return strings.IndexAny(text, ".([")
}

// base is the path without its last step.
func (p path) base() path {
	last := len(p.steps) - 1
	return path{text: p.text[:p.steps[last].at], head: p.head, steps: p.steps[:last]}
}

// plain reports whether the path is a single name.
func (p path) plain() bool { return len(p.steps) == 0 }
