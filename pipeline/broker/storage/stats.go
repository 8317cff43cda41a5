package storage

import "github.com/cockroachdb/pebble/v2"

// Stats are the log's counters, counted since opening unless stated otherwise.
type Stats struct {
	Topics, Partitions int   // existing now
	Commits            int64 // group commits
	CommittedOps       int64 // ops in them: produces, offset commits, changes of topics
	AppendedBytes      int64 // of record batches
	Full               bool  // the free-space guard refuses produces now
	StoreBytes         int64 // on disk now
	StoreWritten       int64 // bytes written to disk: segment files, WAL, flushes and compactions
}

// Stats may be called at any time. The store's own counters are 0 after Close and when the store
// has failed.
func (l *Log) Stats() (s Stats) {
	for _, t := range l.topics.all() {
		s.Topics++
		s.Partitions += int(t.Count())
	}
	c := l.store.commit
	s.Commits, s.CommittedOps, s.AppendedBytes = c.commits.Load(), c.ops.Load(), c.appended.Load()
	s.Full = l.space.full() != nil
	if !l.enter() {
		return s
	}
	defer l.leave()
	m := l.store.metrics()
	if m == nil {
		return s
	}
	s.StoreBytes = int64(m.DiskSpaceUsage()) + l.store.segments.bytes.Load()
	s.StoreWritten = int64(m.WAL.BytesWritten) + l.store.segments.written.Load()
	for _, level := range m.Levels {
		// Pebble counts the blobs of a flush as compacted, too.
		s.StoreWritten += int64(level.TableBytesFlushed + level.TableBytesCompacted + level.BlobBytesCompacted)
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
