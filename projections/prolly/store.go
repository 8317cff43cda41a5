package prolly

import (
	"cmp"
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
)

// ErrNotFound is what a Store answers about a chunk that it does not have. A map
// that needs the chunk is damaged, or its root was never stored here.
var ErrNotFound = errors.New("chunk not found")

// Ref names a chunk: by where it stands, and by its hash. A chunk that stands in two
// places is two for a Store.
type Ref struct {
	// Space is that of its map (DB.In). A store that keeps chunks in the order of their
	// spaces reads of one what a walk over one map needs, and no more.
	Space byte
	// Place is the key of the link that leads to the chunk; empty for the first of a
	// level, and so for a root. A store that keeps chunks in the order of their places
	// has those together that are alike: the versions of one, and its neighbours.
	Place string
	Hash  Hash
}

// Compare orders by space, then by place, then by hash.
func (r Ref) Compare(o Ref) int {
	return cmp.Or(cmp.Compare(r.Space, o.Space), cmp.Compare(r.Place, o.Place), r.Hash.Compare(o.Hash))
}

// Store keeps chunks. What it keeps of a chunk is opaque to it: the stored form of the
// package comment. It is used by many goroutines at once.
type Store interface {
	// Get returns what was put under a name, or ErrNotFound. The caller does not
	// change it, and may keep it.
	Get(Ref) ([]byte, error)
	// Put keeps chunks. One that is there already is the same. When Put fails, any
	// of them may have been kept.
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

// NewMemory makes an empty store.
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

// Delete forgets chunks.
func (m *Memory) Delete(refs []Ref) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range refs {
		m.bytes -= int64(len(m.chunks[r]))
		delete(m.chunks, r)
	}
	return nil
}

// Refs yields the name of every chunk, ascending.
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

// Size is how many chunks there are and how many bytes of them.
func (m *Memory) Size() (chunks int, bytes int64) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return len(m.chunks), m.bytes
}

// Staged is a Store that keeps what is put in memory, in front of another store
// that is only read, until the caller takes it and writes it with the rest of a
// transaction.
type Staged struct {
	base Store
	new  *Memory

	mu    sync.Mutex
	order []Ref
}

// NewStaged makes a staged store in front of base.
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

// Chunks are those that were put, each once, in the order they were.
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
