package storage

import (
	"bytes"
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/twmb/franz-go/pkg/kerr"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// meet makes what submit queues one group.
func meet(t *testing.T, b *Log, submit func()) {
	t.Helper()
	held, on := make(chan struct{}), make(chan struct{})
	go b.store.update(t.Context(), func(*pebble.Batch) error {
		close(held)
		<-on
		return nil
	}, nil)
	<-held
	submit()
	close(on)
}

// TestAppendsThatMeet checks that calls in a group share batches in their order, up to the maximum
// size of a batch and unless another op comes between them, that each gets the offsets of its own
// records, and that a refused one does not affect others.
func TestAppendsThatMeet(t *testing.T) {
	for name, bulk := range map[string]int{"in the store": 1 << 30, "in segment files": 1} {
		t.Run(name, func(t *testing.T) {
			b := memLog(t, Options{BulkBytes: bulk})
			for topic, parts := range map[string]int32{"log": 2, "gone": 1, "small": 1} {
				var configs map[string]string
				if topic == "small" {
					configs = map[string]string{"max.message.bytes": "1000"}
				}
				if _, err := b.CreateTopic(t.Context(), topic, parts, configs, false); err != nil {
					t.Fatal(err)
				}
			}
			type call struct {
				topic   string
				part    int32
				sizes   []int
				base    int64
				refused error
				op      *ownAppend
			}
			at := time.UnixMilli(1_700_000_000_000)
			records := func(c *call) []wire.Record {
				rs := make([]wire.Record, len(c.sizes))
				for i, n := range c.sizes {
					rs[i] = wire.Record{Value: bytes.Repeat([]byte{byte(c.base) + byte(i)}, n), Timestamp: at}
				}
				return rs
			}
			queue := func(calls []*call) {
				for _, c := range calls {
					var err error
					if c.op, err = b.beginAppend(c.topic, c.part, records(c)); err != nil {
						t.Fatal(err)
					}
				}
			}
			// Each line is a batch of its own.
			first := [][]*call{
				{{topic: "log", sizes: []int{1}}, {topic: "log", base: 1, sizes: []int{900, 0, 20}}, {topic: "log", base: 4, sizes: []int{1000}}},
				{{topic: "log", base: 5, sizes: []int{130_000}}, {topic: "log", base: 6, sizes: []int{500}}},
				{{topic: "log", base: 7, sizes: []int{200_000}}},
				{{topic: "log", base: 8, sizes: []int{70_000}}},
				{{topic: "log", base: 9, sizes: []int{70_000}}, {topic: "log", base: 10, sizes: []int{1, 2}}},
				{{topic: "log", part: 1, sizes: []int{1, 1, 1}}, {topic: "log", part: 1, base: 3, sizes: []int{5}}},
				{{topic: "small", sizes: []int{400}}, {topic: "small", base: 1, sizes: []int{400}}},
				{{topic: "small", base: 2, sizes: []int{400}}},
				{{topic: "gone", sizes: []int{1}}},
			}
			second := [][]*call{
				{{topic: "gone", refused: kerr.UnknownTopicOrPartition, sizes: []int{1}}, {topic: "gone", refused: kerr.UnknownTopicOrPartition, sizes: []int{1}}},
				{{topic: "log", base: 12, sizes: []int{3}}, {topic: "log", base: 13, sizes: []int{4}}},
			}
			meet(t, b, func() {
				// Mix the calls of several partitions, keeping each partition's order.
				var mixed []*call
				for left := slices.Clone(first); len(left) > 0; {
					i := (7 * len(mixed)) % len(left)
					for slices.ContainsFunc(left[:i], func(l []*call) bool { return l[0].topic == left[i][0].topic && l[0].part == left[i][0].part }) {
						i--
					}
					if mixed = append(mixed, left[i][0]); len(left[i]) == 1 {
						left = slices.Delete(left, i, i+1)
					} else {
						left[i] = left[i][1:]
					}
				}
				queue(mixed)
				go b.DeleteTopic(t.Context(), b.topics.named("gone"))
				c := b.store.commit
				for queued := 0; queued <= len(mixed); runtime.Gosched() {
					c.mu.Lock()
					queued = len(c.queue)
					c.mu.Unlock()
				}
				for _, calls := range second {
					queue(calls)
				}
			})
			for _, calls := range slices.Concat(first, second) {
				var all []wire.Record
				for i, c := range calls {
					<-c.op.out
					if !errors.Is(c.op.err, c.refused) || c.refused == nil && (c.op.err != nil || c.op.base != c.base) {
						t.Errorf("%s/%d: call %d at %d: told %d, %v", c.topic, c.part, i, c.base, c.op.base, c.op.err)
					}
					all = append(all, records(c)...)
				}
				c := calls[0]
				if c.topic == "gone" {
					continue
				}
				want := wire.Batch(wire.EncodeBatch(nil, all))
				want.SetOffset(c.base, LeaderEpoch)
				num := b.topics.named(c.topic).num
				it, err := b.store.db.NewIter(&pebble.IterOptions{LowerBound: batchKey(num, c.part, c.base)})
				if err != nil {
					t.Fatal(err)
				}
				it.First()
				if got, err := b.store.appendBatch(nil, it, num); err != nil || !bytes.Equal(got, want) {
					t.Errorf("%s/%d: the batch at %d is not the %d records of %d calls, %v", c.topic, c.part, c.base, len(all), len(calls), err)
				}
				if err := it.Close(); err != nil {
					t.Error(err)
				}
			}
			if damage, err := b.Check(t.Context()); err != nil || len(damage) > 0 {
				t.Errorf("check: %v, %v", damage, err)
			}
		})
	}
}

// TestAppendGivenUp checks that a caller that stops waiting affects no others: its records are
// written nevertheless.
func TestAppendGivenUp(t *testing.T) {
	b := memLog(t, Options{})
	if _, err := b.CreateTopic(t.Context(), "log", 1, nil, false); err != nil {
		t.Fatal(err)
	}
	given, stop := context.WithCancel(t.Context())
	var after *ownAppend
	meet(t, b, func() {
		stop()
		if _, err := b.Append(given, "log", 0, wire.Record{Value: []byte("given up")}); !errors.Is(err, context.Canceled) {
			t.Errorf("given up: %v", err)
		}
		var err error
		if after, err = b.beginAppend("log", 0, []wire.Record{{Value: []byte("after")}}); err != nil {
			t.Fatal(err)
		}
	})
	if <-after.out; after.err != nil || after.base != 1 {
		t.Errorf("the one after it: at %d, %v", after.base, after.err)
	}
}
