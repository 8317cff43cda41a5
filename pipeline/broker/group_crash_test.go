package broker_test

import (
	"context"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/recountdb/recount/pipeline/broker"
)

// committer commits 1, 2, 3, … in all four partitions of a topic at once, as long as possible, and
// records what was acknowledged.
type committer struct {
	a           *kadm.Client
	sent, acked atomic.Int64
}

func (c *committer) run(ctx context.Context) {
	for n := int64(1); ctx.Err() == nil; n++ {
		at := kadm.Offsets{}
		for p := range int32(4) {
			at.Add(kadm.Offset{Topic: "log", Partition: p, At: n, LeaderEpoch: -1})
		}
		c.sent.Store(n)
		for ctx.Err() == nil {
			r, err := c.a.CommitOffsets(context.Background(), "g", at)
			if err == nil {
				err = r.Error()
			}
			if err == nil {
				c.acked.Store(n)
				break
			}
			time.Sleep(time.Millisecond) // the crash, or its end
		}
	}
}

// verify reads the group's offsets: all four must be from one commit, not earlier than the last one
// acknowledged before the power cut.
func (c *committer) verify(t testing.TB, acked int64) {
	t.Helper()
	var offsets kadm.OffsetResponses
	var err error
	for start := time.Now(); time.Since(start) < patience; {
		if offsets, err = c.a.FetchOffsets(testContext(t), "g"); err == nil {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	if err != nil {
		t.Fatal(err)
	}
	// Commits continue, so these may be from a later commit, but must all be from the same one.
	first, _ := offsets.Lookup("log", 0)
	for p := range int32(4) {
		o, ok := offsets.Lookup("log", p)
		if acked > 0 && (!ok || o.At < acked || o.At > c.sent.Load() || o.At != first.At) {
			t.Fatalf("partition %d stands at %d, partition 0 at %d; acknowledged %d, sent %d", p, o.At, first.At, acked, c.sent.Load())
		}
	}
}

func testOffsetsCrash(t *testing.T, crashes int, dial func(context.Context) (net.Conn, error), crash func(i int)) {
	c := crashClient(t, dial)
	a := kadm.NewClient(c)
	if _, err := a.CreateTopic(testContext(t), 4, 1, nil, "log"); err != nil {
		t.Fatal(err)
	}
	commits := &committer{a: a}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); commits.run(ctx) }()
	for i := range crashes {
		before := commits.acked.Load()
		for wait := time.Now(); commits.acked.Load() == before && time.Since(wait) < patience; {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(time.Duration(rand.IntN(20)) * time.Millisecond)
		acked := commits.acked.Load()
		crash(i)
		commits.verify(t, acked)
	}
	stop()
	<-done
	commits.verify(t, commits.acked.Load())
	if commits.acked.Load() < int64(crashes) {
		t.Errorf("%d commits in %d crashes: the test did not test", commits.acked.Load(), crashes)
	}
	t.Logf("%d crashes, %d commits", crashes, commits.acked.Load())
}

func TestSoakOffsetsKill(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	defer func() { p.kill() }()
	var addr atomic.Value
	addr.Store(p.addr)
	testOffsetsCrash(t, rounds(4, 100), func(ctx context.Context) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "tcp", addr.Load().(string))
	}, func(int) {
		p.kill()
		p = startProcess(t, dir)
		addr.Store(p.addr)
	})
}

func TestSoakOffsetsPowerCut(t *testing.T) {
	m := newMachine(t, broker.Options{})
	testOffsetsCrash(t, rounds(30, 1000), m.dial, func(i int) { m.cut(rand.IntN(101), uint64(i)) })
}

// TestOffsetsOfATopicMadeAnew checks that committed offsets belong to one life of a topic.
func TestOffsetsOfATopicMadeAnew(t *testing.T) {
	dir := t.TempDir()
	b, err := broker.Open(dir, broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "log", 1)
	createTopic(t, b, "stays", 1)
	ctx := testContext(t)
	a := kadm.NewClient(client(t, b))
	at := kadm.Offsets{}
	at.Add(kadm.Offset{Topic: "log", At: 5})
	at.Add(kadm.Offset{Topic: "stays", At: 6, Metadata: "a note", LeaderEpoch: 2})
	if err := a.CommitAllOffsets(ctx, "g", at); err != nil {
		t.Fatal(err)
	}
	if _, err := a.DeleteTopic(ctx, "log"); err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "log", 1)
	check := func(a *kadm.Client) {
		t.Helper()
		got, err := a.FetchOffsets(ctx, "g")
		if err != nil {
			t.Fatal(err)
		}
		if o, ok := got.Lookup("log", 0); ok {
			t.Errorf("the new topic has the old one's offset: %+v", o)
		}
		if o, _ := got.Lookup("stays", 0); o.At != 6 || o.Metadata != "a note" || o.LeaderEpoch != 2 {
			t.Errorf("the other topic's is %+v", o)
		}
	}
	check(a)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	check(kadm.NewClient(client(t, open(t, dir, broker.Options{}))))
}
