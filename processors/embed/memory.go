package embed

import (
	"sync"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Memory is an Embedder that remembers what it made of the last few thousand
// commands, because a shell history repeats itself. It is as pure as the embedder
// below it: remembering shows in speed alone. Safe for concurrent use.
type Memory struct {
	Embedder

	mu sync.Mutex
	// young is filled; when it is full it becomes old, and what was old is
	// forgotten unless it was asked for again meanwhile.
	young, old map[remembered]*made
}

// remembered is all that concepts and embedding of an intent depend on.
type remembered struct{ command, stated string }

// made is shared by every intent of the same command, and so never written to.
type made struct {
	concepts  []string
	embedding []float32
}

const (
	maxYoung = 4096
	// maxRemembered keeps a few huge scripts from filling the memory.
	maxRemembered = 4 << 10
)

// Remember gives e a memory.
func Remember(e Embedder) *Memory {
	return &Memory{Embedder: e, young: map[remembered]*made{}}
}

func (m *Memory) intent(in *recountv1.Intent) {
	k := remembered{in.Command, in.StatedIntent}
	x := m.recall(k)
	if x == nil {
		fresh := &recountv1.Intent{Command: in.Command, StatedIntent: in.StatedIntent}
		Intent(fresh, m.Embedder)
		x = &made{fresh.Concepts, fresh.Embedding}
		if len(k.command)+len(k.stated) <= maxRemembered {
			m.keep(k, x)
		}
	}
	in.Concepts, in.Embedding = x.concepts, x.embedding
	if in.Embedding != nil {
		in.Embedder = m.Name()
	}
}

func (m *Memory) recall(k remembered) *made {
	m.mu.Lock()
	defer m.mu.Unlock()
	if x := m.young[k]; x != nil {
		return x
	}
	x := m.old[k]
	if x != nil {
		m.add(k, x)
	}
	return x
}

func (m *Memory) keep(k remembered, x *made) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.add(k, x)
}

func (m *Memory) add(k remembered, x *made) {
	if len(m.young) >= maxYoung {
		m.old, m.young = m.young, make(map[remembered]*made, maxYoung)
	}
	m.young[k] = x
}
