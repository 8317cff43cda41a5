package storage

import (
	"errors"

	"github.com/cockroachdb/pebble/v2"
)

// TopicBytes estimates the size of a topic's readable batches from the average size of all batches
// it ever had; 0 if there is no such topic.
func (l *Log) TopicBytes(name string) (total int64) {
	t := l.topics.named(name)
	if t == nil {
		return 0
	}
	for _, p := range *t.parts.Load() {
		if v := p.View(); v.End > v.Start {
			total += int64(float64(v.Bytes) * float64(v.End-v.Start) / float64(v.End))
		}
	}
	return total
}

// measured is the size of a partition when it was last computed, guarded by the partition's mu.
type measured struct {
	start int64 // start of the log then; -1 before the first time
	bytes int64 // bytes appended until then
	size  int64
}

// size returns how many bytes of batches the partition holds, as they were sent; a batch that
// Rewrite replaced counts with its original size. After DeleteRecords it reads the batches' sizes
// once.
func (p *Partition) size(s *store) (int64, error) {
	p.mu.Lock()
	view, m := p.view, p.measured
	p.mu.Unlock()
	if view.Start == 0 {
		return view.Bytes, nil
	}
	if m.start == view.Start {
		return m.size + view.Bytes - m.bytes, nil
	}
	m = measured{start: view.Start, bytes: view.Bytes}
	_, hi := partitionSpan(keyBatch, p.topic.num, p.Num)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: batchKey(p.topic.num, p.Num, view.Start), UpperBound: hi})
	if err != nil {
		return 0, err
	}
	for ok := it.First(); ok && lastOfBatchKey(it.Key()) < view.End; ok = it.Next() {
		n, err := batchSize(it)
		if err != nil {
			return 0, errors.Join(err, it.Close())
		}
		m.size += int64(n)
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return 0, err
	}
	p.mu.Lock()
	p.measured = m
	p.mu.Unlock()
	return m.size, nil
}

// PartitionBytes returns how many bytes of batches a partition holds.
func (l *Log) PartitionBytes(p *Partition) (int64, error) { return p.size(l.store) }
