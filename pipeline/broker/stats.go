package broker

import "github.com/recountdb/recount/pipeline/broker/storage"

// Stats are the broker's counters.
type Stats struct {
	Connections int // open now
	storage.Stats
}

// Stats may be called at any time. The store's own counters are 0 after Close and when the store
// has failed.
func (b *Broker) Stats() Stats {
	b.mu.Lock()
	s := Stats{Connections: len(b.conns)}
	b.mu.Unlock()
	s.Stats = b.data.Stats()
	return s
}
