package wire

import (
	"encoding/binary"
	"unicode/utf8"
)

// binaryMagic begins an encoded payload: the format and its version.
const binaryMagic = "RCW\x01"

// binaryCodec writes a payload as numbers (unsigned varints) and strings. A string is 0, its length
// and its bytes at its first occurrence, and then its number, from 1 in order of occurrence. A node
// likewise is 0 and its fields, and then its number.
//
//	magic, question, scalars: count (name value)…
//	lists: count (name, columns: count name…, rows: count (nodes: count node…, value…)…)…
//	node: id kind name path line end_line signature text
type binaryCodec struct{}

func (binaryCodec) Encode(p Payload) ([]byte, error) {
	p, err := p.normal()
	if err != nil {
		return nil, err
	}
	w := binaryWriter{out: []byte(binaryMagic), strings: map[string]uint64{}, nodes: map[Node]uint64{}}
	w.text(p.Question)
	w.count(len(p.Scalars))
	for _, s := range p.Scalars {
		w.text(s.Name)
		w.text(s.Value)
	}
	w.count(len(p.Lists))
	for _, l := range p.Lists {
		w.text(l.Name)
		w.count(len(l.Columns))
		for _, c := range l.Columns {
			w.text(c)
		}
		w.count(len(l.Rows))
		for _, r := range l.Rows {
			w.count(len(r.Nodes))
			for _, n := range r.Nodes {
				w.node(n)
			}
			for _, v := range r.Values {
				w.text(v)
			}
		}
	}
	return w.out, nil
}

type binaryWriter struct {
	out     []byte
	strings map[string]uint64
	nodes   map[Node]uint64
}

func (w *binaryWriter) number(n uint64) { w.out = binary.AppendUvarint(w.out, n) }
func (w *binaryWriter) count(n int)     { w.number(uint64(n)) }

func (w *binaryWriter) text(s string) {
	if n, ok := w.strings[s]; ok {
		w.number(n)
		return
	}
	w.strings[s] = uint64(len(w.strings) + 1)
	w.number(0)
	w.count(len(s))
	w.out = append(w.out, s...)
}

func (w *binaryWriter) node(n Node) {
	if at, ok := w.nodes[n]; ok {
		w.number(at)
		return
	}
	w.nodes[n] = uint64(len(w.nodes) + 1)
	w.number(0)
	for _, s := range []string{n.ID, n.Kind, n.Name, n.Path} {
		w.text(s)
	}
	w.number(uint64(n.Line))
	w.number(uint64(n.EndLine))
	w.text(n.Signature)
	w.text(n.Text)
}

func (binaryCodec) Decode(data []byte) (Payload, error) {
	if err := checkSize(data); err != nil {
		return Payload{}, err
	}
	if len(data) < len(binaryMagic) || string(data[:len(binaryMagic)]) != binaryMagic {
		return Payload{}, errorf("binary: want data that begins with %q", binaryMagic)
	}
	r := binaryReader{rest: data[len(binaryMagic):]}
	p := r.payload()
	if r.err == nil && len(r.rest) > 0 {
		r.fail("%d bytes after the end", len(r.rest))
	}
	if r.err != nil {
		return Payload{}, r.err
	}
	return p.normal()
}

// binaryReader reads what binaryWriter wrote. After an error it returns zeros.
type binaryReader struct {
	rest    []byte
	strings []string
	nodes   []Node
	items   int
	err     error
}

func (r *binaryReader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = errorf("binary: "+format, args...)
	}
	r.rest = nil
}

func (r *binaryReader) number() uint64 {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.fail("the data ends early")
		return 0
	}
	r.rest = r.rest[size:]
	return n
}

// count reads the number of things that follow, each of at least one byte.
func (r *binaryReader) count() int {
	n := r.number()
	if n > uint64(len(r.rest)) {
		r.fail("%d things in %d bytes", n, len(r.rest))
		return 0
	}
	return int(n)
}

func (r *binaryReader) text() string {
	if n := r.number(); n > 0 {
		if n > uint64(len(r.strings)) {
			r.fail("string %d of %d", n, len(r.strings))
			return ""
		}
		return r.strings[n-1]
	}
	size := r.count()
	if r.err != nil {
		return ""
	}
	s := string(r.rest[:size])
	if r.rest = r.rest[size:]; !utf8.ValidString(s) {
		r.fail("a string that is not UTF-8")
	}
	r.strings = append(r.strings, s)
	return s
}

func (r *binaryReader) line() uint32 {
	n := r.number()
	if n > 1<<32-1 {
		r.fail("line %d", n)
	}
	return uint32(n)
}

func (r *binaryReader) node() Node {
	if n := r.number(); n > 0 {
		if n > uint64(len(r.nodes)) {
			r.fail("node %d of %d", n, len(r.nodes))
			return Node{}
		}
		return r.nodes[n-1]
	}
	n := Node{ID: r.text(), Kind: r.text(), Name: r.text(), Path: r.text(), Line: r.line(), EndLine: r.line(), Signature: r.text(), Text: r.text()}
	r.nodes = append(r.nodes, n)
	return n
}

func (r *binaryReader) payload() Payload {
	p := Payload{Question: r.text()}
	for range r.count() {
		p.Scalars = append(p.Scalars, Scalar{r.text(), r.text()})
	}
	for range r.count() {
		p.Lists = append(p.Lists, r.list())
	}
	return p
}

func (r *binaryReader) list() List {
	l := List{Name: r.text()}
	columns := r.count()
	if columns > MaxColumns {
		r.fail("%d columns; want at most %d", columns, MaxColumns)
		return l
	}
	for range columns {
		l.Columns = append(l.Columns, r.text())
	}
	for range r.count() {
		var row Row
		nodes := r.count()
		if r.items += 1 + nodes + columns; r.items > MaxItems || nodes > MaxRowNodes {
			r.fail("more than %d rows, nodes and values, or than %d nodes in a row", MaxItems, MaxRowNodes)
		}
		if r.err != nil {
			return l
		}
		for range nodes {
			row.Nodes = append(row.Nodes, r.node())
		}
		for range columns {
			row.Values = append(row.Values, r.text())
		}
		l.Rows = append(l.Rows, row)
	}
	return l
}
