package wire

import (
	"encoding/binary"
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
