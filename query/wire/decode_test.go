package wire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"unicode/utf8"
)

// The readers in this file and in textread_test.go read what this package writes. Only tests need
// them: models read the text, and other programs the rest. A reader accepts any input: it returns an error for what is no encoded
// payload, and needs memory in proportion to the input.

// maxEncoded is the largest input of a reader, in bytes.
const maxEncoded = 8 << 20

var readers = map[string]func([]byte) (Payload, error){Text: decodeText, Binary: decodeBinary, JSON: decodeJSON}

func decodeText(data []byte) (Payload, error) {
	return readText(data, nodes{added: map[uint32]Node{}}, lists{}, nil)
}

func decodeJSON(data []byte) (Payload, error) {
	var p Payload
	if err := checkSize(data); err != nil {
		return p, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&p); err != nil {
		return Payload{}, errorf("json: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return Payload{}, errorf("json: more than one value")
	}
	return p.normal()
}

func decodeBinary(data []byte) (Payload, error) {
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

// receiver reads the answers of a session, in the order in which they were sent. It forgets nodes
// that no answer can refer to any more.
type receiver struct {
	known map[uint32]Node
	lists map[uint32]List
	said  map[string]string
}

// newReceiver returns the receiver of a new session.
func newReceiver() *receiver {
	return &receiver{known: map[uint32]Node{}, lists: map[uint32]List{}, said: map[string]string{}}
}

// decode reads an answer. After an error the receiver is as before.
func (r *receiver) decode(data []byte) (Payload, error) {
	known := nodes{before: r.known, added: map[uint32]Node{}}
	sent := lists{before: r.lists, added: map[uint32]List{}}
	p, err := readText(data, known, sent, r.said)
	if err != nil {
		return Payload{}, err
	}
	keepSaid(r.said, p.Scalars)
	maps.Copy(r.known, known.added)
	maps.Copy(r.lists, sent.added)
	if len(r.lists) > 2*maxRepeated {
		newest := slices.Max(slices.Collect(maps.Keys(r.lists)))
		maps.DeleteFunc(r.lists, func(n uint32, _ List) bool { return newest-n > 2*maxRepeated })
	}
	if len(r.known) > 4*Remembered {
		newest := slices.Max(slices.Collect(maps.Keys(r.known)))
		maps.DeleteFunc(r.known, func(n uint32, _ Node) bool { return newest-n > MaxItems+Remembered })
	}
	return p, nil
}

func checkSize(data []byte) error {
	if len(data) > maxEncoded {
		return errorf("%d bytes; want at most %d", len(data), maxEncoded)
	}
	return nil
}
