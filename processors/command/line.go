package command

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// These limits bound the cost of one command and the size of its record. Only generated text
// reaches them. What exceeds them is omitted from the record's structure; Intent.command always
// holds the whole command.
const (
	maxParse     = 32 << 10 // bytes that the grammar-based parser accepts; longer commands are scanned tolerantly
	maxScan      = 64 << 10 // bytes that are read at all
	maxItems     = 1024     // pieces of a command line
	maxTokenText = 256      // bytes of one token's text
	maxResources = 128
	maxPrograms  = 64
	maxTemplate  = 4 << 10
)

// item is one piece of a command line. Items are in source order.
type item struct {
	// kind is the item's kind in Intent.tokens. Items of unspecified kind (closing brackets) appear
	// only in the template.
	kind recountv1.TokenKind
	// text is the item as written. value is what the shell would pass on, without quotes and with
	// expansions as written.
	text, value string
	offset      int
	// quoted means that a part was in quotes, dynamic that it contains an expansion, so that its
	// value is unknown, and glob that it contains an unquoted pattern.
	quoted, dynamic, glob bool
	// subst means that it contains substitutions, whose own items follow it.
	subst bool
	// again means that it continues a run of arguments in the same role.
	again bool
	// place is the item's text in the template; if empty, the item is shown as written.
	place string
}

// line is a command line split by one of the two parsers (syntax.go, tolerant.go), before anything
// is known about programs.
type line struct {
	src   string
	items []item
	calls []call
	// redirs are the redirections to and from files.
	redirs []redirection
	// complexity is the number of commands, operators, redirections and substitutions.
	complexity int
}

// call is a simple command. words are indexes into items.
type call struct {
	words []int
	// inner means that the call is in a substitution, so that only its output matters.
	inner bool
}

type redirection struct {
	item   int
	target item
	access recountv1.Access
}

// clone returns a copy that a reader may modify.
func (l *line) clone() *line {
	c := *l
	c.items, c.redirs = slices.Clone(l.items), slices.Clone(l.redirs)
	return &c
}

// full reports whether the line has the maximum number of items.
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

// tokens returns the structure in the form stored in the record.
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
		t.Kind, t.Text, t.Offset = it.kind, schemas.Clip(it.text, maxTokenText), uint32(it.offset)
		out = append(out, t)
	}
	return out
}

// hasGlob reports whether unquoted text contains a file name pattern.
func hasGlob(s string) bool {
	return strings.ContainsAny(s, "*?[") || strings.Contains(s, "{") && strings.ContainsAny(s, ",.") && strings.Contains(s, "}")
}
