package storage

import (
	"context"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"
)

// DeleteRecords makes offset the first of the log (-1: its end), and deletes the batches that lie
// wholly before it. It returns the log's new start. The log's end stays: no offset is assigned
// twice.
func (l *Log) DeleteRecords(ctx context.Context, p *Partition, offset int64) (int64, *Refusal) {
	view := p.View()
	if offset == -1 {
		offset = view.End
	}
	if offset < 0 || offset > view.End {
		return 0, Refuse(kerr.OffsetOutOfRange, "offset %d of %s, which ends at %d", offset, p, view.End)
	}
	start := make(chan int64, 1)
	var files []segmentID
	err := l.store.update(ctx, func(w *pebble.Batch) (err error) {
		if p.topic.deleted {
			return Refuse(kerr.UnknownTopicOrPartition, "the topic has been deleted")
		}
		t := &p.tail
		if offset > t.Start {
			t.Start = offset
			lo, _ := partitionSpan(keyBatch, p.topic.num, p.Num)
			// Keys are last offsets, so batches that end before offset are deleted.
			if err := w.DeleteRange(lo, batchKey(p.topic.num, p.Num, offset), nil); err != nil {
				return err
			}
			l.store.commit.touch(p)
			if files, err = l.store.segments.dropRead(w, p.topic); err != nil {
				return err
			}
		}
		start <- t.Start
		return nil
	}, func() { l.store.segments.reading.markForRemoval(files) })
	if r, ok := err.(*Refusal); ok {
		return 0, r
	}
	if err != nil {
		return 0, storeRefusal(err)
	}
	return <-start, nil
}
