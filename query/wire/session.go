package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"sync"
)

// Remembered is how many of the last nodes of a session can be referred to.
const Remembered = 1 << 15

// Legend explains the text to a model in one line. A session sends it with its first answer.
const Legend = "#! node: [N] [kind] name file:first-last, without kind: that above, @N repeats it (@N- without code); leading dots: parts of the name before or the value above; :LINE file before, ./ ../ from its directory; columns: =all rows, ~usual (.); ^ as above, ^^ so to the end, leading > first node above, - none; &L:A-B rows A-B of list &L"

// Session writes the answers of one connection as text. A node that was sent is referred to by its
// number in later answers. Its methods may be called concurrently.
type Session struct {
	mu   sync.Mutex
	last uint32
	// sent has the numbers of nodes that the other side has, and order those nodes by number. bared
	// has those with a signature or a text by what they are without.
	sent, bared map[[16]byte]uint32
	order       []numbered
	began       bool
	// said has the scalars of the answers that were sent, the newest of each name.
	said map[string]string
	// lists is the number of the last list that has one, and rows has those that were sent.
	lists uint32
	rows  sentLists
}

type numbered struct {
	node, bare [16]byte // bare is zero for a node without signature and text
	number     uint32
}

// NewSession returns a session of a new connection.
func NewSession() *Session {
	return &Session{sent: map[[16]byte]uint32{}, bared: map[[16]byte]uint32{}, said: map[string]string{}}
}

// Encode writes an answer. Call sent once the answer has gone out: only then later answers refer to
// its nodes. An answer that never arrives so costs nothing but a number.
func (s *Session) Encode(p Payload) (data []byte, sent func(), err error) {
	if p, err = p.normal(); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	numbers, bared := map[Node]uint32{}, map[Node]uint32{}
	var fresh []numbered
	var lists []sentList
	w := textWriter{number: func(n Node) (uint32, use) {
		if number, ok := numbers[n]; ok {
			return number, repeated
		}
		if number, ok := bared[n]; ok {
			return number, repeatedBare
		}
		id := n.hash()
		if number, ok := s.sent[id]; ok && s.last-number < Remembered {
			numbers[n] = number
			return number, repeated
		}
		if number, ok := s.bared[id]; ok && s.last-number < Remembered && !n.hasContent() {
			bared[n] = number
			return number, repeatedBare
		}
		s.last++
		f := numbered{node: id, number: s.last}
		if numbers[n] = s.last; n.hasContent() {
			bared[n.bare()], f.bare = s.last, n.bare().hash()
		}
		fresh = append(fresh, f)
		return s.last, defined
	}, said: func(x Scalar) bool { return len(x.Value) >= minSaid && s.said[x.Name] == x.Value }, repeats: func(l List) (uint32, []run) {
		if len(l.Rows) < minRepeatedRow || len(l.Rows) > maxRepeatedRows {
			return 0, nil
		}
		s.lists++
		one := sentList{s.lists, rowHashes(l)}
		lists = append(lists, one)
		return one.number, s.rows.runs(one.rows)
	}}
	if !s.began {
		w.out.WriteString(Legend + "\n")
	}
	w.payload(p)
	return []byte(w.out.String()), func() { s.commit(fresh, lists, p.Scalars) }, nil
}

// minSaid is the length of values of scalars that are not repeated.
const minSaid = 12

// maxSaid is how many names of scalars are remembered.
const maxSaid = 256

// keepSaid remembers the scalars of an answer.
func keepSaid(said map[string]string, scalars []Scalar) {
	for _, x := range scalars {
		if _, known := said[x.Name]; known || len(said) < maxSaid {
			said[x.Name] = x.Value
		}
	}
}

// commit remembers nodes, lists and scalars as sent, and forgets the oldest.
func (s *Session) commit(fresh []numbered, lists []sentList, scalars []Scalar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = true
	keepSaid(s.said, scalars)
	for _, l := range lists {
		s.rows.add(l)
	}
	for _, f := range fresh {
		s.sent[f.node] = f.number
		if f.bare != ([16]byte{}) {
			s.bared[f.bare] = f.number
		}
	}
	s.order = append(s.order, fresh...)
	for len(s.order) > 0 && s.last-s.order[0].number >= Remembered {
		old := s.order[0]
		if s.sent[old.node] == old.number {
			delete(s.sent, old.node)
		}
		if s.bared[old.bare] == old.number {
			delete(s.bared, old.bare)
		}
		s.order = s.order[1:]
	}
}

func (n Node) hash() (id [16]byte) {
	h := sha256.New()
	for _, field := range []string{n.ID, n.Kind, n.Name, n.Path, n.Signature, n.Text} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(field)))
		h.Write(size[:])
		h.Write([]byte(field))
	}
	var lines [8]byte
	binary.BigEndian.PutUint32(lines[:4], n.Line)
	binary.BigEndian.PutUint32(lines[4:], n.EndLine)
	h.Write(lines[:])
	copy(id[:], h.Sum(nil))
	return id
}
