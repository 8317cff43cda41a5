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
	name string // of an attribute, or the index
	at   int    // where it begins in the text
}

func parsePath(text string) path {
	p := path{text: text}
	i := strings.IndexAny(text, ".([")
	if i < 0 || text[0] == '"' {
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
			i += 2
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

// base is the path without its last step.
func (p path) base() path {
	last := len(p.steps) - 1
	return path{text: p.text[:p.steps[last].at], head: p.head, steps: p.steps[:last]}
}

// plain reports whether the path is a single name.
func (p path) plain() bool { return len(p.steps) == 0 }
