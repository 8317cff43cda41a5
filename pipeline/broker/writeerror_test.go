package broker_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/recountdb/recount/pipeline/broker"
)

// failing is a file system whose writes fail from a chosen one on.
type failing struct {
	left  atomic.Int64 // writes before it fails
	match string       // fail only for files whose path contains it
}

func (f *failing) String() string { return "failing" }

func (f *failing) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpFileFlush, errorfs.OpRename, errorfs.OpLink:
	default:
		return nil
	}
	if !strings.Contains(op.Path, f.match) || f.left.Add(-1) >= 0 {
		return nil
	}
	return syscall.ENOSPC
}

// TestSoakWriteErrors lets a write fail anywhere, and checks that everything acknowledged is there
// after a restart, that nothing is acknowledged that is not there, and that until the restart
// writers get errors.
func TestSoakWriteErrors(t *testing.T) {
	for i := range rounds(40, 1000) {
		match := []string{"", ".log", "highwater", "MANIFEST", ".sst", "segments"}[i%6]
		// Alternate between the store and small segment files.
		opts := broker.Options{SegmentBytes: 1000}
		if i/6%2 == 0 {
			opts.BulkBytes = 1
		}
		writeErrorRound(t, opts, int64(rand.IntN(60)), match)
	}
}

func writeErrorRound(t *testing.T, opts broker.Options, after int64, match string) {
	t.Helper()
	mem := vfs.NewCrashableMem()
	inj := &failing{match: match}
	inj.left.Store(1 << 60)
	opts.FS = errorfs.Wrap(mem, inj)
	b, err := broker.Open("log", opts)
	if err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "log", 2)
	inj.left.Store(after)

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var mu sync.Mutex
	acked := map[place]string{}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for n := range 40 {
				v := fmt.Sprintf("%d/%d", w, n)
				p := int32(w % 2)
				at, err := b.Append(ctx, "log", p, broker.Record{Value: []byte(v)})
				if err != nil {
					if errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("writes to %q failing after %d: an append hangs", match, after)
					}
					return
				}
				mu.Lock()
				acked[place{p, at}] = v
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	// Whether or not the disk can be written to, a restart finds what is there now.
	b.Close()
	if b.Err() != nil {
		select {
		case <-b.Failed():
		case <-time.After(patience):
			t.Error("the store failed and does not say so")
		}
	}
	opts.FS = mem.CrashClone(vfs.CrashCloneCfg{})
	again := open(t, "log", opts)
	got := map[place]string{}
	for _, r := range drain(t, again, "log") {
		got[place{r.Partition, r.Offset}] = string(r.Value)
	}
	for at, v := range acked {
		if got[at] != v {
			t.Errorf("writes to %q failing after %d: acknowledged %q at %v, found %q", match, after, v, at, got[at])
		}
	}
}

// TestFailedStore checks that a failed store reports this to all callers at once.
func TestFailedStore(t *testing.T) {
	inj := &failing{match: ".log"}
	inj.left.Store(1 << 60)
	b, err := broker.Open("log", broker.Options{FS: errorfs.Wrap(vfs.NewMem(), inj)})
	if err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "log", 1)
	if _, err := b.Append(testContext(t), "log", 0, broker.Record{Value: []byte("kept")}); err != nil {
		t.Fatal(err)
	}
	inj.left.Store(0)
	if _, err := b.Append(testContext(t), "log", 0, broker.Record{Value: []byte("refused")}); err == nil {
		t.Fatal("acknowledged what could not be written")
	}
	select {
	case <-b.Failed():
	case <-time.After(patience):
		t.Fatal("the broker does not say that it has failed")
	}
	if !errors.Is(b.Err(), syscall.ENOSPC) {
		t.Errorf("it failed because of %v", b.Err())
	}
	if got := drain(t, b, "log"); len(got) != 1 || string(got[0].Value) != "kept" {
		t.Errorf("reads after the failure: %v", got)
	}
	// Nothing will arrive. An immediate empty answer would make clients ask again at once.
	poll := fetchRequest("log", 1)
	poll.MaxWaitMillis = 200
	start := time.Now()
	ask(t, dialRaw(t, b), poll, 11)
	if took := time.Since(start); took < 150*time.Millisecond {
		t.Errorf("a long poll of a failed store took %s", took)
	}
	if err := b.Close(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("close: %v, want the failure", err)
	}
}

func TestUnwritable(t *testing.T) {
	for _, kind := range []errorfs.OpKind{errorfs.OpMkdirAll, errorfs.OpLock, errorfs.OpCreate} {
		_, err := broker.Open("some/log", broker.Options{FS: errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == kind {
				return syscall.EACCES
			}
			return nil
		}))})
		if !errors.Is(err, syscall.EACCES) || !strings.Contains(err.Error(), "some/log") {
			t.Errorf("%v is not allowed: %v", kind, err)
		}
	}
}

// stuck is a file system on which, once enabled, one kind of call fails on files whose name
// contains part.
type stuck struct {
	on    atomic.Bool
	what  string
	bulk  int // Options.BulkBytes
	kind  errorfs.OpKind
	part  string
	calls atomic.Int64
}

func (s *stuck) String() string { return "stuck" }

func (s *stuck) MaybeError(op errorfs.Op) error {
	if !s.on.Load() || op.Kind != s.kind || !strings.Contains(op.Path, s.part) {
		return nil
	}
	s.calls.Add(1)
	return syscall.EIO
}

// TestDiskThatRefusesForEver checks a disk that refuses a flush, or the rotation of the WAL (over
// the latter Pebble panics beyond recovery, the former it retries for ever): writers get errors,
// reads continue, nothing spins, and Close returns.
func TestDiskThatRefusesForEver(t *testing.T) {
	for _, inj := range []*stuck{
		{what: "begin a WAL", bulk: 1 << 30, kind: errorfs.OpCreate, part: ".log"},
		{what: "sync the WAL", bulk: 1 << 30, kind: errorfs.OpFileSyncData, part: ".log"},
		{what: "write the WAL", bulk: 1 << 30, kind: errorfs.OpFileWrite, part: ".log"},
		{what: "write the manifest", bulk: 1 << 30, kind: errorfs.OpFileWrite, part: "MANIFEST"},
		{what: "flush", bulk: 1 << 30, kind: errorfs.OpFileWrite, part: ".blob"},
		{what: "sync a blob file", bulk: 1 << 30, kind: errorfs.OpFileSyncData, part: ".blob"},
		{what: "begin a segment file", kind: errorfs.OpCreate, part: ".batches"},
		{what: "write a segment file", kind: errorfs.OpFileWrite, part: ".batches"},
		{what: "sync a segment file", kind: errorfs.OpFileSyncData, part: ".batches"},
		{what: "sync their directory", kind: errorfs.OpFileSync, part: "segments"},
		{what: "sync the WAL behind a segment file", kind: errorfs.OpFileSyncData, part: ".log"},
	} {
		t.Run(inj.what, func(t *testing.T) {
			opts := broker.Options{FS: errorfs.Wrap(vfs.NewMem(), inj), BulkBytes: inj.bulk, MaxBatchBytes: 32 << 20, MaxFetchBytes: 1}
			b, err := broker.Open("log", opts)
			if err != nil {
				t.Fatal(err)
			}
			createTopic(t, b, "log", 1)
			ctx := testContext(t)
			if _, err := b.Append(ctx, "log", 0, broker.Record{Value: []byte("kept")}); err != nil {
				t.Fatal(err)
			}
			inj.on.Store(true)
			// Larger than half a memtable: if Pebble gets it, each one makes it rotate its WAL and
			// flush.
			big := broker.Record{Value: make([]byte, 25<<20)}
			for n := 0; err == nil && n < 20; n++ {
				_, err = b.Append(ctx, "log", 0, big)
			}
			if b.Err() == nil {
				t.Fatalf("append: %v, and the store has not failed", err)
			}
			if !errors.Is(b.Err(), syscall.EIO) {
				t.Errorf("it failed because of %v", b.Err())
			}
			if n := inj.calls.Load(); n > 200 {
				t.Errorf("the disk was asked %d times", n)
			}
			after := inj.calls.Load()
			if got := consume(t, b, "log", 1); string(got[0].Value) != "kept" {
				t.Errorf("read %q after the failure", got[0].Value)
			}
			b.Stats()
			if err := b.Close(); !errors.Is(err, syscall.EIO) {
				t.Errorf("close: %v", err)
			}
			if n := inj.calls.Load() - after; n > 5 {
				t.Errorf("the disk was asked %d times after the failure", n)
			}
		})
	}
}
