package broker_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/twmb/franz-go/pkg/kadm"

	"github.com/recountdb/recount/pipeline/broker"
)

// machine is a computer with a strict file system whose power can be cut: what was not synced is
// then lost, entirely or in part.
type machine struct {
	t    testing.TB
	opts broker.Options

	lives int

	mu   sync.Mutex
	fs   *vfs.MemFS
	b    *broker.Broker
	life *life
}

// life is the time between two power cuts. After it nothing that the broker sends reaches a client.
type life struct {
	mu   sync.Mutex
	over bool
}

func newMachine(t testing.TB, opts broker.Options) *machine {
	m := &machine{t: t, opts: opts, fs: vfs.NewCrashableMem()}
	m.boot()
	t.Cleanup(func() { m.b.Close() })
	return m
}

func (m *machine) boot() {
	m.t.Helper()
	m.opts.FS = m.fs
	// Vary the options between lives, so that segment files and the store are mixed.
	if m.lives++; m.lives%3 > 0 {
		m.opts.BulkBytes, m.opts.SegmentBytes = 1+rand.IntN(4<<10), 1+rand.IntN(64<<10)
	} else {
		m.opts.BulkBytes, m.opts.SegmentBytes = 0, 0
	}
	b, err := broker.Open("/data/log", m.opts)
	if err != nil {
		m.t.Fatalf("open after a power cut: %v", err)
	}
	m.mu.Lock()
	m.b, m.life = b, &life{}
	m.mu.Unlock()
}

// cut cuts the power, keeping about percent of what was not synced, and starts again.
func (m *machine) cut(percent int, seed uint64) {
	m.t.Helper()
	m.life.mu.Lock()
	m.life.over = true
	after := m.fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rand.New(rand.NewPCG(seed, 0))})
	m.life.mu.Unlock()
	m.b.Close() // on the old file system
	m.fs = after
	m.boot()
}

func (m *machine) dial(ctx context.Context) (net.Conn, error) {
	m.mu.Lock()
	b, l := m.b, m.life
	m.mu.Unlock()
	c, err := b.Dial(ctx)
	if err != nil {
		return nil, err
	}
	return lifeConn{c, l}, nil
}

type lifeConn struct {
	net.Conn
	l *life
}

func (c lifeConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.l.mu.Lock()
	defer c.l.mu.Unlock()
	if c.l.over {
		return 0, errCut
	}
	return n, err
}

func TestSoakPowerCut(t *testing.T) {
	m := newMachine(t, broker.Options{})
	c := crashClient(t, m.dial)
	if _, err := kadm.NewClient(c).CreateTopic(testContext(t), 4, 1, nil, "log"); err != nil {
		t.Fatal(err)
	}
	a := &acks{at: map[string]place{}, pace: 20}
	ctx, stop := context.WithCancel(context.Background())
	sent := make(chan int)
	go func() { sent <- a.produceUntil(ctx, c, "log") }()
	n := rounds(50, 1200)
	for i := range n {
		before := a.count()
		time.Sleep(time.Duration(rand.IntN(10)) * time.Millisecond)
		m.cut(rand.IntN(101), uint64(i))
		for wait := time.Now(); a.count() == before && time.Since(wait) < patience; {
			time.Sleep(time.Millisecond)
		}
		if i%100 == 99 {
			t.Logf("%d power cuts, %d acknowledged", i+1, a.count())
		}
	}
	stop()
	total := <-sent
	if err := c.Flush(testContext(t)); err != nil {
		t.Fatal(err)
	}
	a.verify(t, c, "log", total)
	if damage, err := m.b.Check(testContext(t)); err != nil || len(damage) > 0 {
		t.Errorf("check: %v, %v", damage, err)
	}
	t.Logf("%d power cuts, %d records", n, total)
}

// TestSoakPowerCutOfAppends checks calls of Append that share batches: after a power cut each is
// there completely, with its records in sequence, or not at all, and the acknowledged ones are at
// their offsets.
func TestSoakPowerCutOfAppends(t *testing.T) {
	m := newMachine(t, broker.Options{})
	createTopic(t, m.b, "log", 2)
	const writers, perCall = 12, 3
	name := func(round, w, n int) string { return fmt.Sprintf("%d/%d/%d", round, w, n) }
	var mu sync.Mutex
	told := map[string]place{}
	n := rounds(12, 400)
	for round := range n {
		b, l, enough := m.b, m.life, make(chan struct{})
		left := 1 + rand.IntN(200)
		var wg sync.WaitGroup
		for w := range writers {
			wg.Go(func() {
				p := int32(w % 2)
				for n := 0; ; n++ {
					var call [perCall]broker.Record
					for i := range call {
						call[i].Value = fmt.Appendf(nil, "%s %d %0*d", name(round, w, n), i, rand.IntN(2000), 0)
					}
					at, err := b.Append(t.Context(), "log", p, call[:]...)
					l.mu.Lock()
					over := l.over
					l.mu.Unlock()
					if err != nil || over {
						return
					}
					mu.Lock()
					told[name(round, w, n)] = place{p, at}
					if left--; left == 0 {
						close(enough)
					}
					mu.Unlock()
				}
			})
		}
		<-enough
		m.cut(rand.IntN(101), uint64(round))
		wg.Wait()
	}
	found := map[string]place{} // where each call begins
	var of [2]string            // the call that a partition's log is in, and how far
	var next [2]int
	for _, r := range drain(t, m.b, "log") {
		var call string
		var i int
		if _, err := fmt.Sscanf(string(r.Value), "%s %d", &call, &i); err != nil {
			t.Fatalf("a record %.20q: %v", r.Value, err)
		}
		p := r.Partition
		if i != next[p] || i > 0 && call != of[p] {
			t.Fatalf("%d/%d: record %d of call %s, behind %d of %s", p, r.Offset, i, call, next[p]-1, of[p])
		}
		if i == 0 {
			if _, twice := found[call]; twice {
				t.Errorf("call %s is there twice", call)
			}
			found[call] = place{p, r.Offset}
		}
		of[p], next[p] = call, (i+1)%perCall
	}
	if next != [2]int{} {
		t.Errorf("the last calls, %v, are cut short", of)
	}
	for call, at := range told {
		if found[call] != at {
			t.Errorf("call %s is at %v, was said to be at %v", call, found[call], at)
		}
	}
	if damage, err := m.b.Check(testContext(t)); err != nil || len(damage) > 0 {
		t.Errorf("check: %v, %v", damage, err)
	}
	t.Logf("%d power cuts, %d calls acknowledged, %d there", n, len(told), len(found))
}
