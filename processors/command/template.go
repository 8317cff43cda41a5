package command

import (
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// closers are the keywords that end a list of commands, as ";" does.
var closers = map[string]bool{
	"then": true, "elif": true, "else": true, "fi": true, "do": true, "done": true, "}": true,
}

// template returns the line with every value replaced by its placeholder, so that commands that
// differ only in values are equal: `git commit -m <str>`, `tar -xzf <path> -C <path>`, `find <path>
// -name <str> | xargs wc -l`. A run of arguments in the same role becomes one: `rm <path>` for any
// number of paths.
func (l *line) template() string {
	var b strings.Builder
	b.Grow(len(l.src) + 16)
	glued := true // no space before the next item
	previous, after := "", recountv1.TokenKind_TOKEN_KIND_KEYWORD
	for i := range l.items {
		it := &l.items[i]
		text := it.place
		switch {
		case text != "" || it.subst:
		case it.kind == kindArgument:
			text = shape(it)
		default:
			text = it.text
		}
		if text == "" {
			continue
		}
		if it.again && text == previous {
			continue
		}
		previous = text
		if closers[text] && it.kind == recountv1.TokenKind_TOKEN_KIND_KEYWORD &&
			after != recountv1.TokenKind_TOKEN_KIND_KEYWORD && after != recountv1.TokenKind_TOKEN_KIND_SEQUENCE {
			b.WriteByte(';')
		}
		after = it.kind
		closing := it.kind == recountv1.TokenKind_TOKEN_KIND_UNSPECIFIED
		if !glued && !closing && !(it.kind == recountv1.TokenKind_TOKEN_KIND_SEQUENCE && text == ";") {
			b.WriteByte(' ')
		}
		b.WriteString(text)
		// The start of a substitution, and NAME= before one, are joined to what follows.
		glued = it.kind == recountv1.TokenKind_TOKEN_KIND_SUBSTITUTION || it.subst && it.kind != recountv1.TokenKind_TOKEN_KIND_REDIRECTION
		if b.Len() >= maxTemplate {
			break
		}
	}
	return schemas.Clip(b.String(), maxTemplate)
}
