package broker

import (
	"io"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// withLog opens a broker with topic "log" of one partition, which holds n batches of about size
// bytes.
func withLog(t testing.TB, o Options, n, size int) *Broker {
	t.Helper()
	b := memBroker(t, o)
	if _, err := b.data.CreateTopic(t.Context(), "log", 1, nil, false); err != nil {
		t.Fatal(err)
	}
	for range n {
		if _, err := b.Append(t.Context(), "log", 0, Record{Value: make([]byte, size)}); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

func fetchOf(offset int64, minBytes, maxBytes int32, wait time.Duration) *kmsg.FetchRequest {
	req := kmsg.NewPtrFetchRequest()
	req.Version = 11
	req.MinBytes, req.MaxBytes, req.MaxWaitMillis = minBytes, 50<<20, int32(wait.Milliseconds())
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic = "log"
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.FetchOffset, rp.PartitionMaxBytes = offset, maxBytes
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	return req
}

// fetchLog fetches over c and returns the answer for log/0.
func fetchLog(t testing.TB, c *rawClient, req *kmsg.FetchRequest) *kmsg.FetchResponseTopicPartition {
	t.Helper()
	resp := c.ask(req).(*kmsg.FetchResponse)
	if resp.ErrorCode != 0 || len(resp.Topics) != 1 {
		t.Fatalf("fetch: error %d, %d topics", resp.ErrorCode, len(resp.Topics))
	}
	return &resp.Topics[0].Partitions[0]
}

// TestFetchDoesNotWaitForWhatDoesNotFit checks that a client whose minimum is as large as its
// maximum (fetch.min.bytes = 1 MB with Java's defaults) is answered at once if there is more than
// it accepts.
func TestFetchDoesNotWaitForWhatDoesNotFit(t *testing.T) {
	b := withLog(t, Options{}, 3, 600_000)
	got := fetchLog(t, dialRaw(t, b), fetchOf(0, 1<<20, 1<<20, 2*patience)) // the wire's patience ends before the wait
	if len(got.RecordBatches) < 600_000 {
		t.Errorf("%d bytes", len(got.RecordBatches))
	}
}

// TestUnreadAnswersAreBounded checks that for a client that sends requests without reading, the
// broker holds one answer, not all.
func TestUnreadAnswersAreBounded(t *testing.T) {
	b := withLog(t, Options{}, 4, 1_000_000)
	c := dialRaw(t, b)
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	before := heap()
	req := requestFrame(fetchOf(0, 1, 50<<20, 0))
	for range 30 {
		if _, err := c.Write(req); err != nil {
			t.Fatal(err)
		}
	}
	var most int64
	for range 10 {
		time.Sleep(10 * time.Millisecond)
		most = max(most, heap()-before)
	}
	if most > 40<<20 {
		t.Errorf("%d MiB are held for 30 answers of 4 MB", most>>20)
	}
	for range 30 {
		if _, err := c.frame(patience); err != nil {
			t.Fatal(err)
		}
	}
}

// TestLongPollIsNotIdle checks that a client that waits for an answer is not idle.
func TestLongPollIsNotIdle(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := withLog(t, Options{IdleTimeout: 50 * time.Millisecond}, 0, 0)
		c := dialRaw(t, b)
		start := time.Now()
		fetchLog(t, c, fetchOf(0, 1, 1<<20, 400*time.Millisecond))
		if took := time.Since(start); took != 400*time.Millisecond {
			t.Errorf("the long poll took %s", took)
		}
	})
}

// dialOutside connects like a client in the network, to which limits apply.
func dialOutside(t testing.TB, b *Broker) *rawClient {
	t.Helper()
	c, server := memPipe()
	if !b.serve(server, false) {
		t.Fatal("no room for a connection")
	}
	t.Cleanup(func() { c.Close() })
	return &rawClient{t, c}
}

// TestAnswersAreBounded checks that the memory of all answers is bounded, however many clients send
// without reading; the process's own readers continue meanwhile, and others when memory is free
// again.
func TestAnswersAreBounded(t *testing.T) {
	const batch, limit = 3_000_000, 16 << 20 // a batch is more than the connection takes unread
	b := withLog(t, Options{MaxBatchBytes: 4 << 20, MaxResponseBytes: limit}, 5, batch)
	for range 20 {
		c := dialOutside(t, b)
		for range 3 { // behind each other
			c.send(fetchOf(0, 1, 50<<20, 0))
		}
		if _, err := io.ReadFull(c, make([]byte, 4)); err != nil { // and no more of the answer
			t.Fatal(err)
		}
		if held := b.answers.total(); held > limit {
			t.Fatalf("%d MiB are held", held>>20)
		}
	}
	if held := b.answers.total(); held < 2*batch {
		t.Errorf("%d bytes are held: nobody is being answered", held)
	}
	got := fetchLog(t, dialRaw(t, b), fetchOf(0, 8<<20, 50<<20, 2*patience)) // the wire's patience ends before the wait
	if len(got.RecordBatches) < batch || got.ErrorCode != 0 {
		t.Errorf("a reader of the process got %d bytes, error %v", len(got.RecordBatches), kerr.ErrorForCode(got.ErrorCode))
	}
	b.mu.Lock()
	for c := range b.conns {
		if c.spoke.Load() && c.begunNow() > 0 && !c.mem {
			c.abort()
		}
	}
	b.mu.Unlock()
	eventuallyFree(t, b)
	// It waits, because further requests of an aborted client may hold memory for a moment.
	if got := fetchLog(t, dialOutside(t, b), fetchOf(0, 1, 50<<20, patience/2)); len(got.RecordBatches) < batch {
		t.Errorf("once there was room a client got %d bytes", len(got.RecordBatches))
	}
}

func (c *conn) begunNow() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.begun
}

// TestStalledClientsMakeWay checks that a client that holds memory and reads nothing is
// disconnected when another waits for memory, and not before.
func TestStalledClientsMakeWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := withLog(t, Options{MaxBatchBytes: 4 << 20, MaxResponseBytes: 12 << 20}, 1, 2_500_000)
		stalled := dialOutside(t, b)
		stalled.send(fetchOf(0, 1, 50<<20, 0))
		time.Sleep(time.Second)
		c := dialOutside(t, b)
		start := time.Now()
		if got := fetchLog(t, c, fetchOf(0, 1, 50<<20, time.Minute)); len(got.RecordBatches) < 2_500_000 {
			t.Errorf("who waited got %d bytes", len(got.RecordBatches))
		}
		if took := time.Since(start); took < stallGrace/2 || took > 2*stallGrace {
			t.Errorf("who waited waited %s", took)
		}
	})
}

// TestRoomIsSharedByAddress checks that one address gets at most half of the memory.
func TestRoomIsSharedByAddress(t *testing.T) {
	r := newMemoryLimiter(1000, false)
	if n := r.grant("a", 4000, 10); n != 125 {
		t.Errorf("the first got %d, want a quarter of its half", n)
	}
	for range 100 {
		r.grant("a", 100, 10)
	}
	if r.heldByAddress["a"] > 500 {
		t.Errorf("one address holds %d of 1000", r.heldByAddress["a"])
	}
	if r.more("a", 0, 400) {
		t.Error("and got more")
	}
	if n := r.grant("b", 100, 10); n < 100 {
		t.Errorf("another got %d", n)
	}
	r.give("a", r.heldByAddress["a"])
	r.give("b", r.heldByAddress["b"])
	if r.held != 0 || len(r.heldByAddress) != 0 {
		t.Errorf("%d are held by nobody, %v", r.held, r.heldByAddress)
	}
	if !r.more("c", 0, 5000) {
		t.Error("an answer that is the only one, and larger than the room, must be given")
	}
}

func eventuallyFree(t *testing.T, b *Broker) {
	t.Helper()
	for start := time.Now(); b.answers.total() != 0 || b.own.total() != 0; time.Sleep(time.Millisecond) {
		if time.Since(start) > patience {
			t.Fatalf("%d bytes are held by nobody", b.answers.total())
		}
	}
}

func (r *memoryLimiter) total() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.held
}

// TestFetchWaitsWithoutMemory checks that a long poll at the end of a partition waits for records
// while other answers hold all the memory, instead of answering at once without any.
func TestFetchWaitsWithoutMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := withLog(t, Options{}, 0, 0)
		all := b.answers.max
		b.answers.give("others", -all)
		c := dialOutside(t, b)
		start := time.Now()
		fetchLog(t, c, fetchOf(0, 1, 1<<20, time.Minute))
		if took := time.Since(start); took != time.Minute {
			t.Errorf("the long poll took %s", took)
		}
		b.answers.give("others", all)
	})
}
