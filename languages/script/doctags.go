package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
)

// docTag is a tag of a documentation comment: @param {Type} name what it is for.
type docTag struct{ name, typ, rest string }

// docTags returns the tags of a comment. The rest of one is what follows its type on the line.
func docTags(doc string) (all []docTag) {
	for {
		i := strings.IndexByte(doc, '@')
		if i < 0 {
			return all
		}
		begins := i == 0 || strings.IndexByte(" \t\n*", doc[i-1]) >= 0
		if doc = doc[i+1:]; !begins {
			continue
		}
		n := 0
		for n < len(doc) && isWordByte(doc[n]) {
			n++
		}
		t := docTag{name: doc[:n]}
		doc = doc[n:]
		if typ := strings.TrimLeft(doc, " \t\n"); strings.HasPrefix(typ, "{") {
			if end := closing(typ); end > 0 {
				t.typ, doc = typ[1:end], strings.TrimLeft(typ[end+1:], " \t\n")
			}
		}
		line, _, _ := strings.Cut(doc, "\n")
		t.rest = strings.TrimSpace(line)
		all = append(all, t)
	}
}

// closing returns the index of the bracket that closes the one with which a text begins, 0 if there is none.
func closing(text string) int {
	depth := 0
	for i := range len(text) {
		switch text[i] {
		case '{', '(', '[':
			depth++
		case '}', ')', ']':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return 0
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// tagName returns the name with which the rest of a tag begins: options.size of `[options.size=1] how large`.
func tagName(rest string) string {
	rest = strings.TrimLeft(rest, "[ ")
	n := 0
	for n < len(rest) && (isWordByte(rest[n]) || rest[n] == '.' || strings.HasPrefix(rest[n:], "[]") || n > 0 && rest[n] == ']' && rest[n-1] == '[') {
		n++
	}
	return rest[:n]
}

// docMember is a parameter, or a property of a type, that tags describe, with the types of its values.
type docMember struct {
	name  string
	types []string
}

// addMember adds what a tag says of a parameter or of a part of one, as options.size or users[].name.
func addMember(all []docMember, name string, types []string) []docMember {
	name, part, _ := strings.Cut(name, ".")
	for part != "" {
		i := strings.LastIndexByte(part, '.')
		key, list := strings.CutSuffix(part[i+1:], "[]")
		if list {
			types = extract.ElementTypes(types, "")
		}
		types, part = extract.ElementTypes(types, key), part[:max(i, 0)]
	}
	name, list := strings.CutSuffix(name, "[]")
	if list {
		types = extract.ElementTypes(types, "")
	}
	for i := range all {
		if all[i].name == name {
			all[i].types = append(all[i].types, types...)
			return all
		}
	}
	return append(all, docMember{name, types})
}
