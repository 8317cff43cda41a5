package scope

import "strings"

// Path is a parsed access path (see Reference in code.proto).
type Path struct {
	Text  string
	Head  string
	Steps []Step
}

// Step is one operation of a path on the value before it.
type Step struct {
	Op   byte   // '.', '(' or '['
	Name string // the name of an attribute, an index, or which argument of a call is passed on: "0,1"
	At   int    // its offset in the text
}

// ParsePath parses an access path. The head of one that it cannot parse is "?".
func ParsePath(text string) Path {
	p := Path{Text: text}
	i := headEnd(text)
	if i < 0 {
		p.Head = text
		return p
	}
	p.Head = text[:i]
	if p.Head == "" { // a path never begins with an operator, so nothing is known of this one
		return Path{Text: text, Head: "?"}
	}
	for i < len(text) {
		s := Step{Op: text[i], At: i}
		rest := text[i+1:]
		switch s.Op {
		case '.':
			n := strings.IndexAny(rest, ".([")
			if n < 0 {
				n = len(rest)
			}
			s.Name = rest[:n]
			i += 1 + n
		case '(':
			n := strings.IndexByte(rest, ')')
			if n < 0 {
				n = len(rest)
			}
			s.Name = rest[:n]
			i += n + 2
		case '[':
			n := strings.IndexByte(rest, ']')
			if n < 0 {
				n = len(rest)
			}
			s.Name = rest[:n]
			i += n + 2
		default: // a name directly behind a bracket: extractors write no such path
			return Path{Text: text, Head: "?"}
		}
		p.Steps = append(p.Steps, s)
	}
	return p
}

// headEnd returns where the first name of a path ends, -1 if it is the whole path. A type in
// angle brackets, as in <a.List<T[]>>, and the type after "new " count as one name.
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

// Base returns the path without its last step.
func (p Path) Base() Path { return p.First(len(p.Steps) - 1) }

// First returns the path with its first n steps only.
func (p Path) First(n int) Path {
	if n == len(p.Steps) {
		return p
	}
	return Path{Text: p.Text[:p.Steps[n].At], Head: p.Head, Steps: p.Steps[:n]}
}

// Last returns the name of the path's last attribute, "" if it ends otherwise.
func (p Path) Last() string {
	if len(p.Steps) == 0 || p.Steps[len(p.Steps)-1].Op != '.' {
		return ""
	}
	return p.Steps[len(p.Steps)-1].Name
}

// Plain reports whether the path is a single name.
func (p Path) Plain() bool { return len(p.Steps) == 0 }

// A step in brackets may say of what type the value before it is: x[as User] is a User, x[is isUser] what the function
// isUser says if it returns true, x[or User] a User if nothing else is known. Types have {} for [].
const (
	Cast    = "as "
	Guarded = "is "
	Perhaps = "or "
)

// Narrows returns how a step says the type of the value before it, and by what. It returns "" for other steps.
func (s Step) Narrows() (how, of string) {
	if s.Op != '[' || len(s.Name) < len(Cast) {
		return "", ""
	}
	switch how, of = s.Name[:len(Cast)], s.Name[len(Cast):]; how {
	case Cast, Guarded, Perhaps:
		return how, strings.NewReplacer("{", "[", "}", "]").Replace(of)
	}
	return "", ""
}
