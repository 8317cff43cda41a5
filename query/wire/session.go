package wire

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"sync"
)

// Remembered is how many of the last nodes of a session can be referred to.
const Remembered = 1 << 15

// Legend explains the text to a model in one line. A session sends it with its first answer.
const Legend = "#! node: kind name file:first-last; @N: defines it, @N repeats it; :LINE is in the file before; ## list column…, column=value holds for all its rows"

// Session writes the answers of one connection as text. A node that was sent is referred to by its
// number in later answers. Its methods may be called concurrently.
type Session struct {
	mu   sync.Mutex
	last uint32
	// sent has the numbers of nodes that the other side has, and order those nodes by number.
	sent  map[[16]byte]uint32
	order []numbered
	began bool
}

type numbered struct {
	node   [16]byte
	number uint32
}

// NewSession returns a session of a new connection.
func NewSession() *Session { return &Session{sent: map[[16]byte]uint32{}} }

// Encode writes an answer. Call sent once the answer has gone out: only then later answers refer to
// its nodes. An answer that never arrives so costs nothing but a number.
func (s *Session) Encode(p Payload) (data []byte, sent func(), err error) {
	if p, err = p.normal(); err != nil {
		return nil, nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	numbers := map[Node]uint32{}
	var fresh []numbered
	w := textWriter{number: func(n Node) (uint32, bool) {
		if number, ok := numbers[n]; ok {
			return number, true
		}
		id := n.hash()
		number, known := s.sent[id]
		if known = known && s.last-number < Remembered; !known {
			s.last++
			number = s.last
			fresh = append(fresh, numbered{id, number})
		}
		numbers[n] = number
		return number, known
	}}
	if !s.began {
		w.out.WriteString(Legend + "\n")
	}
	w.payload(p)
	return []byte(w.out.String()), func() { s.commit(fresh) }, nil
}

// commit remembers nodes as sent, and forgets the oldest.
func (s *Session) commit(fresh []numbered) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.began = true
	for _, f := range fresh {
		s.sent[f.node] = f.number
	}
	s.order = append(s.order, fresh...)
	for len(s.order) > 0 && s.last-s.order[0].number >= Remembered {
		if old := s.order[0]; s.sent[old.node] == old.number {
			delete(s.sent, old.node)
		}
		s.order = s.order[1:]
	}
}

// Reset forgets what was sent: call it if the other side lost it, as a model does whose context was
// compacted. Numbers go on, so that no old number means a new node.
func (s *Session) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	clear(s.sent)
	s.order, s.began = nil, false
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

// Receiver reads the answers of a session, in the order in which they were sent. It forgets nodes
// that no answer can refer to any more.
type Receiver struct{ known map[uint32]Node }

// NewReceiver returns the receiver of a new session.
func NewReceiver() *Receiver { return &Receiver{known: map[uint32]Node{}} }

// Decode reads an answer. After an error the receiver is as before.
func (r *Receiver) Decode(data []byte) (Payload, error) {
	known := nodes{before: r.known, added: map[uint32]Node{}}
	p, err := readText(data, known)
	if err != nil {
		return Payload{}, err
	}
	maps.Copy(r.known, known.added)
	if len(r.known) > 4*Remembered {
		newest := slices.Max(slices.Collect(maps.Keys(r.known)))
		maps.DeleteFunc(r.known, func(n uint32, _ Node) bool { return newest-n > MaxItems+Remembered })
	}
	return p, nil
}
