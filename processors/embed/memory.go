package embed

import (
	"github.com/recountdb/recount/processors/recent"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Memory is an Embedder that remembers what it made of the last few thousand
// commands, because a shell history repeats itself. It is as pure as the embedder
// below it: remembering shows in speed alone. Safe for concurrent use.
type Memory struct {
	Embedder
	commands *recent.Map[remembered, *made]
}

// remembered is all that concepts and embedding of an intent depend on.
type remembered struct{ command, stated string }

// made is shared by every intent of the same command, and so never written to.
type made struct {
	concepts  []string
	embedding []float32
}

const (
	maxCommands = 4096
	// maxRemembered keeps a few huge scripts from filling the memory.
	maxRemembered = 4 << 10
)

// Remember gives e a memory.
func Remember(e Embedder) *Memory {
	return &Memory{e, recent.New[remembered, *made](maxCommands)}
}

func (m *Memory) intent(in *recountv1.Intent) {
	k := remembered{in.Command, in.StatedIntent}
	x, ok := m.commands.Get(k)
	if !ok {
		fresh := &recountv1.Intent{Command: in.Command, StatedIntent: in.StatedIntent}
		Intent(fresh, m.Embedder)
		x = &made{fresh.Concepts, fresh.Embedding}
		if len(k.command)+len(k.stated) <= maxRemembered {
			m.commands.Add(k, x)
		}
	}
	in.Concepts, in.Embedding = x.concepts, x.embedding
	if in.Embedding != nil {
		in.Embedder = m.Name()
	}
}
