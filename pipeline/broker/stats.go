package broker

// Stats are the broker's counters, counted since opening unless stated otherwise.
type Stats struct {
	Connections   int   // open now
	Topics        int   // existing now
	Partitions    int   // existing now
	Commits       int64 // group commits
	CommittedOps  int64 // ops in them: produces, offset commits, changes of topics
	AppendedBytes int64 // of record batches
	Full          bool  // the free-space guard refuses produces now
	StoreBytes    int64 // on disk now
	StoreWritten  int64 // bytes written to disk by the store: segment files, WAL, flushes and compactions
}

// Stats may be called at any time. The store's own counters are 0 after Close and when the store
// has failed.
func (b *Broker) Stats() Stats {
	b.mu.Lock()
	s := Stats{Connections: len(b.conns)}
	b.mu.Unlock()
	l := b.data.Stats()
	s.Topics, s.Partitions, s.Full = l.Topics, l.Partitions, l.Full
	s.Commits, s.CommittedOps, s.AppendedBytes = l.Commits, l.CommittedOps, l.AppendedBytes
	s.StoreBytes, s.StoreWritten = l.StoreBytes, l.StoreWritten
	return s
}
