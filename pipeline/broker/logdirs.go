package broker

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// measured is the size of a partition when it was last computed, guarded by the partition's mu.
type measured struct {
	start int64 // start of the log then; -1 before the first time
	bytes int64 // bytes appended until then
	size  int64
}

// size returns how many bytes of batches the partition holds, as they were sent; a batch that
// Rewrite replaced counts with its original size. After DeleteRecords it reads the batches' sizes
// once.
func (p *partition) size(s *store) (int64, error) {
	p.mu.Lock()
	view, m := p.view, p.measured
	p.mu.Unlock()
	if view.start == 0 {
		return view.bytes, nil
	}
	if m.start == view.start {
		return m.size + view.bytes - m.bytes, nil
	}
	m = measured{start: view.start, bytes: view.bytes}
	_, hi := partitionSpan(keyBatch, p.topic.num, p.num)
	it, err := s.db.NewIter(&pebble.IterOptions{LowerBound: batchKey(p.topic.num, p.num, view.start), UpperBound: hi})
	if err != nil {
		return 0, err
	}
	for ok := it.First(); ok && lastOfBatchKey(it.Key()) < view.end; ok = it.Next() {
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

// serveDescribeLogDirs describes the only directory, the sizes of partitions, and the free space of
// the disk.
func (b *Broker) serveDescribeLogDirs(_ context.Context, r *request) (kmsg.Response, error) {
	req := r.msg.(*kmsg.DescribeLogDirsRequest)
	resp := kmsg.NewPtrDescribeLogDirsResponse()
	resp.SetVersion(req.Version)
	dir := kmsg.NewDescribeLogDirsResponseDir()
	dir.Dir = b.dir
	if u, err := b.opts.FS.GetDiskUsage(b.dir); err == nil {
		dir.TotalBytes, dir.UsableBytes = int64(u.TotalBytes), int64(u.AvailBytes)
	}
	add := func(t *topic, wanted func(int32) bool) error {
		st := kmsg.NewDescribeLogDirsResponseDirTopic()
		st.Topic = t.name
		for _, p := range *t.parts.Load() {
			if !wanted(p.num) {
				continue
			}
			n, err := p.size(b.store)
			if err != nil {
				return err
			}
			sp := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
			sp.Partition, sp.Size = p.num, n
			st.Partitions = append(st.Partitions, sp)
		}
		if len(st.Partitions) > 0 {
			dir.Topics = append(dir.Topics, st)
		}
		return nil
	}
	if err := eachTopic(b, req, add); err != nil {
		b.log.Error("describe log dirs", "err", err)
		dir.ErrorCode, dir.Topics = kerr.KafkaStorageError.Code, nil
	}
	resp.Dirs = append(resp.Dirs, dir)
	return resp, nil
}

// eachTopic calls fn with the topics that a request names, or with all.
func eachTopic(b *Broker, req *kmsg.DescribeLogDirsRequest, fn func(t *topic, wanted func(int32) bool) error) error {
	if req.Topics == nil {
		for _, t := range b.topics.all() {
			if err := fn(t, func(int32) bool { return true }); err != nil {
				return err
			}
		}
		return nil
	}
	for _, rt := range req.Topics {
		t := b.topics.named(rt.Topic)
		if t == nil {
			continue // as in Apache Kafka, unknown topics are omitted
		}
		wanted := map[int32]bool{}
		for _, n := range rt.Partitions {
			wanted[n] = true
		}
		if err := fn(t, func(n int32) bool { return wanted[n] }); err != nil {
			return err
		}
	}
	return nil
}
