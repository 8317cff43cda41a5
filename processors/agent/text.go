package agent

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxTitle limits the length of a title, in bytes.
const maxTitle = 160

// paragraphs joins texts with a blank line between them, without blank texts and duplicates.
func paragraphs(texts ...string) string {
	var all []string
next:
	for _, t := range texts {
		if strings.TrimSpace(t) == "" {
			continue
		}
		for _, have := range all {
			if have == t {
				continue next
			}
		}
		all = append(all, t)
	}
	if len(all) == 1 {
		return all[0]
	}
	return strings.Join(all, "\n\n")
}

// title returns the first meaningful line, shortened: not a line that is only a tag or opens a code
// block, unless there is no other.
func title(text string) string {
	text = strings.TrimSpace(text)
	line, rest, _ := strings.Cut(text, "\n")
	for tries := 0; tries < 4 && rest != "" && isMarkup(strings.TrimSpace(line)); tries++ {
		line, rest, _ = strings.Cut(strings.TrimLeft(rest, " \t\r\n"), "\n")
	}
	line = strings.TrimSpace(line)
	if len(line) > maxTitle {
		line = schemas.Clip(line, maxTitle-len("…")) + "…"
	}
	for i := range len(line) {
		if line[i] < ' ' || line[i] == 0x7F {
			return strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7F {
					return ' '
				}
				return r
			}, line)
		}
	}
	return line
}

// isMarkup reports whether a line is a single tag, such as <issue>, or opens a code block.
func isMarkup(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "<") && strings.HasSuffix(line, ">") && !strings.ContainsAny(line, " \t")
}

// backToRune returns the start of the rune at or before i.
func backToRune(s string, i int) int {
	for i > 0 && i < len(s) && !utf8.RuneStart(s[i]) {
		i--
	}
	return i
}

// contentHash returns xxh3 over the text (white space folded, in lower case), the type and the
// memory kind.
func contentHash(o *recountv1.Object) uint64 {
	if o.Type == recountv1.ObjectType_OBJECT_TYPE_RECALL {
		return 0 // equal recalls are not duplicates of each other
	}
	b := appendFolded(make([]byte, 0, len(o.Text)+16), o.Text)
	return xxh3.Hash(append(b, 0, byte(o.Type), byte(o.Memory)))
}

// appendFolded appends s in lower case, without surrounding white space and with one space for each
// run of white space.
func appendFolded(b []byte, s string) []byte {
	from, space := len(b), false
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			i++
			if c == ' ' || c >= '\t' && c <= '\r' {
				space = len(b) > from
				continue
			}
			if space {
				b, space = append(b, ' '), false
			}
			if c >= 'A' && c <= 'Z' {
				c += 'a' - 'A'
			}
			b = append(b, c)
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		i += n
		if unicode.IsSpace(r) {
			space = len(b) > from
			continue
		}
		if space {
			b, space = append(b, ' '), false
		}
		b = utf8.AppendRune(b, unicode.ToLower(r))
	}
	return b
}

// fold returns the result of appendFolded as a string.
func fold(s string) string { return string(appendFolded(nil, s)) }
