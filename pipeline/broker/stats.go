package broker

import "github.com/cockroachdb/pebble/v2"

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
	for _, t := range b.topics.all() {
		s.Topics++
		s.Partitions += int(t.count())
	}
	c := b.store.commit
	s.Commits, s.CommittedOps, s.AppendedBytes = c.commits.Load(), c.ops.Load(), c.appended.Load()
	s.Full = b.space.full() != nil
	if !b.enter() {
		return s
	}
	defer b.leave()
	m := b.store.metrics()
	if m == nil {
		return s
	}
	s.StoreBytes = int64(m.DiskSpaceUsage()) + b.store.segments.bytes.Load()
	s.StoreWritten = int64(m.WAL.BytesWritten) + b.store.segments.written.Load()
	for _, l := range m.Levels {
		// Pebble counts the blobs of a flush as compacted, too.
		s.StoreWritten += int64(l.TableBytesFlushed + l.TableBytesCompacted + l.BlobBytesCompacted)
	}
	return s
}

// metrics returns Pebble's metrics; nil when the store has failed. Pebble computes them only after
// a pending write of its manifest, which after a failure may never end.
func (s *store) metrics() *pebble.Metrics {
	if s.failure() != nil {
		return nil
	}
	got := make(chan *pebble.Metrics, 1)
	go func() { got <- s.db.Metrics() }()
	select {
	case m := <-got:
		return m
	case <-s.failed:
		return nil
	}
}
