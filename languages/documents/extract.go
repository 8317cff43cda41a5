// Package documents reads Markdown and reStructuredText: which names of the code a document has, and the
// sentence around each. A document declares nothing, so that its headings are never confused with code.
package documents

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

var extractors = []extract.Language{
	{Name: "markdown", Version: 1, Matches: extract.Suffixed(".md", ".markdown", ".mdx"), Extract: extractor(markdown)},
	{Name: "restructuredtext", Version: 1, Matches: extract.Suffixed(".rst"), Extract: extractor(restructured)},
}

const (
	// TextAttribute of a reference is the sentence, list item or table row that has the name, behind the
	// heading of its section.
	TextAttribute = "text"
	// maxMentions limits the references of a document, and maxNames those of one sentence: a longer list
	// of names says little about each.
	maxMentions, maxNames = 5_000, 8
	// maxItem is the maximum length of an item that has nothing but names.
	maxItem = 200
)

// document is a document while it is read.
type document struct {
	*extract.Builder
	lines []string
	// title is the heading of the section, and last its last sentence, which introduces the code behind it.
	title, last string
	// block is the paragraph, list item or table row before the current line, and at its first line.
	block []string
	at    int
	// heads are the names in a heading, a directive or an item that has nothing else: the next sentence
	// describes them.
	heads []mention
}

// mention is a name in a line, from 0.
type mention struct {
	name string
	line int
}

func extractor(read func(*document)) func([]byte, *recountv1.FileFacts) {
	return func(content []byte, facts *recountv1.FileFacts) {
		if len(content) > extract.MaxParsed {
			facts.Skipped = fmt.Sprintf("large: %d bytes, at most %d are parsed", len(content), extract.MaxParsed)
			return
		}
		src, bad := extract.ValidText(content)
		d := &document{Builder: extract.NewBuilder(facts, src), lines: strings.Split(string(src), "\n")}
		if bad >= 0 {
			extract.Partial(facts, d.Place(uint32(bad)), "a byte that is not UTF-8 text")
		}
		for i, l := range d.lines {
			d.lines[i] = strings.TrimRight(l, " \t\r")
		}
		read(d)
		d.flush()
		d.describe("")
		d.Sort()
	}
}

var (
	fence     = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	heading   = regexp.MustCompile(`^ {0,3}(#{1,6})\s+(.+?)(?:\s+#+)?$`)
	listItem  = regexp.MustCompile(`^\s*(?:[-*+]|\d+[.)]|#\.)\s+`)
	directive = regexp.MustCompile(`^(\s*)\.\. ([\w:-]+):: *(.*)$`)
	described = regexp.MustCompile(`^(?:py:|c:|js:|auto)?(?:function|method|class|exception|attribute|data|staticmethod|classmethod|decorator|property)$`)
)

func markdown(d *document) {
	open := ""
	for i, l := range d.lines {
		if open != "" {
			if strings.HasPrefix(strings.TrimSpace(l), open) {
				open = ""
			} else {
				d.code(i, l)
			}
			continue
		}
		if m := fence.FindStringSubmatch(l); m != nil {
			d.flush()
			open = m[1]
		} else if m := heading.FindStringSubmatch(l); m != nil {
			d.section(m[2], i)
		} else if len(l) > 2 && strings.ContainsAny(l[:1], "=-") && underline(l) && len(d.block) == 1 && !strings.HasPrefix(d.block[0], "|") {
			d.underlined(i)
		} else {
			d.line(i, l)
		}
	}
}

func restructured(d *document) {
	skip := -1 // what is indented further is code
	for i, l := range d.lines {
		indent := len(l) - len(strings.TrimLeft(l, " \t"))
		if l != "" && skip >= 0 {
			if indent > skip {
				d.code(i, l)
				continue
			}
			skip = -1
		}
		if m := directive.FindStringSubmatch(l); m != nil {
			d.flush()
			switch {
			case described.MatchString(m[2]):
				d.describe("")
				for _, name := range namesIn(m[3]+"()", true) {
					d.heads = append(d.heads, mention{strings.TrimSuffix(name, "()"), i})
				}
			case strings.HasPrefix(m[2], "code") || m[2] == "sourcecode" || m[2] == "literalinclude" || m[2] == "toctree":
				skip = indent
			case m[3] != "":
				d.line(i, m[3])
			}
			continue
		}
		if l != "" && underline(l) && len(l) > 2 && (len(d.block) == 0 || len(d.block) == 1 && len(l) >= len(d.block[0])) {
			if len(d.block) == 1 {
				d.underlined(i)
			}
			continue
		}
		d.line(i, l)
		if strings.HasSuffix(l, "::") {
			skip = indent
		}
	}
}

// underline reports whether a line is one repeated mark.
func underline(l string) bool {
	return strings.ContainsAny(l[:1], "=-~^\"'*+#.:_`") && strings.Trim(l, l[:1]) == ""
}

// underlined begins a section whose heading is the block, underlined at a line.
func (d *document) underlined(i int) {
	title := d.block[0]
	d.block = nil
	d.section(title, i-1)
}

// section begins a section with the heading at a line.
func (d *document) section(title string, line int) {
	d.flush()
	d.describe("")
	d.title, d.last = title, ""
	for _, name := range namesOf(title) {
		d.heads = append(d.heads, mention{name, line})
	}
}

// line adds a line to the block, or ends that.
func (d *document) line(i int, l string) {
	row := strings.HasPrefix(l, "|")
	if l == "" || row || listItem.MatchString(l) {
		d.flush()
	}
	if l == "" {
		return
	}
	if len(d.block) == 0 {
		d.at = i
	}
	d.block = append(d.block, strings.TrimSpace(l))
	if row {
		d.flush()
	}
}

// flush reads the block.
func (d *document) flush() {
	block, at := d.block, d.at
	d.block = nil
	if len(block) == 0 {
		return
	}
	text := strings.Join(block, "\n")
	if len(text) < maxItem && strings.Contains(text, "`") && len(strings.Fields(span.ReplaceAllString(listItem.ReplaceAllString(text, ""), ""))) < 2 {
		// Nothing but names: what follows describes them.
		if names := spans(text); len(names) > 0 && len(names) <= maxNames {
			d.describe("")
			for _, name := range names {
				d.heads = append(d.heads, mention{name, at})
			}
			return
		}
	}
	for _, sentence := range sentences(text) {
		d.last = sentence
		d.describe(sentence)
		names := namesOf(sentence)
		if len(names) <= maxNames {
			for _, name := range names {
				d.mention(name, sentence, at)
			}
		}
		for _, m := range links(sentence) {
			if path, _, _ := strings.Cut(m[1], "#"); path != "" && !strings.Contains(path, ":") {
				d.mention("/"+path, sentence, at)
			}
		}
		at += strings.Count(sentence, "\n")
	}
}

// describe ends what waits for a sentence.
func (d *document) describe(sentence string) {
	for _, m := range d.heads {
		d.mention(m.name, sentence, m.line)
	}
	d.heads = nil
}

// code reads a line of code, which the sentence before it introduces: what it calls of something.
func (d *document) code(i int, l string) {
	if !strings.Contains(l, "(") {
		return
	}
	for _, m := range called.FindAllString(l, maxNames) {
		if strings.ContainsAny(m, ".:") {
			d.mention(joints.Replace(m)+")", d.last, i)
		}
	}
}

// namesOf returns the names in a text: in code spans, and outside of them those that are written as only
// names are.
func namesOf(text string) []string {
	names := spans(text)
	code := byte(0)
	for i := 0; i < len(text); {
		if text[i] == '`' {
			code ^= 1
			for i++; i < len(text) && text[i] == '`'; i++ {
			}
			continue
		}
		if code == 0 && strings.HasPrefix(text[i:], "](") {
			i += max(1, strings.IndexByte(text[i:], ')'))
			continue
		}
		start := i
		for i < len(text) && (extract.IsWordByte(text[i]) || strings.IndexByte(".:#", text[i]) >= 0) {
			i++
		}
		if i == start {
			i++
			continue
		}
		name := strings.Trim(text[start:i], ".:#")
		if code == 1 || !isName(name) {
			continue
		}
		name = joints.Replace(name)
		if strings.HasPrefix(text[i:], "()") {
			name += "()"
		}
		if !slices.Contains(names, name) && len(names) <= maxNames {
			names = append(names, name)
		}
	}
	return names
}

// isName reports whether a word has a capital or an underscore behind a small letter, and more small
// letters behind that.
func isName(word string) bool {
	if word == "" || word[0] == '_' || word[0] >= '0' && word[0] <= '9' {
		return false
	}
	hump := false
	for i := 1; i < len(word); i++ {
		c, before := word[i], word[i-1]
		small := c >= 'a' && c <= 'z'
		if hump && small {
			return true
		}
		hump = hump || (c == '_' || c >= 'A' && c <= 'Z') && (before >= 'a' && before <= 'z' || before >= '0' && before <= '9')
	}
	return false
}

// links returns the links of a text with their targets.
func links(text string) [][]string {
	if !strings.Contains(text, "](") {
		return nil
	}
	return link.FindAllStringSubmatch(text, -1)
}

func (d *document) mention(name, text string, line int) {
	if len(d.Facts.References) == maxMentions {
		extract.Partial(d.Facts, d.Place(d.Lines[line]), "more than 5,000 names")
	}
	if len(d.Facts.References) >= maxMentions {
		return
	}
	if d.title != "" {
		text = d.title + ": " + text
	}
	r := d.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, 0, extract.Clip(name, extract.MaxPath), d.Lines[line])
	if text = extract.Clip(plain(text), extract.MaxValue); text != "" {
		r.Attributes = map[string]string{TextAttribute: text}
	}
}

var (
	link   = regexp.MustCompile(`\]\(<?([^)\s>]+)`)
	target = regexp.MustCompile(`\]\([^)]*\)|\]\[[^\]]*\]`)
	role   = regexp.MustCompile(":[\\w:+-]+:`[~!@.]*")
	markup = strings.NewReplacer("`", "", "**", "", "[", "", "]", "")
)

// plain returns a text in one line without marks and the targets of links.
func plain(text string) string {
	if strings.Contains(text, ":`") {
		text = role.ReplaceAllString(text, "`")
	}
	if strings.Contains(text, "](") || strings.Contains(text, "][") {
		text = target.ReplaceAllString(text, "]")
	}
	return strings.TrimSpace(markup.Replace(strings.Join(strings.Fields(text), " ")))
}

// sentences splits a text behind its sentences, not in code.
func sentences(text string) (all []string) {
	start, code := 0, false
	for i := 0; i < len(text); i++ {
		if text[i] == '`' {
			code = !code
		}
		if code || i-start <= 20 || strings.IndexByte(".!?:;", text[i]) < 0 {
			continue
		}
		end := i + 1
		for end < len(text) && strings.IndexByte("\"')*", text[end]) >= 0 {
			end++
		}
		if end < len(text) && (text[end] == ' ' || text[end] == '\n') {
			all = append(all, text[start:end+1])
			start, i = end+1, end
		}
	}
	if start < len(text) {
		all = append(all, text[start:])
	}
	return all
}

var (
	span   = regexp.MustCompile("(:[\\w:+-]+:)?(``[^`]+``|`[^`]+`)")
	called = regexp.MustCompile(`[A-Za-z_][\w]*(?:(?:\.|::|#)[A-Za-z_]\w*)*\(`)
	whole  = regexp.MustCompile(`^[&*@~!$.]*(?:new |async |await |func |fn |def |class )?([A-Za-z_]\w*!?(?:(?:\.|::|#|->)[A-Za-z_]\w*)*)(?:<.*>|\[.*\]|\{.*\})?(\(.*\)?)?;?$`)
)

// spans returns the names in the code spans and roles of a text.
func spans(text string) (names []string) {
	if !strings.Contains(text, "`") {
		return nil
	}
	for _, m := range span.FindAllStringSubmatch(text, -1) {
		body := strings.Trim(m[2], "` ")
		if _, of, ok := strings.Cut(body, " <"); ok && m[1] != "" {
			body = strings.TrimSuffix(of, ">")
		}
		switch strings.Trim(m[1], ":") {
		case "ref", "doc", "issue", "setting", "option", "envvar", "pep", "rfc", "mailheader", "term", "command", "program", "file":
			continue
		}
		for _, name := range namesIn(body, m[1] != "") {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// namesIn returns the names in code: the whole of it, and what it calls. A word in small letters that is
// not called is none, unless it is said to name code.
func namesIn(code string, sure bool) (names []string) {
	add := func(name string, call bool) {
		name = strings.Trim(joints.Replace(name), ".")
		if call {
			name += "()"
		} else if !sure && !strings.ContainsAny(name, "._ABCDEFGHIJKLMNOPQRSTUVWXYZ") {
			return
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if m := whole.FindStringSubmatch(code); m != nil {
		add(m[1], m[2] != "" || strings.HasSuffix(m[1], "!"))
		return names
	}
	for _, m := range called.FindAllString(code, maxNames) {
		add(m[:len(m)-1], true)
	}
	return names
}

var joints = strings.NewReplacer("::", ".", "#", ".", "->", ".", "!", "")
