package broker_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker"
)

func admin(t testing.TB, b *broker.Broker) *kadm.Client { return kadm.NewClient(client(t, b)) }

func TestTopics(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, broker.Options{DefaultPartitions: 3, MaxPartitions: 20})
	adm := admin(t, b)
	ctx := testContext(t)
	str := kadm.StringPtr
	for _, tc := range []struct {
		name       string
		partitions int32
		replicas   int16
		configs    map[string]*string
		want       error
	}{
		{"plain", 2, 1, nil, nil},
		{"plain", 2, 1, nil, kerr.TopicAlreadyExists},
		{"defaults", -1, -1, nil, nil},
		{"spaced out", 1, 1, nil, kerr.InvalidTopicException},
		{"..", 1, 1, nil, kerr.InvalidTopicException},
		{"none", 0, 1, nil, kerr.InvalidPartitions},
		{"many", 21, 1, nil, kerr.PolicyViolation},
		{"replicated", 1, 3, nil, kerr.InvalidReplicationFactor},
		{"kept", 1, 1, map[string]*string{"retention.ms": str("-1"), "cleanup.policy": str("delete"), "max.message.bytes": str("2000")}, nil},
		{"dropped", 1, 1, map[string]*string{"retention.ms": str("1000")}, kerr.InvalidConfig},
		{"compacted", 1, 1, map[string]*string{"cleanup.policy": str("compact")}, kerr.InvalidConfig},
		{"odd", 1, 1, map[string]*string{"no.such": str("1")}, kerr.InvalidConfig},
	} {
		r, err := adm.CreateTopic(ctx, tc.partitions, tc.replicas, tc.configs, tc.name)
		if !errors.Is(err, tc.want) {
			t.Errorf("create %q: %v, want %v", tc.name, err, tc.want)
		}
		if tc.want != nil && tc.want != kerr.InvalidTopicException && r.ErrMessage == "" {
			t.Errorf("create %q: no message", tc.name)
		}
	}
	if _, err := b.Append(ctx, "kept", 0, broker.Record{Value: make([]byte, 2000)}); !errors.Is(err, kerr.MessageTooLarge) {
		t.Errorf("max.message.bytes: %v", err)
	}
	if r, err := adm.CreatePartitions(ctx, 2, "plain"); err != nil || r["plain"].Err != nil {
		t.Errorf("create partitions: %v %v", err, r["plain"].Err)
	}
	if r, err := adm.UpdatePartitions(ctx, 4, "plain"); err != nil || !errors.Is(r["plain"].Err, kerr.InvalidPartitions) {
		t.Errorf("as many partitions as there are: %v %v", err, r["plain"].Err)
	}
	before, err := adm.ListTopics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	counts := map[string]int{}
	for name, d := range before {
		counts[name] = len(d.Partitions)
	}
	if diff := cmp.Diff(map[string]int{"plain": 4, "defaults": 3, "kept": 1}, counts); diff != "" {
		t.Errorf("topics (-want +got):\n%s", diff)
	}

	// A topic deleted and created again is another one, empty.
	if _, err := b.Append(ctx, "plain", 1, broker.Record{Value: []byte("old")}); err != nil {
		t.Fatal(err)
	}
	if _, err := adm.DeleteTopic(ctx, "plain"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(ctx, "plain", 1, broker.Record{Value: []byte("x")}); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("append to a deleted topic: %v", err)
	}
	if _, err := adm.DeleteTopic(ctx, "plain"); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("delete it again: %v", err)
	}
	createTopic(t, b, "plain", 2)
	if got := drain(t, b, "plain"); len(got) != 0 {
		t.Errorf("the new topic holds %d records of the old", len(got))
	}
	after, err := admin(t, b).ListTopics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if after["plain"].ID == before["plain"].ID {
		t.Error("the new topic has the old one's id")
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := admin(t, open(t, dir, broker.Options{})).ListTopics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(after, again); diff != "" {
		t.Errorf("after opening again (-want +got):\n%s", diff)
	}
}

// TestDeleteUnderReaders checks that a fetch ends when its topic is deleted.
func TestDeleteUnderReaders(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{})
	createTopic(t, b, "log", 1)
	c := dialRaw(t, b)
	req := fetchRequest("log", 0)
	req.MaxWaitMillis = 2 * int32(patience/time.Millisecond) // the connection's deadline comes first
	if _, err := c.Write(frame(req, 11)); err != nil {
		t.Fatal(err)
	}
	if _, err := admin(t, b).DeleteTopic(testContext(t), "log"); err != nil {
		t.Fatal(err)
	}
	if _, err := readAnswer(c); err != nil {
		t.Errorf("the waiting fetch: %v", err)
	}
}

func TestConfigs(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{MaxBatchBytes: 5000})
	createTopic(t, b, "log", 1)
	adm := admin(t, b)
	ctx := testContext(t)
	value := func(name string) string {
		t.Helper()
		r, err := adm.DescribeTopicConfigs(ctx, "log")
		if err != nil || len(r) != 1 || r[0].Err != nil {
			t.Fatal(err, r)
		}
		for _, c := range r[0].Configs {
			if c.Key == name {
				return c.MaybeValue() + " " + c.Source.String()
			}
		}
		return "not described"
	}
	alter := func(op kadm.IncrementalOp, name, v string) error {
		t.Helper()
		r, err := adm.AlterTopicConfigs(ctx, []kadm.AlterConfig{{Op: op, Name: name, Value: &v}}, "log")
		if err != nil {
			t.Fatal(err)
		}
		return r[0].Err
	}
	if got, want := value("max.message.bytes"), "5000 STATIC_BROKER_CONFIG"; got != want {
		t.Errorf("before: %q, want %q", got, want)
	}
	if err := alter(kadm.SetConfig, "max.message.bytes", "700"); err != nil {
		t.Fatal(err)
	}
	if got, want := value("max.message.bytes"), "700 DYNAMIC_TOPIC_CONFIG"; got != want {
		t.Errorf("set: %q, want %q", got, want)
	}
	if _, err := b.Append(ctx, "log", 0, broker.Record{Value: make([]byte, 700)}); !errors.Is(err, kerr.MessageTooLarge) {
		t.Errorf("append above it: %v", err)
	}
	for name, v := range map[string]string{"retention.ms": "5", "max.message.bytes": "many", "no.such": "1"} {
		if err := alter(kadm.SetConfig, name, v); !errors.Is(err, kerr.InvalidConfig) {
			t.Errorf("%s=%s: %v", name, v, err)
		}
	}
	if err := alter(kadm.DeleteConfig, "max.message.bytes", ""); err != nil {
		t.Fatal(err)
	}
	if got, want := value("max.message.bytes"), "5000 STATIC_BROKER_CONFIG"; got != want {
		t.Errorf("deleted: %q, want %q", got, want)
	}
	if r, err := adm.DescribeBrokerConfigs(ctx, 1); err != nil || len(r) != 1 || len(r[0].Configs) == 0 {
		t.Errorf("broker configs: %v, %v", r, err)
	}
}

// TestOffsetsByTime looks up offsets by time, among records that are not ordered by time, with
// every codec, in small and large batches, and with the beginning of the log deleted.
func TestOffsetsByTime(t *testing.T) {
	for name, codec := range map[string]kgo.CompressionCodec{
		"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(), "lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
	} {
		t.Run(name, func(t *testing.T) {
			b := open(t, t.TempDir(), broker.Options{})
			createTopic(t, b, "log", 1)
			ctx := testContext(t)
			c := client(t, b, kgo.ProducerBatchCompression(codec))
			var times []int64
			for batch := range 60 {
				var records []*kgo.Record
				for i := range 1 + batch%7 {
					// The times grow overall but go back and forth; one is far in the future.
					ms := int64(1_000_000 + batch*1000 - (i*batch)%5*700)
					if batch == 30 && i == 0 {
						ms = 7_258_118_400_000 // the year 2200
					}
					times = append(times, ms)
					records = append(records, &kgo.Record{Topic: "log", Timestamp: time.UnixMilli(ms), Value: noise(3000)})
				}
				if err := c.ProduceSync(ctx, records...).FirstErr(); err != nil {
					t.Fatal(err)
				}
			}
			adm := kadm.NewClient(c)
			check := func(start, step int64) {
				t.Helper()
				for ms := int64(990_000); ms < 1_070_000; ms += step {
					want := int64(-1)
					for o := start; o < int64(len(times)); o++ {
						if times[o] >= ms {
							want = o
							break
						}
					}
					if got := offsetAt(t, c, ms); got != want {
						t.Fatalf("first at %d: offset %d, want %d", ms, got, want)
					}
				}
			}
			check(0, 333)
			latest := int64(0)
			for o, ms := range times {
				if ms > times[latest] {
					latest = int64(o)
				}
			}
			if got := offsetAt(t, c, -3); got != latest {
				t.Errorf("the latest time is at %d, want %d", got, latest)
			}
			for _, start := range []int64{3, 50, latest + 1, int64(len(times)) - 1} {
				var del kadm.Offsets
				del.Add(kadm.Offset{Topic: "log", At: start})
				if r, err := adm.DeleteRecords(ctx, del); err != nil || r["log"][0].Err != nil || r["log"][0].LowWatermark != start {
					t.Fatal(err, r)
				}
				check(start, 1777)
			}
		})
	}
}

func offsetAt(t testing.TB, c *kgo.Client, ms int64) int64 {
	t.Helper()
	req := kmsg.NewPtrListOffsetsRequest()
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = "log"
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.Timestamp = ms
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(testContext(t), c)
	if err != nil {
		t.Fatal(err)
	}
	if e := resp.Topics[0].Partitions[0].ErrorCode; e != 0 {
		t.Fatal(kerr.ErrorForCode(e))
	}
	return resp.Topics[0].Partitions[0].Offset
}

func TestDeleteRecords(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, broker.Options{})
	createTopic(t, b, "log", 1)
	ctx := testContext(t)
	for i := range 10 {
		r := broker.Record{Value: fmt.Append(nil, i)}
		if _, err := b.Append(ctx, "log", 0, r, r); err != nil {
			t.Fatal(err)
		}
	}
	adm := admin(t, b)
	del := func(at int64) (int64, error) {
		t.Helper()
		var o kadm.Offsets
		o.Add(kadm.Offset{Topic: "log", At: at})
		r, err := adm.DeleteRecords(ctx, o)
		if err != nil {
			t.Fatal(err)
		}
		return r["log"][0].LowWatermark, r["log"][0].Err
	}
	if _, err := del(21); !errors.Is(err, kerr.OffsetOutOfRange) {
		t.Errorf("beyond the end: %v", err)
	}
	if low, err := del(5); low != 5 || err != nil { // in the middle of a batch
		t.Errorf("up to 5: %d, %v", low, err)
	}
	if low, err := del(2); low != 5 || err != nil {
		t.Errorf("up to 2, again: %d, %v", low, err)
	}
	if got := consume(t, b, "log", 15); got[0].Offset != 5 || string(got[0].Value) != "2" {
		t.Errorf("the first is %q at %d", got[0].Value, got[0].Offset)
	}
	if low, err := del(-1); low != 20 || err != nil {
		t.Errorf("all: %d, %v", low, err)
	}
	if damage, err := b.Check(ctx); err != nil || len(damage) > 0 {
		t.Errorf("check: %v, %v", damage, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	// An emptied log continues at its former end.
	b = open(t, dir, broker.Options{})
	if base, err := b.Append(ctx, "log", 0, broker.Record{}); base != 20 || err != nil {
		t.Errorf("append behind: %d, %v", base, err)
	}
}

func TestTransactionsAreRefused(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{})
	createTopic(t, b, "log", 1)
	c := client(t, b, kgo.TransactionalID("tx"))
	err := c.BeginTransaction()
	if err == nil {
		err = c.ProduceSync(testContext(t), &kgo.Record{Topic: "log"}).FirstErr()
	}
	if err == nil || errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a transaction: %v", err)
	}
}
