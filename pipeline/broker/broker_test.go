package broker_test

import (
	"context"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
)

// open opens a broker that is closed at the end of the test.
func open(t testing.TB, dir string, opts broker.Options) *broker.Broker {
	t.Helper()
	b, err := broker.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return b
}

// client connects to b in memory.
func client(t testing.TB, b *broker.Broker, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	opts = append([]kgo.Opt{
		kgo.SeedBrokers("in-memory:1"),
		kgo.Dialer(func(ctx context.Context, _, _ string) (net.Conn, error) { return b.Dial(ctx) }),
		kgo.ProducerLinger(0),
	}, opts...)
	c, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// patience is the maximum wait of a test. It stops a test that hangs and measures nothing, since a
// machine may be very slow.
const patience = 2 * time.Minute

func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// consume reads n records of a topic from its start.
func consume(t testing.TB, b *broker.Broker, topic string, n int) []*kgo.Record {
	t.Helper()
	ctx := testContext(t)
	c := client(t, b, kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(100*time.Millisecond))
	var got []*kgo.Record
	for len(got) < n {
		f := c.PollFetches(ctx)
		if err := f.Err(); err != nil {
			t.Fatalf("after %d of %d records: %v", len(got), n, err)
		}
		got = append(got, f.Records()...)
	}
	return got
}

// drain reads all records of a topic.
func drain(t testing.TB, b *broker.Broker, topic string) []*kgo.Record {
	t.Helper()
	ends, err := kadm.NewClient(client(t, b)).ListEndOffsets(testContext(t), topic)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	ends.Each(func(o kadm.ListedOffset) { n += int(o.Offset) })
	return consume(t, b, topic, n)
}

func TestProduceThenConsume(t *testing.T) {
	for _, tcp := range []bool{false, true} {
		t.Run(fmt.Sprintf("tcp=%v", tcp), func(t *testing.T) {
			opts := broker.Options{AutoCreateTopics: true}
			if tcp {
				opts.Listen = []string{"127.0.0.1:0"}
			}
			b := open(t, t.TempDir(), opts)
			var kopts []kgo.Opt
			if tcp {
				kopts = []kgo.Opt{kgo.SeedBrokers(b.Addr()), kgo.Dialer((&net.Dialer{}).DialContext)}
			}
			ctx := testContext(t)
			c := client(t, b, append(kopts, kgo.AllowAutoTopicCreation(), kgo.DefaultProduceTopic("greetings"))...)
			const n = 1000
			for i := range n {
				c.Produce(ctx, kgo.KeyStringRecord(fmt.Sprint(i%7), fmt.Sprint(i)), func(_ *kgo.Record, err error) {
					if err != nil {
						t.Error(err)
					}
				})
			}
			if err := c.Flush(ctx); err != nil {
				t.Fatal(err)
			}
			seen := map[string]bool{}
			for _, r := range consume(t, b, "greetings", n) {
				seen[string(r.Value)] = true
			}
			if len(seen) != n {
				t.Errorf("%d distinct records, want %d", len(seen), n)
			}
		})
	}
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	ctx := testContext(t)
	opts := broker.Options{AutoCreateTopics: true, DefaultPartitions: 1}
	b, err := broker.Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	c := client(t, b, kgo.AllowAutoTopicCreation(), kgo.DefaultProduceTopic("x"))
	for i := range 10 {
		if err := c.ProduceSync(ctx, kgo.StringRecord(fmt.Sprint(i))).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	id := b.ClusterID()
	c.Close()
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	b = open(t, dir, opts)
	if b.ClusterID() != id {
		t.Errorf("cluster id %q, was %q", b.ClusterID(), id)
	}
	for i, r := range consume(t, b, "x", 10) {
		if r.Offset != int64(i) || string(r.Value) != fmt.Sprint(i) {
			t.Errorf("record %d: offset %d, %q", i, r.Offset, r.Value)
		}
	}
}
