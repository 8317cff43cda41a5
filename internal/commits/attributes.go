package commits

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// attributes are the rules about linguist-vendored in a .gitattributes file, in order. Only the
// file in the root is read, without macros.
type attributes []attribute

type attribute struct {
	pattern string
	match   *regexp.Regexp
	set     bool
}

const maxAttributes = 10_000

// parseAttributes reads a .gitattributes file.
func parseAttributes(content []byte) attributes {
	var rules attributes
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' || !strings.Contains(line, "linguist-vendored") || len(rules) == maxAttributes {
			continue
		}
		pattern, rest := line, ""
		if line[0] == '"' {
			quoted, err := strconv.QuotedPrefix(line)
			if err != nil {
				continue
			}
			rest = line[len(quoted):]
			if pattern, err = strconv.Unquote(quoted); err != nil {
				continue
			}
		} else if i := strings.IndexAny(line, " \t"); i >= 0 {
			pattern, rest = line[:i], line[i:]
		}
		re, err := regexp.Compile(globRegexp(pattern))
		if err != nil {
			continue
		}
		for word := range strings.FieldsSeq(rest) {
			switch word {
			case "linguist-vendored", "linguist-vendored=true":
				rules = append(rules, attribute{pattern, re, true})
			case "-linguist-vendored", "!linguist-vendored", "linguist-vendored=false":
				rules = append(rules, attribute{pattern, re, false})
			}
		}
	}
	return rules
}

// vendored returns the value of the last matching rule; said reports whether one matches.
func (a attributes) vendored(path string) (vendored, said bool) {
	for _, r := range slices.Backward(a) {
		if r.match.MatchString(path) {
			return r.set, true
		}
	}
	return false, false
}

func (a attributes) equal(b attributes) bool {
	return slices.EqualFunc(a, b, func(x, y attribute) bool { return x.pattern == y.pattern && x.set == y.set })
}

// globRegexp converts a pattern of gitattributes(5) into a regular expression: without a slash it
// matches a name in any directory, otherwise a path from the root.
func globRegexp(pattern string) string {
	anchored := strings.Contains(pattern, "/")
	pattern = strings.TrimPrefix(pattern, "/")
	var b strings.Builder
	b.WriteString(`(?s)\A`)
	if !anchored {
		b.WriteString(`(?:.*/)?`)
	}
	for i := 0; i < len(pattern); i++ {
		rest := pattern[i:]
		switch c := pattern[i]; {
		case strings.HasPrefix(rest, "**/") && (i == 0 || pattern[i-1] == '/'):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case rest == "**" && i > 0 && pattern[i-1] == '/':
			b.WriteString(`.+`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			end := strings.IndexByte(rest[1:], ']')
			if end < 1 {
				b.WriteString(`\[`)
				continue
			}
			class := rest[1 : end+1]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, `\`, `\\`) + "]")
			i += end + 1
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(pattern[i : i+1]))
		}
	}
	b.WriteString(`\z`)
	return b.String()
}
