package storage

import (
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// OffsetAt finds the first record, by offset, with a timestamp of ts or later; -1, -1 if there is
// none.
func (l *Log) OffsetAt(p *Partition, ts int64, view State) (offset, at int64, err error) {
	if view.MaxTime < ts {
		return -1, -1, nil
	}
	from := view.Start
	// An entry of the time index means that no record up to this offset is later than its time. So
	// the last entry before ts is where the search starts.
	lo, _ := partitionSpan(keyTime, p.topic.num, p.Num)
	it, err := l.store.db.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: timeKey(p.topic.num, p.Num, ts)})
	if err != nil {
		return -1, -1, err
	}
	if it.Last() {
		v, verr := it.ValueAndErr()
		if verr != nil || len(v) != 8 {
			return -1, -1, errors.Join(damaged("time index"), verr, it.Close())
		}
		from = max(from, int64(binary.BigEndian.Uint64(v))+1)
	}
	if err := errors.Join(it.Error(), it.Close()); err != nil {
		return -1, -1, err
	}
	return l.FirstAt(p, from, view, ts)
}

// FirstAt is OffsetAt starting at an offset.
func (l *Log) FirstAt(p *Partition, from int64, view State, ts int64) (offset, at int64, err error) {
	_, hi := partitionSpan(keyBatch, p.topic.num, p.Num)
	it, err := l.store.db.NewIter(&pebble.IterOptions{LowerBound: batchKey(p.topic.num, p.Num, from), UpperBound: hi})
	if err != nil {
		return -1, -1, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var raw []byte
	for ok := it.First(); ok; ok = it.Next() {
		if lastOfBatchKey(it.Key()) >= view.End {
			break
		}
		if raw, err = l.store.appendBatch(raw[:0], it, p.topic.num); err != nil {
			return -1, -1, err
		}
		b := wire.Batch(raw)
		if b.MaxTimestamp() < ts {
			continue
		}
		if offset, at := b.FirstAt(ts, view.Start); offset >= 0 {
			return offset, at, nil
		}
	}
	return -1, -1, it.Error()
}
