// Package style extracts and resolves style sheets, CSS and SCSS.
package style

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractors read CSS and SCSS by their braces and semicolons: rules by their selectors, custom
// properties (--x), variables ($x), mixins and functions, uses of them, and imports. What is
// nested belongs to the enclosing rule.
var extractors = []extract.Language{
	{Name: "css", Version: 1, Matches: extract.Suffixed(".css"), Extract: extract.Unminified(extractStyle(false))},
	{Name: "scss", Version: 1, Matches: extract.Suffixed(".scss"), Extract: extract.Unminified(extractStyle(true))},
}

type reader struct {
	*extract.Builder
	scss bool
	// open has the enclosing blocks: what `in` is inside each.
	open []openBlock
	in   uint32
}

type openBlock struct {
	in    uint32
	start uint32
	rules []uint32 // the declarations that end with it
}

func extractStyle(scss bool) func([]byte, *recountv1.FileFacts) {
	return func(content []byte, facts *recountv1.FileFacts) {
		if len(content) > extract.MaxParsed {
			facts.Skipped = fmt.Sprintf("large: %d bytes, at most %d are parsed", len(content), extract.MaxParsed)
			return
		}
		src, bad := extract.ValidText(content)
		facts.Generated = extract.IsGenerated(src)
		s := &reader{Builder: extract.NewBuilder(facts, src), scss: scss}
		if bad >= 0 {
			extract.Partial(facts, s.Place(uint32(bad)), "a byte that is not UTF-8 text")
		}
		s.read(src)
		s.Sort()
	}
}

// read divides a file into heads of blocks and declarations.
func (s *reader) read(src []byte) {
	from, parens, interpolated := 0, 0, 0
	doc := ""
	for at := 0; at < len(src); {
		c := src[at]
		switch {
		case c == '/' && at+1 < len(src) && src[at+1] == '*':
			end := bytes.Index(src[at+2:], []byte("*/"))
			next := len(src)
			if end >= 0 {
				next = at + end + 4
			}
			if len(bytes.TrimSpace(src[from:at])) == 0 {
				doc, from = extract.CleanDoc(string(src[at:next])), next
			}
			at = next
		case s.scss && c == '/' && at+1 < len(src) && src[at+1] == '/' && parens == 0:
			next := extract.LineEndAt(src, at)
			if len(bytes.TrimSpace(src[from:at])) == 0 {
				doc, from = extract.CleanDoc(string(src[at:next])), next
			}
			at = next
		case c == '"' || c == '\'':
			for at++; at < len(src) && src[at] != c && src[at] != '\n'; at++ {
				if src[at] == '\\' {
					at++
				}
			}
			at = min(at+1, len(src))
		case c == '\\':
			at = min(at+2, len(src))
		case c == '(':
			parens++
			at++
		case c == ')':
			parens = max(parens-1, 0)
			at++
		case s.scss && c == '#' && at+1 < len(src) && src[at+1] == '{':
			interpolated++
			at += 2
		case c == '}' && interpolated > 0:
			interpolated--
			at++
		case c == ';' && parens == 0:
			s.declaration(from, at)
			at++
			from, doc = at, ""
		case c == '{':
			if len(s.open) >= extract.MaxDepth {
				extract.Partial(s.Facts, s.Place(uint32(at)), extract.TooDeep)
				return
			}
			s.head(from, at, doc)
			at++
			from, doc, parens = at, "", 0
		case c == '}':
			s.declaration(from, at)
			at++
			s.close(at)
			from, doc, parens = at, "", 0
		default:
			at++
		}
	}
	s.declaration(from, len(src))
	if len(s.open) > 0 {
		extract.Partial(s.Facts, nil, "a block that nothing closes")
	}
	for len(s.open) > 0 {
		s.close(len(src))
	}
}

// span returns the text between two bytes without white space around it.
func (s *reader) span(from, to int) (text string, start uint32) {
	raw := s.Content[from:to]
	trimmed := bytes.TrimLeft(raw, " \t\r\n\f")
	start = uint32(from + len(raw) - len(trimmed))
	return strings.TrimSpace(string(trimmed)), start
}

// close ends a block.
func (s *reader) close(at int) {
	if len(s.open) == 0 {
		return
	}
	b := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	for i, r := range b.rules {
		d := s.Decl(r)
		if d.End = s.Place(uint32(at)); i == 0 {
			d.BodyHash = extract.BodyHash(s.Content[b.start:at], false, 0)
		} else {
			d.BodyHash = s.Decl(b.rules[0]).BodyHash
		}
	}
	s.in = b.in
}

// maxSelectors limits how many selectors of a rule are declared.
const maxSelectors = 64

// head begins a block.
func (s *reader) head(from, to int, doc string) {
	b := openBlock{in: s.in}
	defer func() { s.open = append(s.open, b) }()
	text, start := s.span(from, to)
	b.start = start
	declare := func(kind recountv1.SymbolKind, name string) {
		in, decl := s.Declare(extract.Declaration{Kind: kind, Name: name, In: b.in, Doc: doc, Start: start, End: uint32(to)})
		decl.Exported = true
		if len(b.rules) == 0 {
			s.in = in
		}
		b.rules = append(b.rules, in)
		decl.Attributes = selectorNames(kind, name)
	}
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	switch {
	case text == "":
	case word == "@mixin":
		name := firstName(rest)
		declare(recountv1.SymbolKind_SYMBOL_KIND_MACRO, name)
		s.values(rest[len(name):], start+uint32(len(text)-len(rest)+len(name)))
	case word == "@function":
		declare(recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, firstName(rest))
	case strings.HasSuffix(word, "keyframes"):
		declare(recountv1.SymbolKind_SYMBOL_KIND_RULE, "@keyframes "+firstName(rest))
	case strings.HasPrefix(word, "@"):
		s.atRule(text, start)
	case len(s.open) > 0 && isFrame(text):
	default:
		for i, sel := range splitTop(text) {
			if i == maxSelectors {
				break
			}
			if sel != "" {
				declare(recountv1.SymbolKind_SYMBOL_KIND_RULE, sel)
			}
		}
	}
}

// isFrame reports whether a head is one of keyframes: from, to, 50 %.
func isFrame(text string) bool {
	return text == "from" || text == "to" || strings.HasSuffix(text, "%")
}

var (
	className  = regexp.MustCompile(`\.(-?[A-Za-z_][\w-]*)`)
	idName     = regexp.MustCompile(`#(-?[A-Za-z_][\w-]*)`)
	styleName  = regexp.MustCompile(`^[A-Za-z_-][\w.-]*`)
	usedCustom = regexp.MustCompile(`\bvar\(\s*(--[\w-]+)`)
	usedScss   = regexp.MustCompile(`(?:\b([A-Za-z_][\w-]*)\.)?\$([A-Za-z_][\w-]*)`)
	usedCall   = regexp.MustCompile(`(^|[\s,(+*/-])([A-Za-z_][\w-]*(?:\.[A-Za-z_][\w-]*)?)\(`)
	quotedPath = regexp.MustCompile(`"([^"\n]+)"|'([^'\n]+)'|url\(\s*([^"')\s]+)\s*\)`)
	importedAs = regexp.MustCompile(`\bas\s+([\w*-]+)`)
)

// selectorNames returns the classes and ids in the selector of a rule.
func selectorNames(kind recountv1.SymbolKind, selector string) map[string]string {
	if kind != recountv1.SymbolKind_SYMBOL_KIND_RULE || strings.HasPrefix(selector, "@") {
		return nil
	}
	names := func(of *regexp.Regexp) string {
		var all []string
		for _, m := range of.FindAllStringSubmatch(extract.Clip(selector, extract.MaxValue), 16) {
			all = append(all, m[1])
		}
		return strings.Join(all, " ")
	}
	out := map[string]string{}
	if c := names(className); c != "" {
		out["classes"] = c
	}
	if i := names(idName); i != "" {
		out["ids"] = i
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

func firstName(text string) string { return styleName.FindString(text) }

// splitTop cuts a list of selectors at the commas outside parentheses.
func splitTop(text string) (all []string) {
	depth, from := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case ',':
			if depth <= 0 {
				all = append(all, extract.OneLine(strings.TrimSpace(text[from:i])))
				from = i + 1
			}
		}
	}
	return append(all, extract.OneLine(strings.TrimSpace(text[from:])))
}

// declaration reads what ends with a semicolon or a brace.
func (s *reader) declaration(from, to int) {
	text, start := s.span(from, to)
	if text == "" {
		return
	}
	if strings.HasPrefix(text, "@") {
		s.atRule(text, start)
		return
	}
	name, value, ok := strings.Cut(text, ":")
	name = strings.TrimSpace(name)
	if !ok || strings.ContainsAny(name, " \n{}") {
		return
	}
	in := s.in
	if strings.HasPrefix(name, "--") || s.scss && strings.HasPrefix(name, "$") {
		own, decl := s.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, Name: name, In: s.in, Start: start, End: uint32(to)})
		decl.Exported = true
		s.valuesIn(own, value, start+uint32(len(text)-len(value)))
		return
	}
	s.valuesIn(in, value, start+uint32(len(text)-len(value)))
}

func (s *reader) values(text string, start uint32) { s.valuesIn(s.in, text, start) }

// valuesIn adds references to the variables and functions in a value.
func (s *reader) valuesIn(in uint32, value string, start uint32) {
	value = extract.Clip(value, 8<<10)
	const references = recountv1.EdgeKind_EDGE_KIND_REFERENCES
	for _, m := range usedCustom.FindAllStringSubmatchIndex(value, 32) {
		s.Refer(references, in, extract.Checked(value[m[2]:m[3]]), start+uint32(m[2]))
	}
	if !s.scss {
		return
	}
	for _, m := range usedScss.FindAllStringSubmatchIndex(value, 32) {
		path := "$" + value[m[4]:m[5]]
		if m[2] >= 0 {
			path = value[m[2]:m[3]] + "." + path
		}
		s.Refer(references, in, extract.Checked(path), start+uint32(m[4]-1))
	}
	for _, m := range usedCall.FindAllStringSubmatchIndex(value, 32) {
		if name := value[m[4]:m[5]]; name != "var" && name != "url" && name != "calc" {
			s.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, in, extract.Checked(name), start+uint32(m[4]))
		}
	}
}

// atRule reads an at-rule: imports, and uses of mixins and other rules.
func (s *reader) atRule(text string, start uint32) {
	word, rest, _ := strings.Cut(text, " ")
	rest = strings.TrimSpace(rest)
	at := start + uint32(len(text)-len(rest))
	switch word {
	case "@import", "@use", "@forward":
		for _, m := range quotedPath.FindAllStringSubmatch(extract.Clip(rest, 8<<10), 32) {
			i := s.AddImport(s.in, extract.FirstOf(extract.FirstOf(m[1], m[2]), m[3]), at)
			i.Wildcard = word == "@import"
			i.Export = word == "@forward"
			if word == "@use" {
				if as := importedAs.FindStringSubmatch(rest); as != nil {
					i.Alias = extract.Clip(as[1], extract.MaxName)
				}
				break
			}
		}
	case "@include":
		if name := firstName(rest); name != "" {
			s.Refer(recountv1.EdgeKind_EDGE_KIND_CALLS, s.in, extract.Checked("@"+name), at)
			s.values(strings.TrimPrefix(rest, name+"("), at+uint32(min(len(name)+1, len(rest))))
		}
	case "@extend":
		if sel, _, _ := strings.Cut(rest, " "); sel != "" {
			s.Refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, s.in, extract.Checked(extract.OneLine(sel)), at)
		}
	default:
		s.values(text, start)
	}
}
