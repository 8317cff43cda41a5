package prolly

import (
	"errors"
	"iter"
	"maps"
	"slices"
	"sync"
)

// ErrNotFound is what a Store answers about a chunk that it does not have. A map
// that needs the chunk is damaged, or its root was never stored here.
var ErrNotFound = errors.New("chunk not found")

// Store keeps chunks by their hash. What it keeps of a chunk is opaque to it: the
// stored form of the package comment. It is used by many goroutines at once.
type Store interface {
	// Get returns what was put under a hash, or ErrNotFound. The caller does not
	// change it, and may keep it.
	Get(Hash) ([]byte, error)
	// Put keeps chunks. One that is there already is the same. When Put fails, any
	// of them may have been kept.
	Put([]Chunk) error
}

// Chunk is a chunk in its stored form.
type Chunk struct {
	Hash   Hash
	Stored []byte
}

// Memory is a Store in memory.
type Memory struct {
	mu     sync.RWMutex
	chunks map[Hash][]byte
	bytes  int64
}

// NewMemory makes an empty store.
func NewMemory() *Memory { return &Memory{chunks: map[Hash][]byte{}} }

// Get implements Store.
func (m *Memory) Get(h Hash) ([]byte, error) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	stored, ok := m.chunks[h]
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
		m.bytes += int64(len(c.Stored) - len(m.chunks[c.Hash]))
		m.chunks[c.Hash] = c.Stored
	}
	return nil
}

// Delete forgets chunks.
func (m *Memory) Delete(hashes []Hash) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, h := range hashes {
		m.bytes -= int64(len(m.chunks[h]))
		delete(m.chunks, h)
	}
	return nil
}

// Hashes yields the hash of every chunk, ascending.
func (m *Memory) Hashes() iter.Seq2[Hash, error] {
	return func(yield func(Hash, error) bool) {
		m.mu.RLock()
		all := slices.SortedFunc(maps.Keys(m.chunks), Hash.Compare)
		m.mu.RUnlock()
		for _, h := range all {
			if !yield(h, nil) {
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
	order []Hash
}

// NewStaged makes a staged store in front of base.
func NewStaged(base Store) *Staged { return &Staged{base: base, new: NewMemory()} }

// Get implements Store.
func (s *Staged) Get(h Hash) ([]byte, error) {
	if stored, err := s.new.Get(h); err == nil {
		return stored, nil
	}
	return s.base.Get(h)
}

// Put implements Store.
func (s *Staged) Put(chunks []Chunk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range chunks {
		if _, err := s.new.Get(c.Hash); err != nil {
			s.order = append(s.order, c.Hash)
		}
	}
	return s.new.Put(chunks)
}

// Chunks are those that were put, each once, in the order they were.
func (s *Staged) Chunks() []Chunk {
	s.mu.Lock()
	defer s.mu.Unlock()
	chunks := make([]Chunk, len(s.order))
	for i, h := range s.order {
		chunks[i].Hash = h
		chunks[i].Stored, _ = s.new.Get(h)
	}
	return chunks
}
