package secrets

// triggers finds the occurrences of many literals in a text, in one pass and ignoring the case of
// ASCII letters. It makes some hundred rules cost almost nothing for a typical command. It is built
// in microseconds, because a recorder runs only briefly: each literal is found by a hash of its
// first three bytes.
type triggers struct {
	first [1 << (3 * foldBits)]uint16 // the first literal of each hash, plus one
	lits  []trigger
}

type trigger struct {
	text string // in lower case
	kind triggerKind
	id   uint16 // its index in the kind
	next uint16 // the next one with the same hash, plus one
}

type triggerKind uint8

const (
	onFormat  triggerKind = iota // a format of tokens.go
	onPlace                      // a place of places.go
	onName                       // the end of a name that holds secrets
	onProgram                    // a program of programs.go
	onExtra                      // a rule of the deployment
)

// foldBits is the number of bits of a byte in the hash, which identify a letter in either case.
const foldBits = 5

const foldMask = 1<<(3*foldBits) - 1

// add registers a literal of at least three bytes.
func (t *triggers) add(text string, kind triggerKind, id int) {
	h := uint32(0)
	for i := range 3 {
		h = h<<foldBits | uint32(text[i]&(1<<foldBits-1))
	}
	t.lits = append(t.lits, trigger{text: text, kind: kind, id: uint16(id), next: t.first[h&foldMask]})
	t.first[h&foldMask] = uint16(len(t.lits))
}

// each calls hit for every occurrence of every literal, with its start.
func (t *triggers) each(s string, hit func(at int, l *trigger)) {
	h := uint32(0)
	for i := range len(s) {
		h = (h<<foldBits | uint32(s[i]&(1<<foldBits-1))) & foldMask
		if next := t.first[h]; next != 0 && i >= 2 {
			t.matchAt(s, i-2, next, hit)
		}
	}
}

// any reports whether one of the literals occurs in s. For most texts none does, and nothing else
// is checked.
func (t *triggers) any(s string) bool {
	h := uint32(0)
	for i := range len(s) {
		h = (h<<foldBits | uint32(s[i]&(1<<foldBits-1))) & foldMask
		if t.first[h] == 0 || i < 2 {
			continue
		}
		for next := t.first[h]; next != 0; next = t.lits[next-1].next {
			if hasFold(s[i-2:], t.lits[next-1].text) {
				return true
			}
		}
	}
	return false
}

func (t *triggers) matchAt(s string, start int, next uint16, hit func(at int, l *trigger)) {
	for next != 0 {
		l := &t.lits[next-1]
		if hasFold(s[start:], l.text) {
			hit(start, l)
		}
		next = l.next
	}
}

// hasFold reports whether s begins with prefix, which is in lower case.
func hasFold(s, prefix string) bool {
	if len(s) < len(prefix) {
		return false
	}
	for i := range len(prefix) {
		if lower(s[i]) != prefix[i] {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
