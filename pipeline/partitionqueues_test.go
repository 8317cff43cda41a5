package pipeline

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/schemas"
)

var (
	lane0 = schemas.TopicPartition{Topic: "t", Partition: 0}
	lane1 = schemas.TopicPartition{Topic: "t", Partition: 1}
)

func rec(tp schemas.TopicPartition, offset int64, value []byte) *kgo.Record {
	return &kgo.Record{Topic: tp.Topic, Partition: tp.Partition, Offset: offset, Value: value}
}

func recs(tp schemas.TopicPartition, from, to int64) []*kgo.Record {
	var out []*kgo.Record
	for o := from; o < to; o++ {
		out = append(out, rec(tp, o, []byte("v")))
	}
	return out
}

func offsets(d *delivery) []int64 {
	var out []int64
	for _, r := range d.recs {
		out = append(out, r.Offset)
	}
	return out
}

// next takes a batch that must be available without waiting.
func next(t *testing.T, qs *partitionQueues) *delivery {
	t.Helper()
	d, err := qs.take(t.Context())
	if err != nil || d == nil {
		t.Fatalf("take: %v, %v", d, err)
	}
	return d
}

// blocked checks that no batch is available.
func blocked(t *testing.T, qs *partitionQueues) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	if d, err := qs.take(ctx); err == nil {
		t.Fatalf("took %v, want nothing", offsets(d))
	}
}

func TestLaneHasOneBatchOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		qs := newPartitionQueues(3, 0)
		qs.add(lane0, 0, -1)
		qs.add(lane1, 10, -1)
		qs.push(lane0, recs(lane0, 0, 7))
		first := next(t, qs)
		if diff := cmp.Diff([]int64{0, 1, 2}, offsets(first)); diff != "" || first.next != 3 {
			t.Errorf("first (-want +got), next %d:\n%s", first.next, diff)
		}
		blocked(t, qs) // its next batch waits, though the records are available

		qs.push(lane1, recs(lane1, 10, 11))
		other := next(t, qs)
		if other.tp != lane1 {
			t.Errorf("got %s, want the other queue", other.tp)
		}

		first.nack()
		again := next(t, qs)
		if diff := cmp.Diff([]int64{0, 1, 2}, offsets(again)); diff != "" || again.attempt != 1 {
			t.Errorf("again, attempt %d (-want +got):\n%s", again.attempt, diff)
		}
		if !again.ack() {
			t.Error("done: false")
		}
		if diff := cmp.Diff([]int64{3, 4, 5}, offsets(next(t, qs))); diff != "" {
			t.Errorf("second (-want +got):\n%s", diff)
		}
	})
}

func TestLaneBatchBytes(t *testing.T) {
	qs := newPartitionQueues(100, 300)
	qs.add(lane0, 0, -1)
	qs.push(lane0, []*kgo.Record{
		rec(lane0, 0, make([]byte, 1000)), // by itself, although it is larger than the limit
		rec(lane0, 1, make([]byte, 100)), rec(lane0, 2, make([]byte, 10)),
		rec(lane0, 3, make([]byte, 200)),
	})
	for _, want := range [][]int64{{0}, {1, 2}, {3}} {
		d := next(t, qs)
		if diff := cmp.Diff(want, offsets(d)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		d.ack()
	}
}

// TestLaneGaps checks that the position moves over offsets without records, also at the end of a
// partition.
func TestLaneGaps(t *testing.T) {
	qs := newPartitionQueues(0, 0)
	qs.add(lane0, 0, 10)
	qs.push(lane0, []*kgo.Record{rec(lane0, 2, []byte("v")), rec(lane0, 5, []byte("v"))})
	d := next(t, qs)
	if d.next != 6 || d.last != 5 {
		t.Errorf("next %d, last %d", d.next, d.last)
	}
	d.ack()
	qs.push(lane0, recs(lane0, 12, 13)) // the first record after the gap is beyond the end
	d = next(t, qs)
	if d.next != 10 || len(d.recs) != 0 {
		t.Errorf("next %d with %d records; want 10 with none", d.next, len(d.recs))
	}
	d.ack()
	if d, err := qs.take(t.Context()); d != nil || err != nil {
		t.Errorf("at the end: %v, %v", d, err)
	}
}

// TestLaneComesBack checks that a partition that was revoked and assigned again starts at the new
// offset, and that a batch in flight from before no longer moves it.
func TestLaneComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		qs := newPartitionQueues(0, 0)
		qs.add(lane0, 0, -1)
		qs.push(lane0, recs(lane0, 0, 5))
		old := next(t, qs)
		qs.remove(lane0)
		qs.push(lane0, recs(lane0, 5, 6)) // fetched before the removal, pushed after it: dropped
		qs.add(lane0, 3, -1)
		if old.ack() {
			t.Error("an old batch moved a position that is no longer ours")
		}
		blocked(t, qs)
		qs.push(lane0, recs(lane0, 0, 8)) // below its start: dropped
		if diff := cmp.Diff([]int64{3, 4, 5, 6, 7}, offsets(next(t, qs))); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

// TestLanePauses checks that a queue without a consumer is no longer fetched, is resumed when it is
// emptied, and is not paused after its removal.
func TestLanePauses(t *testing.T) {
	cl, err := kgo.NewClient(kgo.SeedBrokers("127.0.0.1:1"))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	paused := func() int { return len(cl.PauseFetchPartitions(nil)["t"]) }
	qs := newPartitionQueues(1, 100)
	qs.add(lane0, 0, -1)
	qs.session(cl)
	qs.push(lane0, []*kgo.Record{rec(lane0, 0, make([]byte, 500)), rec(lane0, 1, []byte("v"))})
	if paused() != 1 {
		t.Error("full, and not paused")
	}
	next(t, qs).ack()
	if paused() != 0 {
		t.Error("emptied, and still paused")
	}
	qs.push(lane0, []*kgo.Record{rec(lane0, 2, make([]byte, 500))})
	if paused() != 1 {
		t.Error("full again, and not paused")
	}
	qs.remove(lane0)
	if paused() != 0 {
		t.Error("removed, and still paused: it would stall for ever if it came back")
	}
}

func TestLanesFail(t *testing.T) {
	qs := newPartitionQueues(0, 0)
	qs.add(lane0, 0, -1)
	qs.push(lane0, recs(lane0, 0, 5))
	qs.fail(schemas.ErrFatal)
	if _, err := qs.take(t.Context()); err != schemas.ErrFatal {
		t.Errorf("got %v", err)
	}
}

// TestLanesKeepStep checks that partitions with end offsets finish together, even if one has half
// as many records.
func TestLanesKeepStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		qs := newPartitionQueues(2, 0)
		qs.add(lane0, 0, 8)
		qs.add(lane1, 0, 4)
		qs.push(lane0, recs(lane0, 0, 8))
		qs.push(lane1, recs(lane1, 0, 4))
		long, short := next(t, qs), next(t, qs)
		if long.tp != lane0 || short.tp != lane1 {
			t.Fatalf("got %s and %s", long.tp, short.tp)
		}
		short.ack()
		blocked(t, qs) // half of the one, while the first quarter of the other is in flight
		long.ack()
		if long = next(t, qs); long.tp != lane0 {
			t.Fatalf("got %s, which is ahead", long.tp)
		}
		if short = next(t, qs); short.tp != lane1 {
			t.Fatalf("got %s", short.tp)
		}
		short.ack()
		long.ack()
		next(t, qs).ack()
		next(t, qs).ack()
		if d, err := qs.take(t.Context()); d != nil || err != nil {
			t.Errorf("at the end: %v, %v", d, err)
		}
	})
}
