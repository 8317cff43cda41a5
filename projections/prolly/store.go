package prolly

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
)

// ErrNotFound is returned by a Store for a chunk that it does not have. A map that needs the chunk
// is damaged, or its root was never stored here.
var ErrNotFound = errors.New("chunk not found")

// Ref names a chunk by its place and its hash. A Store stores a chunk at two places twice.
type Ref struct {
	// Space is the space of its map (DB.In). In a store ordered by space, a walk over one map reads
	// only the chunks of its space.
	Space byte
	// Place is the key of the link that leads to the chunk. It is empty for the first chunk of a
	// level, and so for a root. In a store ordered by place, similar chunks are adjacent: the
	// versions of one, and its neighbours.
	Place string
	Hash  Hash
}

// Compare orders by space, then by place, then by hash.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Space, o.Space), cmp.Compare(r.Place, o.Place), r.Hash.Compare(o.Hash))
}

// Store stores chunks. Their content is opaque to it: the stored form of the package comment. It
// must be safe for concurrent use.
type Store interface {
	// Get returns the stored form of a chunk, or ErrNotFound. The caller may keep it but must not
	// change it.
	Get(Ref) ([]byte, error)
	// Put stores chunks. A chunk that is already stored has the same content. If Put fails, any of
	// them may have been stored.
	Put([]Chunk) error
}

// Chunk is a chunk in its stored form.
type Chunk struct {
	Ref
	Stored []byte
}

// Memory is a Store in memory.
type Memory struct {
	mu     sync.RWMutex
	chunks map[Ref][]byte
	bytes  int64
}

// NewMemory returns an empty store.
func NewMemory() *Memory { return &Memory{chunks: map[Ref][]byte{}} }

// Get implements Store.
func (m *Memory) Get(r Ref) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	stored, ok := m.chunks[r]
	if !ok {
		return nil, ErrNotFound
	}
	return stored, nil
}

// Put implements Store.
func (m *Memory) Put(chunks []Chunk) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range chunks {
		m.bytes += int64(len(c.Stored) - len(m.chunks[c.Ref]))
		m.chunks[c.Ref] = c.Stored
	}
	return nil
}

// Delete deletes chunks.
func (m *Memory) Delete(refs []Ref) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range refs {
		m.bytes -= int64(len(m.chunks[r]))
		delete(m.chunks, r)
	}
	return nil
}

// Refs yields the names of all chunks in ascending order.
func (m *Memory) Refs() iter.Seq2[Ref, error] {
	return func(yield func(Ref, error) bool) {
		m.mu.RLock()
		all := slices.SortedFunc(maps.Keys(m.chunks), Ref.Compare)
		m.mu.RUnlock()
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Size returns the number of chunks and their total size in bytes.
func (m *Memory) Size() (chunks int, bytes int64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.chunks), m.bytes
}

// Staged is a Store in front of another one that it only reads. It collects the chunks that are put
// in memory, until the caller takes them and writes them with the rest of a transaction.
type Staged struct {
	base Store
	new  *Memory

	mu    sync.Mutex
	order []Ref
}

// NewStaged returns a staged store in front of base.
func NewStaged(base Store) *Staged { return &Staged{base: base, new: NewMemory()} }

// Get implements Store.
func (s *Staged) Get(r Ref) ([]byte, error) {
	if stored, err := s.new.Get(r); err == nil {
		return stored, nil
	}
	return s.base.Get(r)
}

// Put implements Store.
func (s *Staged) Put(chunks []Chunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range chunks {
		if _, err := s.new.Get(c.Ref); err != nil {
			s.order = append(s.order, c.Ref)
		}
	}
	return s.new.Put(chunks)
}

// Chunks returns the chunks that were put, each once, in their order.
func (s *Staged) Chunks() []Chunk {
	s.mu.Lock()
	defer s.mu.Unlock()
	chunks := make([]Chunk, len(s.order))
	for i, r := range s.order {
		chunks[i].Ref = r
		chunks[i].Stored, _ = s.new.Get(r)
	}
	return chunks
}
