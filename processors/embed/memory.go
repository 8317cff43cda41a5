package embed

import (
	lru "github.com/hashicorp/golang-lru/v2"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Memory is an Embedder that caches the results for the last few thousand commands, because shell
// histories repeat. It is as pure as the embedder below it: the cache affects only speed. It is
// safe for concurrent use.
type Memory struct {
	Embedder
	commands *lru.Cache[remembered, *made]
}

// remembered is the key of the cache: everything on which the concepts and the embedding of an
// intent depend.
type remembered struct{ command, stated string }

// made is a cached result. It is shared by every intent of the same command and must not be
// modified.
type made struct {
	concepts  []string
	embedding []float32
}

const (
	maxCommands = 4096
	// maxRemembered keeps a few huge scripts from filling the cache; it is in bytes.
	maxRemembered = 4 << 10
)

// Remember returns e with a cache.
func Remember(e Embedder) *Memory {
	c, err := lru.New[remembered, *made](maxCommands)
	if err != nil {
		panic(err) // only a number below 1 is refused
	}
	return &Memory{e, c}
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
