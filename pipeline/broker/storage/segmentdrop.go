package storage

import (
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// A segment file is removed when nothing in it can be read any more: its topic is deleted, or
// DeleteRecords has passed the last batch of every partition in it. Its keys are deleted in the
// same commit, the file a little later, when no fetch that began earlier can still be reading it; a
// crash between the two leaves a file without a key, which the next opening removes. A file of
// which only some partitions are deleted stays complete: nothing is moved.

// dropTopic adds the removal of a topic's segments to the commit being built. The files may be
// removed when it is durable.
func (ss *segments) dropTopic(w *pebble.Batch, t topicNum) ([]segmentID, error) {
	for _, kind := range []byte{keySegment, keyHeld} {
		lo, hi := topicSpan(kind, t)
		if err := w.DeleteRange(lo, hi, nil); err != nil {
			return nil, err
		}
	}
	segs := ss.byTopic[t]
	delete(ss.byTopic, t)
	return ss.forget(segs), nil
}

// dropRead adds to the commit being built the removal of those segments of a topic in which all
// batches are before their partitions' starts.
func (ss *segments) dropRead(w *pebble.Batch, t *Topic) ([]segmentID, error) {
	var dead []*segment
	kept := slices.DeleteFunc(ss.byTopic[t.num], func(seg *segment) bool {
		for p, last := range seg.held {
			if last >= t.Partition(p).tail.Start {
				return false
			}
		}
		dead = append(dead, seg)
		return true
	})
	ss.byTopic[t.num] = kept
	for _, seg := range dead {
		if err := w.Delete(segmentKey(seg.id), nil); err != nil {
			return nil, err
		}
		for p := range seg.held {
			if err := w.Delete(heldKey(seg.id, p), nil); err != nil {
				return nil, err
			}
		}
	}
	return ss.forget(dead), nil
}

// forget stops writing to segs, which nothing will refer to.
func (ss *segments) forget(segs []*segment) []segmentID {
	var ids []segmentID
	among := func(s *segment) bool { return slices.Contains(segs, s) }
	ss.staged = slices.DeleteFunc(ss.staged, among)
	ss.writers = slices.DeleteFunc(ss.writers, among)
	ss.full = slices.DeleteFunc(ss.full, among)
	for _, seg := range segs {
		ids = append(ids, seg.id)
		ss.bytes.Add(-seg.end)
		_ = seg.close() // an error does not matter: nothing refers to these bytes
	}
	return ids
}
