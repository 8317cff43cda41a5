package broker_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/recountdb/recount/pipeline/broker"
)

const secret = "hunter2-correct-horse-battery-staple"

var erased = broker.Record{Headers: []broker.Header{{Key: "erased", Value: []byte("1")}}}

// filesWith returns the files below dir that contain a text.
func filesWith(t testing.TB, vf vfs.FS, dir, text string) []string {
	t.Helper()
	var found []string
	names, err := vf.List(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		path := vf.PathJoin(dir, name)
		info, err := vf.Stat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue // removed in the meantime
		}
		if err != nil {
			t.Fatal(err)
		}
		if info.IsDir() {
			found = append(found, filesWith(t, vf, path, text)...)
			continue
		}
		f, err := vf.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(f)
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(text)) {
			found = append(found, path)
		}
	}
	return found
}

// TestRewrite checks that replaced contents are gone from every file, wherever they were, and that
// everything else is unchanged.
func TestRewrite(t *testing.T) {
	big := strings.Repeat("x", 3000)
	for _, test := range []struct {
		name  string
		opts  broker.Options
		codec kgo.CompressionCodec
		large bool
	}{
		{"in tables", broker.Options{}, kgo.NoCompression(), false},
		{"in blob files", broker.Options{}, kgo.NoCompression(), true},
		{"in segment files", inSegments, kgo.NoCompression(), true},
		{"gzip", broker.Options{}, kgo.GzipCompression(), true},
		{"snappy", broker.Options{}, kgo.SnappyCompression(), true},
		{"lz4", inSegments, kgo.Lz4Compression(), true},
		{"zstd", broker.Options{}, kgo.ZstdCompression(), true},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			b, err := broker.Open(dir, test.opts)
			if err != nil {
				t.Fatal(err)
			}
			createTopic(t, b, "log", 2)
			c := client(t, b, kgo.ProducerBatchCompression(test.codec), kgo.RecordPartitioner(kgo.ManualPartitioner()))
			const n = 60
			wanted := map[int32]map[int64]broker.Record{0: {}, 1: {}}
			value := func(i int) string {
				v := fmt.Sprintf("record %d ", i)
				if test.large {
					v += big
				}
				if i%7 == 3 {
					v += secret
				}
				return v
			}
			produce := func(c *kgo.Client, from, to int) {
				for i := from; i < to; i += 3 { // three to a batch
					var batch []*kgo.Record
					for j := i; j < i+3; j++ {
						batch = append(batch, &kgo.Record{Topic: "log", Partition: int32(i / 3 % 2), Key: []byte("key"), Value: []byte(value(j)), Timestamp: time.UnixMilli(int64(1e12 + j))})
					}
					for k, r := range c.ProduceSync(testContext(t), batch...) {
						if r.Err != nil {
							t.Fatal(r.Err)
						}
						if (i+k)%7 == 3 {
							wanted[r.Record.Partition][r.Record.Offset] = erased
						}
					}
				}
			}
			produce(c, 0, n)
			if test.name[:2] == "in" && len(filesWith(t, vfs.Default, dir, secret)) == 0 {
				t.Fatal("the secret is in no file to begin with")
			}
			all := []broker.Rewriting{{Topic: "log", Partition: 0, Records: wanted[0]}, {Topic: "log", Partition: 1, Records: wanted[1]}}
			done, err := b.Rewrite(testContext(t), all...)
			if err != nil || done.Records != len(wanted[0])+len(wanted[1]) || done.Batches == 0 || done.Gone != 0 {
				t.Fatalf("%+v, %v", done, err)
			}
			if found := filesWith(t, vfs.Default, dir, secret); len(found) > 0 {
				t.Errorf("the secret is still in %v", found)
			}
			produce(c, n, n+6) // the same idempotent producer
			check := func(b *broker.Broker) {
				t.Helper()
				got := drain(t, b, "log")
				if len(got) != n+6 {
					t.Fatalf("%d records, want %d", len(got), n+6)
				}
				for _, r := range got {
					// The record's place identifies it.
					i := int(r.Offset)/3*6 + int(r.Partition)*3 + int(r.Offset)%3
					if !r.Timestamp.Equal(time.UnixMilli(int64(1e12 + i))) {
						t.Errorf("record %d at %d/%d has time %v", i, r.Partition, r.Offset, r.Timestamp)
					}
					if _, gone := wanted[r.Partition][r.Offset]; gone && i < n {
						if r.Value != nil || r.Key != nil || len(r.Headers) != 1 || r.Headers[0].Key != "erased" {
							t.Errorf("record %d is %.40q, %q, %v", i, r.Value, r.Key, r.Headers)
						}
					} else if string(r.Value) != value(i) || string(r.Key) != "key" {
						t.Errorf("record %d is %.40q, want %.40q", i, r.Value, value(i))
					}
				}
				if damage, err := b.Check(testContext(t)); err != nil || len(damage) > 0 {
					t.Errorf("check: %v, %v", damage, err)
				}
			}
			check(b)
			// Repeating the rewrite changes nothing.
			again, err := b.Rewrite(testContext(t), broker.Rewriting{Topic: "log", Records: map[int64]broker.Record{3: erased, 1 << 40: erased}})
			if err != nil || again.Gone != 1 || again.Records != 1 {
				t.Errorf("again: %+v, %v", again, err)
			}
			wanted[0][3] = erased
			if err := b.Close(); err != nil {
				t.Fatal(err)
			}
			b = open(t, dir, test.opts)
			check(b)
		})
	}
}

// TestRewriteOfNothing checks the report of a rewrite without anything to replace.
func TestRewriteOfNothing(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{})
	createTopic(t, b, "log", 1)
	if _, err := b.Rewrite(testContext(t), broker.Rewriting{Topic: "none"}); err == nil {
		t.Error("an unknown topic is no error")
	}
	if _, err := b.Rewrite(testContext(t), broker.Rewriting{Topic: "log", Partition: 7}); err == nil {
		t.Error("an unknown partition is no error")
	}
	done, err := b.Rewrite(testContext(t), broker.Rewriting{Topic: "log", Records: map[int64]broker.Record{5: erased}})
	if err != nil || done.Gone != 1 || done.Batches != 0 {
		t.Errorf("an empty partition: %+v, %v", done, err)
	}
}

// TestRewriteWhileInUse checks that readers and idempotent producers continue while records are
// rewritten.
func TestRewriteWhileInUse(t *testing.T) {
	for name, opts := range map[string]broker.Options{"in the store": {}, "in segment files": {BulkBytes: 1, SegmentBytes: 64 << 10}} {
		t.Run(name, func(t *testing.T) { rewriteWhileInUse(t, opts) })
	}
}

func rewriteWhileInUse(t *testing.T, opts broker.Options) {
	dir := t.TempDir()
	b := open(t, dir, opts)
	createTopic(t, b, "log", 2)
	c := client(t, b, kgo.DefaultProduceTopic("log"))
	a := &acks{at: map[string]place{}, pace: 5}
	ctx, stop := context.WithCancel(testContext(t))
	var wg sync.WaitGroup
	var sent int
	wg.Go(func() { sent = a.produceUntil(ctx, c, "log") })

	var mu sync.Mutex
	gone := map[place]bool{}
	var reads atomic.Int64
	for range 2 {
		wg.Go(func() {
			for ctx.Err() == nil {
				r := client(t, b, kgo.ConsumeTopics("log"), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(10*time.Millisecond), kgo.FetchMaxPartitionBytes(8<<10))
				next := map[int32]int64{}
				for range 30 {
					f := r.PollFetches(ctx)
					if err := f.Err(); err != nil && ctx.Err() == nil {
						t.Errorf("fetch: %v", err)
					}
					f.EachRecord(func(r *kgo.Record) {
						if r.Offset != next[r.Partition] {
							t.Errorf("%d/%d comes where %d should", r.Partition, r.Offset, next[r.Partition])
						}
						next[r.Partition] = r.Offset + 1
						reads.Add(1)
						if r.Value == nil {
							mu.Lock()
							if !gone[place{r.Partition, r.Offset}] {
								t.Errorf("%d/%d is erased, and nobody asked for it", r.Partition, r.Offset)
							}
							mu.Unlock()
						}
					})
				}
				r.Close()
			}
		})
	}
	for range rounds(6, 60) {
		time.Sleep(20 * time.Millisecond)
		all := []broker.Rewriting{{Topic: "log", Partition: 0, Records: map[int64]broker.Record{}}, {Topic: "log", Partition: 1, Records: map[int64]broker.Record{}}}
		a.mu.Lock()
		for _, at := range a.at {
			if rand.IntN(10) == 0 {
				all[at.partition].Records[at.offset] = erased
			}
		}
		a.mu.Unlock()
		mu.Lock()
		for _, r := range all {
			for at := range r.Records {
				gone[place{r.Partition, at}] = true
			}
		}
		mu.Unlock()
		if _, err := b.Rewrite(testContext(t), all...); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	wg.Wait()
	if err := c.Flush(testContext(t)); err != nil {
		t.Fatal(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.at) != sent || len(a.errs) > 0 {
		t.Fatalf("%d of %d acknowledged: %v", len(a.at), sent, a.errs)
	}
	got := map[place]string{}
	for _, r := range drain(t, b, "log") {
		got[place{r.Partition, r.Offset}] = string(r.Value)
	}
	if len(got) != sent {
		t.Errorf("the log holds %d records, %d were sent", len(got), sent)
	}
	for v, at := range a.at {
		if want := map[bool]string{false: v, true: ""}[gone[at]]; got[at] != want {
			t.Errorf("%v holds %.20q, want %.20q", at, got[at], want)
		}
	}
	if damage, err := b.Check(testContext(t)); err != nil || len(damage) > 0 {
		t.Errorf("check: %v, %v", damage, err)
	}
	t.Logf("%d records, %d erased, %d read", sent, len(gone), reads.Load())
}

// crashing copies a file system, as a crash would leave it, before one of the writes to it.
type crashing struct {
	fs    *vfs.MemFS
	cfg   vfs.CrashCloneCfg
	left  atomic.Int64 // writes until then
	after *vfs.MemFS
}

func (c *crashing) String() string { return "crashing" }

func (c *crashing) MaybeError(op errorfs.Op) error {
	switch op.Kind {
	case errorfs.OpCreate, errorfs.OpFileWrite, errorfs.OpFileWriteAt, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo, errorfs.OpRename, errorfs.OpRemove:
		if c.left.Add(-1) == 0 {
			c.after = c.fs.CrashClone(c.cfg)
		}
	}
	return nil
}

// TestSoakRewriteCrash checks that a crash before any write of a rewrite leaves a complete log, and
// that the next opening finishes what had begun.
func TestSoakRewriteCrash(t *testing.T) {
	finished, begun := 0, 0
	for round := range rounds(16, 400) {
		mem := vfs.NewCrashableMem()
		crash := &crashing{fs: mem, cfg: vfs.CrashCloneCfg{UnsyncedDataPercent: rand.IntN(101), RNG: rand.New(rand.NewPCG(uint64(round), 0))}}
		opts := broker.Options{FS: errorfs.Wrap(mem, crash)}
		if round%2 == 1 {
			opts.BulkBytes, opts.SegmentBytes = 1, 8<<10
		}
		b, err := broker.Open("log", opts)
		if err != nil {
			t.Fatal(err)
		}
		createTopic(t, b, "log", 1)
		wanted := map[int64]broker.Record{}
		for i := range 40 {
			v := fmt.Sprintf("%d %0600d", i, i)
			if i%5 == 0 {
				v, wanted[int64(i)] = v+secret, erased
			}
			if _, err := b.Append(testContext(t), "log", 0, broker.Record{Value: []byte(v)}); err != nil {
				t.Fatal(err)
			}
		}
		crash.left.Store(1 + int64(rand.IntN(80)))
		if _, err := b.Rewrite(context.Background(), broker.Rewriting{Topic: "log", Records: wanted}); err != nil {
			t.Fatal(err)
		}
		b.Close()
		after := crash.after
		if after == nil {
			after = mem.CrashClone(crash.cfg)
		}
		there := len(filesWith(t, after, "log", secret)) > 0
		opts.FS = after
		b, err = broker.Open("log", opts)
		if err != nil {
			t.Fatalf("round %d: open after a crash: %v", round, err)
		}
		replaced := 0
		for i, r := range drain(t, b, "log") {
			switch {
			case r.Offset != int64(i):
				t.Fatalf("round %d: offset %d at %d", round, r.Offset, i)
			case r.Value == nil:
				replaced++
			case !strings.HasPrefix(string(r.Value), fmt.Sprint(i, " ")):
				t.Errorf("round %d: %d holds %.20q", round, i, r.Value)
			}
		}
		if damage, err := b.Check(testContext(t)); err != nil || len(damage) > 0 {
			t.Errorf("round %d: check: %v, %v", round, damage, err)
		}
		switch replaced {
		case 0: // it had not begun: ask again
			if _, err := b.Rewrite(testContext(t), broker.Rewriting{Topic: "log", Records: wanted}); err != nil {
				t.Fatal(err)
			}
		case len(wanted):
			begun++
			if !there {
				finished++
			}
			for wait := time.Now(); len(filesWith(t, after, "log", secret)) > 0 && time.Since(wait) < patience; {
				time.Sleep(time.Millisecond)
			}
		default:
			t.Errorf("round %d: %d of %d replaced: not one commit", round, replaced, len(wanted))
		}
		if found := filesWith(t, after, "log", secret); len(found) > 0 {
			t.Errorf("round %d: the secret is still in %v", round, found)
		}
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d crashes behind the commit, %d of them when all was scrubbed", begun, finished)
}
