package command

import (
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// The bounds on what one command may cost and how much a record may hold. They
// only bite on generated text; what lies beyond is left out of the record's
// structure, while Intent.command has the whole.
const (
	maxParse     = 32 << 10 // bytes given to the real parser; longer ones are read tolerantly
	maxScan      = 64 << 10 // bytes read at all
	maxItems     = 1024     // pieces of a command line
	maxTokenText = 256      // bytes of one token's text
	maxResources = 128
	maxPrograms  = 64
	maxTemplate  = 4 << 10
)

// item is one piece of a command line. Pieces stand in source order.
type item struct {
	// kind is what becomes of the piece in Intent.tokens; unspecified pieces
	// (closing brackets) only show in the template.
	kind recountv1.TokenKind
	// text is the piece as written; value is what the shell would pass on, with
	// quotes removed and expansions as written.
	text, value string
	offset      int
	// quoted: some of it was in quotes. dynamic: it holds an expansion, so that
	// its value is not known. glob: it holds an unquoted pattern.
	quoted, dynamic, glob bool
	// subst: it holds substitutions, whose own pieces follow it.
	subst bool
	// again: it is one more of a run of arguments in the same role.
	again bool
	// place is how the template shows the piece; empty: as written.
	place string
}

// line is a command line taken apart by one of the two readers (syntax.go,
// tolerant.go), before anything is known about programs.
type line struct {
	src   string
	items []item
	calls []call
	// redirs are the indexes of redirections with a file, and their direction.
	redirs []redirection
	// complexity counts commands, operators, redirections and substitutions.
	complexity int
}

// call is a simple command: the indexes of its words in items.
type call struct {
	words []int
	// inner: it stands in a substitution, so that its output is what counts.
	inner bool
}

type redirection struct {
	item   int
	target item
	access recountv1.Access
}

// clone is a line of its own, for a reader, which writes to it.
func (l *line) clone() *line {
	c := *l
	c.items, c.redirs = slices.Clone(l.items), slices.Clone(l.redirs)
	return &c
}

// full reports whether the line has as many pieces as it may have.
func (l *line) full() bool { return len(l.items) >= maxItems }

func (l *line) add(it item) int {
	if l.full() {
		return -1
	}
	l.items = append(l.items, it)
	return len(l.items) - 1
}

func (l *line) op(kind recountv1.TokenKind, text string, offset int) {
	l.complexity++
	l.add(item{kind: kind, text: text, value: text, offset: offset})
}

// tokens is the structure as the record holds it.
func (l *line) tokens() []*recountv1.Token {
	n := 0
	for i := range l.items {
		if l.items[i].kind != recountv1.TokenKind_TOKEN_KIND_UNSPECIFIED {
			n++
		}
	}
	room := make([]recountv1.Token, n)
	out := make([]*recountv1.Token, 0, n)
	for i := range l.items {
		it := &l.items[i]
		if it.kind == recountv1.TokenKind_TOKEN_KIND_UNSPECIFIED {
			continue
		}
		t := &room[len(out)]
		t.Kind, t.Text, t.Offset = it.kind, clip(it.text, maxTokenText), uint32(it.offset)
		out = append(out, t)
	}
	return out
}

// clip cuts s to at most n bytes, at the start of a rune.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// hasGlob reports whether unquoted text holds a file name pattern.
func hasGlob(s string) bool {
	return strings.ContainsAny(s, "*?[") || strings.Contains(s, "{") && strings.ContainsAny(s, ",.") && strings.Contains(s, "}")
}
