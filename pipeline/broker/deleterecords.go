package broker

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"
)

// deleteRecords makes offset the first of the log (-1: its end), and deletes the batches that lie
// wholly before it. It returns the log's new start. The log's end stays: no offset is assigned
// twice.
func (l *Log) deleteRecords(ctx context.Context, p *partition, offset int64) (int64, *refusal) {
	view := p.now()
	if offset == -1 {
		offset = view.end
	}
	if offset < 0 || offset > view.end {
		return 0, refuseWith(kerr.OffsetOutOfRange, "offset %d of %s, which ends at %d", offset, p, view.end)
	}
	start := make(chan int64, 1)
	var files []segmentID
	err := l.store.update(ctx, func(w *pebble.Batch) (err error) {
		if p.topic.deleted {
			return refuseWith(kerr.UnknownTopicOrPartition, "the topic has been deleted")
		}
		t := &p.tail
		if offset > t.start {
			t.start = offset
			lo, _ := partitionSpan(keyBatch, p.topic.num, p.num)
			// Keys are last offsets, so batches that end before offset are deleted.
			if err := w.DeleteRange(lo, batchKey(p.topic.num, p.num, offset), nil); err != nil {
				return err
			}
			l.store.commit.touch(p)
			if files, err = l.store.segments.dropRead(w, p.topic); err != nil {
				return err
			}
		}
		start <- t.start
		return nil
	}, func() { l.store.segments.reading.markForRemoval(files) })
	if r, ok := err.(*refusal); ok {
		return 0, r
	}
	if err != nil {
		return 0, storeRefusal(err)
	}
	return <-start, nil
}
