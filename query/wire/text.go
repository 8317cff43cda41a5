package wire

import (
	"slices"
	"strconv"
	"strings"
)

// textCodec writes compact text. A node that is named once has no number.
type textCodec struct{}

func (textCodec) Encode(p Payload) ([]byte, error) {
	p, err := p.normal()
	if err != nil {
		return nil, err
	}
	times := map[Node]int{} // by node without content
	for _, l := range p.Lists {
		for i, r := range l.Rows {
			for k, n := range r.Nodes {
				if k == 0 && i > 0 && startsAlike(l.Rows[i-1], r) {
					continue
				}
				times[n.bare()]++
				if len(r.Nodes) > 1 && n.hasContent() {
					times[n.bare()]++ // it is defined before the row
				}
			}
		}
	}
	numbers, bared, last := map[Node]uint32{}, map[Node]uint32{}, uint32(0)
	w := textWriter{number: func(n Node) (uint32, use) {
		if times[n.bare()] < 2 {
			return 0, defined
		}
		if number, known := numbers[n]; known {
			return number, repeated
		}
		if number, known := bared[n]; known {
			return number, repeatedBare
		}
		last++
		numbers[n] = last
		if n.hasContent() {
			bared[n.bare()] = last
		}
		return last, defined
	}}
	w.payload(p)
	return []byte(w.out.String()), nil
}

// use is how a node is written.
type use int

const (
	defined use = iota
	// repeated refers to an equal node, and repeatedBare to one that has a signature or a text
	// besides.
	repeated
	repeatedBare
)

// textWriter writes a payload as text.
type textWriter struct {
	out strings.Builder
	// number returns the number of a node, 0 for a node without, and how it is written.
	number func(Node) (uint32, use)
	// said reports whether the other side knows a scalar; nil if it knows none.
	said func(Scalar) bool
	// repeats returns the number of a list, 0 for none, and which of its rows the other side has; nil
	// if it has none.
	repeats func(List) (number uint32, runs []run)
	short   shorts
	// kind is that of the last node of the list, "" if that was not defined there.
	kind string
}

func (w *textWriter) payload(p Payload) {
	w.out.WriteString("# " + word(p.Question))
	for _, s := range p.Scalars {
		value := word(s.Value)
		switch {
		case w.said != nil && w.said(s):
			value = "^"
		case strings.HasPrefix(value, "^"):
			value = strconv.Quote(value)
		}
		w.out.WriteString(" " + key(s.Name) + "=" + value)
	}
	w.out.WriteByte('\n')
	for _, l := range p.Lists {
		w.list(l)
	}
}

// column is how the values of a column are written.
type column struct {
	// usual is the value of rows that have none, and all tells that every row has it.
	usual string
	all   bool
}

func (w *textWriter) list(l List) {
	var number uint32
	var again []run
	fresh := l.Rows
	if w.repeats != nil {
		if number, again = w.repeats(l); len(again) > 0 {
			fresh = slices.Clone(l.Rows)
			for _, r := range slices.Backward(again) {
				fresh = slices.Delete(fresh, r.at, r.at+r.n)
			}
		}
	}
	nodes := formOf(fresh)
	w.kind = ""
	name := word(l.Name)
	if strings.Contains(name, ":") && name[0] != '"' {
		name = strconv.Quote(name)
	}
	if nodes.kind != "" {
		name += ":" + nodes.kind
	}
	if number > 0 {
		name += " &" + strconv.Itoa(int(number))
	}
	name += nodes.marks()
	w.out.WriteString("## " + name)
	columns := make([]column, len(l.Columns))
	for c, name := range l.Columns {
		w.out.WriteString(" " + key(name))
		if columns[c] = columnOf(fresh, c); columns[c].all {
			w.out.WriteString("=" + word(columns[c].usual))
		} else if columns[c].usual != "" {
			w.out.WriteString("~" + word(columns[c].usual))
		}
	}
	w.out.WriteByte('\n')
	for i := 0; i < len(l.Rows); i++ {
		if len(again) > 0 && again[0].at == i {
			w.out.WriteString(again[0].text() + "\n")
			i += again[0].n - 1
			again, w.kind = again[1:], ""
			continue
		}
		var before *Row
		if i > 0 {
			before = &l.Rows[i-1]
		}
		w.row(l.Rows[i], nodes, columns, before)
	}
}

// nodeForm is how the nodes of a list are written.
type nodeForm struct {
	// kind is that of all of them, "" if each has its own.
	kind string
	// nameless tells that none has a name, placeless that they have names and no places, and absent that
	// no row is about a node.
	nameless, placeless, absent bool
}

// marks are what the line of a list says of its nodes.
func (f nodeForm) marks() string {
	s := ""
	if f.absent {
		s += " *"
	}
	if f.nameless {
		s += " -"
	}
	if f.placeless {
		s += " :-"
	}
	return s
}

func formOf(rows []Row) nodeForm {
	f := nodeForm{nameless: true, placeless: true}
	one, first := true, true
	for _, r := range rows {
		for _, n := range r.Nodes {
			if first {
				f.kind, first = n.Kind, false
			}
			one = one && n.Kind == f.kind && plain(n.Kind)
			f.nameless = f.nameless && n.Name == ""
			f.placeless = f.placeless && n.Path == "" && n.Line == 0 && n.EndLine == 0
		}
	}
	if !one {
		f.kind = ""
	}
	f.nameless, f.placeless, f.absent = f.nameless && !first, f.placeless && !first && !f.nameless, first && len(rows) > 0
	return f
}

// startsAlike reports whether a row of several nodes begins with the first node of the row before.
func startsAlike(before, r Row) bool {
	return len(r.Nodes) > 1 && len(before.Nodes) > 0 && before.Nodes[0] == r.Nodes[0]
}

// columnOf returns how to write a column: the usual value is the one of most rows, if they are a third
// of all.
func columnOf(rows []Row, c int) column {
	times := map[string]int{}
	usual := ""
	for _, r := range rows {
		v := r.Values[c]
		if times[v]++; times[v] > times[usual] {
			usual = v
		}
	}
	switch {
	case len(rows) > 0 && times[usual] == len(rows):
		return column{usual, true}
	case times[usual] < 3 || 3*times[usual] < len(rows):
		return column{}
	}
	return column{usual: usual}
}

func (w *textWriter) row(r Row, nodes nodeForm, columns []column, before *Row) {
	var block Node
	alike := before != nil && startsAlike(*before, r)
	if len(r.Nodes) > 1 {
		for i, n := range r.Nodes {
			if n.hasContent() && (i > 0 || !alike) {
				w.defineBefore(n, nodes)
			}
		}
	}
	var words []string
	if len(r.Nodes) == 0 && !nodes.absent {
		words = append(words, "*")
	}
	first := ""
	for i, n := range r.Nodes {
		if i > 0 {
			words = append(words, ">")
		}
		if i > 0 || !alike {
			number, written := w.number(n)
			switch written {
			case defined:
				words = append(words, w.definition(n, nodes, number))
				block = n
			case repeated:
				words = append(words, "@"+strconv.Itoa(int(number)))
				w.kind = ""
			case repeatedBare:
				words = append(words, "@"+strconv.Itoa(int(number))+"-")
				w.kind = ""
			}
		}
		w.short.refer(n.Path)
		if first == "" {
			first = n.Path
		}
	}
	w.short.refer(first)
	kept, asEdit := len(words), ""
	tail := len(r.Values)
	if before != nil {
		tail = asAbove(before.Values, r.Values, columns)
	}
	for c, v := range r.Values {
		if columns[c].all {
			continue
		}
		if c >= tail {
			words = append(words, "^^")
			kept = len(words)
			break
		}
		if v == columns[c].usual {
			words = append(words, usualWord(v))
			continue
		}
		short, above := "", ""
		if before != nil {
			above = before.Values[c]
		}
		edit, isEdit := "", false
		if asEdit == "" {
			edit, isEdit = edited(v, block.Signature)
		}
		switch {
		case above == v && len(v) > 3:
			short = "^"
		case isEdit:
			short, asEdit = editedWord, edit
		default:
			short = w.short.shortValue(v, above)
		}
		words = append(words, short)
		kept = len(words)
		if len(r.Nodes) == 0 {
			w.short.pass(v)
		}
	}
	if kept == 0 {
		words, kept = []string{"*"}, 1 // an empty line would be a line of a text
	}
	w.out.WriteString(strings.Join(words[:kept], " "))
	w.out.WriteByte('\n')
	if asEdit != "" {
		w.out.WriteString("=" + editedWord + asEdit + "\n")
		block.Signature = ""
	}
	w.content(block)
}

// minAsAbove is from how many words on "^^" stands for them: one or two are read quicker than looked up.
const minAsAbove = 3

// asAbove returns the first of the last columns whose values are those of the row before, if they would
// take minAsAbove words, and else how many columns there are.
func asAbove(before, values []string, columns []column) int {
	from, words, written := len(values), 0, 0
	for c := len(values) - 1; c >= 0 && values[c] == before[c]; c-- {
		if columns[c].all {
			continue
		}
		if words > 0 || values[c] != columns[c].usual {
			words++
		}
		if words > written {
			from, written = c, words
		}
	}
	if written < minAsAbove {
		return len(values)
	}
	return from
}

// usualWord stands for the usual value of a column.
func usualWord(usual string) string {
	if usual == "" {
		return "-"
	}
	return "."
}

func (n Node) hasContent() bool { return n.Signature != "" || n.Text != "" }

// bare returns a node without its signature and text.
func (n Node) bare() Node {
	n.Signature, n.Text = "", ""
	return n
}

// defineBefore defines a node on a line of its own, so that its content can follow it.
func (w *textWriter) defineBefore(n Node, nodes nodeForm) {
	if number, written := w.number(n); written == defined {
		w.out.WriteString("+" + w.definition(n, nodes, number) + "\n")
		w.content(n)
	}
}

// definition returns a node, without what the line of its list says of all.
func (w *textWriter) definition(n Node, nodes nodeForm, number uint32) string {
	s := ""
	if number > 0 {
		s = strconv.Itoa(int(number)) + " "
	}
	name := ""
	if !nodes.nameless {
		name = w.short.shortName(n.Name) + " "
	}
	if nodes.kind == "" {
		switch {
		case n.Kind == w.kind && n.Kind != "" && hasDot(name):
		case startsNumber(n.Kind) || hasDot(n.Kind):
			s += strconv.Quote(n.Kind) + " "
		default:
			s += word(n.Kind) + " "
		}
		w.kind = n.Kind
	}
	s += name
	if !nodes.placeless {
		s += w.place(n) + " "
	}
	s = strings.TrimSuffix(s, " ")
	if n.ID != "" {
		s += " #" + word(n.ID)
	}
	return s
}

// hasDot reports whether a word is a name and no kind, so that a node that begins with it has the kind
// of the one above.
func hasDot(word string) bool {
	word, _, quoted := strings.Cut(word, `"`)
	if quoted {
		return word != ""
	}
	return strings.Contains(word, ".") && !strings.Contains(word, "/")
}

// place returns the place of a node, by its line alone if it is in the last file.
func (w *textWriter) place(n Node) string {
	if n.Path == "" && n.Line == 0 && n.EndLine == 0 {
		return "-"
	}
	lines := ""
	if n.Line != 0 || n.EndLine != 0 {
		lines = ":" + strconv.Itoa(int(n.Line))
	}
	if n.EndLine != 0 {
		lines += "-" + strconv.Itoa(int(n.EndLine))
	}
	if n.Path != "" && n.Path == w.short.file && lines != "" {
		w.short.define(n.Path)
		return lines
	}
	path := w.short.shortPath(n.Path)
	if startsNumber(path) {
		path = strconv.Quote(n.Path)
	}
	w.short.define(n.Path)
	return path + lines
}

// content writes the signature and the text of a node.
func (w *textWriter) content(n Node) {
	if n.Signature != "" {
		s := n.Signature
		if !verbatim(s) || strings.ContainsAny(s, "\n") || s[0] == '=' || s[0] == '"' || strings.HasPrefix(s, editedWord) {
			s = strconv.Quote(s)
		}
		w.out.WriteString("=" + s + "\n")
	}
	switch {
	case n.Text == "":
	case verbatim(n.Text):
		w.text(n.Text)
	default:
		w.out.WriteString("==" + strconv.Quote(n.Text) + "\n")
	}
}

// text writes a text verbatim, each line so that it can't pass for a row: one that begins with a tab
// and an empty one as they are, others after a space. The last one is never empty, so that nobody
// takes it for the end of the answer.
func (w *textWriter) text(s string) {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		if last := i == len(lines)-1; line == "" && last || line != "" && line[0] != '\t' {
			w.out.WriteByte(' ')
		}
		w.out.WriteString(line)
		w.out.WriteByte('\n')
	}
}
