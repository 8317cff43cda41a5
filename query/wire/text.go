package wire

import (
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
	times := map[Node]int{}
	for _, l := range p.Lists {
		for _, r := range l.Rows {
			for _, n := range r.Nodes {
				times[n]++
				if len(r.Nodes) > 1 && n.hasContent() {
					times[n]++ // it is defined before the row
				}
			}
		}
	}
	numbers, last := map[Node]uint32{}, uint32(0)
	w := textWriter{number: func(n Node) (uint32, bool) {
		if times[n] < 2 {
			return 0, false
		}
		number, known := numbers[n]
		if !known {
			last++
			number, numbers[n] = last, last
		}
		return number, known
	}}
	w.payload(p)
	return []byte(w.out.String()), nil
}

func (textCodec) Decode(data []byte) (Payload, error) {
	return readText(data, nodes{added: map[uint32]Node{}})
}

// textWriter writes a payload as text.
type textWriter struct {
	out strings.Builder
	// number returns the number of a node, 0 for a node without, and whether it is defined already.
	number func(Node) (n uint32, defined bool)
	// file is the path of the last node that has one.
	file string
}

func (w *textWriter) payload(p Payload) {
	w.out.WriteString("# " + word(p.Question))
	for _, s := range p.Scalars {
		w.out.WriteString(" " + key(s.Name) + "=" + word(s.Value))
	}
	w.out.WriteByte('\n')
	for _, l := range p.Lists {
		w.list(l)
	}
}

func (w *textWriter) list(l List) {
	w.out.WriteString("## " + word(l.Name))
	same := make([]bool, len(l.Columns))
	for c, name := range l.Columns {
		w.out.WriteString(" " + key(name))
		if same[c] = sameInAll(l.Rows, c); same[c] {
			w.out.WriteString("=" + word(l.Rows[0].Values[c]))
		}
	}
	w.out.WriteByte('\n')
	for _, r := range l.Rows {
		w.row(r, same)
	}
}

func sameInAll(rows []Row, column int) bool {
	for _, r := range rows {
		if r.Values[column] != rows[0].Values[column] {
			return false
		}
	}
	return len(rows) > 0
}

func (w *textWriter) row(r Row, same []bool) {
	var block Node
	if len(r.Nodes) > 1 {
		for _, n := range r.Nodes {
			if n.hasContent() {
				w.defineBefore(n)
			}
		}
	}
	var words []string
	if len(r.Nodes) == 0 {
		words = append(words, "*")
	}
	for i, n := range r.Nodes {
		if i > 0 {
			words = append(words, ">")
		}
		number, defined := w.number(n)
		if defined {
			words = append(words, "@"+strconv.Itoa(int(number)))
			w.enter(n)
			continue
		}
		words = append(words, w.definition(n, number))
		block = n
	}
	var values []string
	kept := 0
	for c, v := range r.Values {
		if same[c] {
			continue
		}
		values = append(values, w.value(v))
		if v != "" {
			kept = len(values)
		}
	}
	w.out.WriteString(strings.Join(append(words, values[:kept]...), " "))
	w.out.WriteByte('\n')
	w.content(block)
}

func (n Node) hasContent() bool { return n.Signature != "" || n.Text != "" }

// defineBefore defines a node on a line of its own, so that its content can follow it.
func (w *textWriter) defineBefore(n Node) {
	number, defined := w.number(n)
	if defined {
		return
	}
	w.out.WriteString("+" + w.definition(n, number) + "\n")
	w.content(n)
}

func (w *textWriter) definition(n Node, number uint32) string {
	s := word(n.Kind) + " " + word(n.Name) + " " + w.place(n)
	if n.ID != "" {
		s += " #" + word(n.ID)
	}
	if number > 0 {
		s = "@" + strconv.Itoa(int(number)) + ": " + s
	}
	return s
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
	if n.Path != "" && n.Path == w.file && lines != "" {
		return lines
	}
	w.enter(n)
	if plain(n.Path) && !strings.Contains(n.Path, ":") {
		return n.Path + lines
	}
	return strconv.Quote(n.Path) + lines
}

// enter notes the file of a node.
func (w *textWriter) enter(n Node) {
	if n.Path != "" {
		w.file = n.Path
	}
}

// value returns a value, a place in the last file by its line alone.
func (w *textWriter) value(v string) string {
	if at, ok := strings.CutPrefix(v, w.file+":"); ok && w.file != "" && simple(at) {
		return ":" + at
	}
	return word(v)
}

// content writes the signature and the text of a node.
func (w *textWriter) content(n Node) {
	if n.Signature != "" {
		s := n.Signature
		if !verbatim(s) || strings.ContainsAny(s, "\n") || s[0] == '=' || s[0] == '"' {
			s = strconv.Quote(s)
		}
		w.out.WriteString("=" + s + "\n")
	}
	switch {
	case n.Text == "":
	case verbatim(n.Text):
		w.out.WriteString(" " + strings.ReplaceAll(n.Text, "\n", "\n ") + "\n")
	default:
		w.out.WriteString("==" + strconv.Quote(n.Text) + "\n")
	}
}
