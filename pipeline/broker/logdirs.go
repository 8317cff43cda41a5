package broker

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker/storage"
)

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
	add := func(t *storage.Topic, wanted func(int32) bool) error {
		st := kmsg.NewDescribeLogDirsResponseDirTopic()
		st.Topic = t.Name
		for _, p := range t.Partitions() {
			if !wanted(p.Num) {
				continue
			}
			n, err := b.data.PartitionBytes(p)
			if err != nil {
				return err
			}
			sp := kmsg.NewDescribeLogDirsResponseDirTopicPartition()
			sp.Partition, sp.Size = p.Num, n
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
func eachTopic(b *Broker, req *kmsg.DescribeLogDirsRequest, fn func(t *storage.Topic, wanted func(int32) bool) error) error {
	if req.Topics == nil {
		for _, t := range b.data.Topics() {
			if err := fn(t, func(int32) bool { return true }); err != nil {
				return err
			}
		}
		return nil
	}
	for _, rt := range req.Topics {
		t := b.data.Topic(rt.Topic)
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
