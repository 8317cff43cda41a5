package broker

import (
	"context"
	"encoding/binary"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// The timestamps with a special meaning.
const (
	offsetLatest        = -1
	offsetEarliest      = -2
	offsetMaxTimestamp  = -3
	offsetEarliestLocal = -4
)

func (b *Broker) serveListOffsets(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.ListOffsetsRequest)
	resp := kmsg.NewPtrListOffsetsResponse()
	resp.SetVersion(req.Version)
	for _, rt := range req.Topics {
		st := kmsg.NewListOffsetsResponseTopic()
		st.Topic = rt.Topic
		t := b.topics.named(rt.Topic)
		for _, rp := range rt.Partitions {
			sp := kmsg.NewListOffsetsResponseTopicPartition()
			sp.Partition, sp.Offset, sp.Timestamp, sp.LeaderEpoch = rp.Partition, -1, -1, -1
			var p *partition
			if t != nil {
				p = t.partition(rp.Partition)
			}
			if p == nil {
				sp.ErrorCode = kerr.UnknownTopicOrPartition.Code
			} else {
				b.listOffset(&sp, p, rp)
			}
			st.Partitions = append(st.Partitions, sp)
		}
		resp.Topics = append(resp.Topics, st)
	}
	return resp, nil
}

func (b *Broker) listOffset(sp *kmsg.ListOffsetsResponseTopicPartition, p *partition, rp kmsg.ListOffsetsRequestTopicPartition) {
	view := p.now()
	if err := checkEpoch(rp.CurrentLeaderEpoch); err != nil {
		sp.ErrorCode = err.Code
		return
	}
	sp.LeaderEpoch = leaderEpoch
	var err error
	switch ts := rp.Timestamp; {
	case ts == offsetLatest:
		sp.Offset = view.end
	case ts == offsetEarliest, ts == offsetEarliestLocal:
		sp.Offset = view.start
	case ts == offsetMaxTimestamp:
		if view.maxTimeLast >= view.start {
			sp.Offset, sp.Timestamp, err = p.firstAt(b.store, view.maxTimeLast, view, view.maxTime)
		}
	case ts < 0:
		// These ask about tiered storage, which does not exist here.
		sp.ErrorCode = kerr.UnsupportedVersion.Code
	default:
		sp.Offset, sp.Timestamp, err = p.offsetAt(b.store, ts, view)
	}
	if err != nil {
		b.log.Error("list offsets", "partition", p.String(), "err", err)
		sp.Offset, sp.Timestamp, sp.ErrorCode = -1, -1, kerr.KafkaStorageError.Code
	}
}

// offsetAt finds the first record, by offset, with a timestamp of ts or later; -1, -1 if there is
// none.
func (p *partition) offsetAt(s *store, ts int64, view tail) (offset, at int64, err error) {
	if view.maxTime < ts {
		return -1, -1, nil
	}
	from := view.start
	// An entry of the time index means that no record up to this offset is later than its time. So
	// the last entry before ts is where the search starts.
	lo, _ := partitionSpan(keyTime, p.topic.num, p.num)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lo, UpperBound: timeKey(p.topic.num, p.num, ts)})
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
	return p.firstAt(s, from, view, ts)
}

// firstAt is offsetAt starting at an offset.
func (p *partition) firstAt(s *store, from int64, view tail, ts int64) (offset, at int64, err error) {
	_, hi := partitionSpan(keyBatch, p.topic.num, p.num)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: batchKey(p.topic.num, p.num, from), UpperBound: hi})
	if err != nil {
		return -1, -1, err
	}
	defer func() { err = errors.Join(err, it.Close()) }()
	var raw []byte
	for ok := it.First(); ok; ok = it.Next() {
		if lastOfBatchKey(it.Key()) >= view.end {
			break
		}
		if raw, err = s.appendBatch(raw[:0], it, p.topic.num); err != nil {
			return -1, -1, err
		}
		b := wire.Batch(raw)
		if b.MaxTimestamp() < ts {
			continue
		}
		if offset, at := b.FirstAt(ts, view.start); offset >= 0 {
			return offset, at, nil
		}
	}
	return -1, -1, it.Error()
}
