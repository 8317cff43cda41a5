package broker_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker"
)

// image returns a copy of a log's directory taken while it was open, as kill -9 would leave it. It
// holds records "0" to "n-1" of topic log, partition 0.
func image(t testing.TB, n int) string {
	t.Helper()
	dir := t.TempDir()
	b := open(t, dir, broker.Options{})
	c := client(t, b)
	if _, err := kadm.NewClient(c).CreateTopic(testContext(t), 1, 1, nil, "log"); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		v := fmt.Appendf(nil, "%d %0500d", i, i)
		if err := c.ProduceSync(testContext(t), &kgo.Record{Topic: "log", Value: v}).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	return crashed(t, dir)
}

// crashed returns a copy of the directory of an open log, as kill -9 would leave it. Pebble goes on
// to write tables and to remove what it needs no more, so a copy during which a file changed is made
// again: it would be of no single moment.
func crashed(t testing.TB, dir string) string {
	t.Helper()
	for {
		copied := filepath.Join(t.TempDir(), "log")
		before := listing(t, dir)
		err := os.CopyFS(copied, os.DirFS(dir))
		if !slices.Equal(listing(t, dir), before) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		return copied
	}
}

// listing returns the files below dir with their sizes and times.
func listing(t testing.TB, dir string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil {
			found = append(found, fmt.Sprint(path, info.Size(), info.ModTime()))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// files returns the files of dir whose path contains part.
func files(t testing.TB, dir, part string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.Contains(path[len(dir):], part) {
			found = append(found, path)
		}
		return err
	})
	if err != nil || len(found) == 0 {
		t.Fatalf("no file like %q in %s: %v", part, dir, err)
	}
	return found
}

// edit changes a file's bytes.
func edit(t testing.TB, name string, change func([]byte) []byte) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, change(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// wal returns the log's newest write-ahead log, since one before it may only wait for its removal,
// and where its data ends, since the file is preallocated.
func wal(t testing.TB, dir string) (name string, end int) {
	t.Helper()
	name = newest(t, dir, ".log")
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return name, len(bytes.TrimRight(data, "\x00"))
}

func TestImageIsWhole(t *testing.T) {
	b := open(t, image(t, 100), broker.Options{})
	if got := consume(t, b, "log", 100); string(got[99].Value[:3]) != "99 " {
		t.Errorf("the last record is %.10q", got[99].Value)
	}
}

// TestFlippedBitInTheLiveWAL checks that a flipped bit in the last part of the live WAL is
// detected. Pebble alone takes it for a torn write and silently drops the records after it.
func TestFlippedBitInTheLiveWAL(t *testing.T) {
	dir := image(t, 100)
	name, end := wal(t, dir)
	edit(t, name, func(b []byte) []byte { b[end-20_000] ^= 4; return b })

	_, err := broker.Open(dir, broker.Options{})
	var loss *broker.LossError
	if !errors.As(err, &loss) {
		t.Fatalf("open: %v, want a LossError", err)
	}
	if len(loss.Lost) != 1 || loss.Lost[0].Topic != "log" || loss.Lost[0].To != 100 || loss.Commits == 0 {
		t.Errorf("loss %+v, want the end of log/0", loss)
	}
	from := loss.Lost[0].From
	if from < 10 || from > 99 {
		t.Errorf("lost from %d on", from)
	}
	if _, again := broker.Open(dir, broker.Options{}); again == nil || again.Error() != err.Error() {
		t.Errorf("opened again: %v\nwant %v", again, err)
	}

	b := open(t, dir, broker.Options{AcceptLoss: true})
	// The gap does not stop a consumer, even at the end of the log.
	gap := ask(t, dialRaw(t, b), fetchRequest("log", from), 11).(*kmsg.FetchResponse).Topics[0].Partitions[0]
	var empty kmsg.RecordBatch
	if err := empty.ReadFrom(gap.RecordBatches); err != nil || empty.NumRecords != 0 || empty.FirstOffset != from || empty.FirstOffset+int64(empty.LastOffsetDelta) != 99 {
		t.Errorf("in the gap: %v, %+v", err, empty)
	}
	base, err := b.Append(testContext(t), "log", 0, broker.Record{Value: []byte("after")})
	if err != nil || base != 100 {
		t.Errorf("append after the loss: offset %d, %v; want 100, as lost offsets are not given out again", base, err)
	}
	got := consume(t, b, "log", int(from)+1)
	if last := got[len(got)-1]; last.Offset != 100 || string(last.Value) != "after" {
		t.Errorf("the last record is %q at %d", last.Value, last.Offset)
	}
	if damage, err := b.Check(testContext(t)); err != nil || len(damage) > 0 {
		t.Errorf("check: %v, %v", damage, err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	open(t, dir, broker.Options{}) // the loss need not be accepted again
}

func TestDamagedDirectories(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		want   error  // expected class of the error, if any
		says   string // text that the error must contain
	}{
		{"wal cut short", func(t *testing.T, dir string) {
			name, end := wal(t, dir)
			edit(t, name, func(b []byte) []byte { return b[:end/2] })
		}, broker.ErrLoss, "log/0: offsets"},
		{"wal removed", func(t *testing.T, dir string) {
			name, _ := wal(t, dir)
			os.Remove(name)
		}, broker.ErrLoss, "commits are gone"},
		{"store removed", func(t *testing.T, dir string) {
			os.RemoveAll(filepath.Join(dir, "store"))
		}, broker.ErrLoss, "log/0: offsets 0 to 99"},
		{"high-water files removed", func(t *testing.T, dir string) {
			for _, f := range files(t, dir, "highwater") {
				os.Remove(f)
			}
		}, broker.ErrLoss, "high-water files are missing"},
		{"manifest flipped", func(t *testing.T, dir string) {
			edit(t, files(t, dir, "MANIFEST")[0], func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}, nil, "MANIFEST"},
		{"manifest removed", func(t *testing.T, dir string) {
			os.Remove(files(t, dir, "MANIFEST-")[0])
		}, nil, "MANIFEST"},
		{"format of a newer version", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "FORMAT"), func([]byte) []byte { return []byte("recount-log 3\n") })
		}, broker.ErrNewerFormat, "its format is 3"},
		{"format is not one", func(t *testing.T, dir string) {
			edit(t, filepath.Join(dir, "FORMAT"), func([]byte) []byte { return []byte("\x00\x00") })
		}, broker.ErrDamaged, "FORMAT"},
		{"format removed", func(t *testing.T, dir string) {
			os.Remove(filepath.Join(dir, "FORMAT"))
		}, broker.ErrDamaged, "FORMAT is missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := image(t, 100)
			tc.damage(t, dir)
			b, err := broker.Open(dir, broker.Options{})
			if err == nil {
				b.Close()
				t.Fatal("opened without a word")
			}
			if tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("error %v, want %v", err, tc.want)
			}
			if !strings.Contains(err.Error(), tc.says) || !strings.Contains(err.Error(), dir) {
				t.Errorf("error %q does not say %q and the directory", err, tc.says)
			}
		})
	}
}

// TestSoakFlippedBits flips random bits and checks that the log opens with everything there, or
// opening or reading reports the damage. It never panics and never hides a loss.
func TestSoakFlippedBits(t *testing.T) {
	whole := sealedImage(t)
	rng := rand.New(rand.NewPCG(1, 2))
	said, unharmed := 0, 0
	for range rounds(30, 1000) {
		dir := filepath.Join(t.TempDir(), "log")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		var candidates []string
		for _, f := range files(t, dir, "") {
			if info, err := os.Stat(f); err == nil && info.Size() > 0 && filepath.Base(f) != "LOCK" {
				candidates = append(candidates, f)
			}
		}
		f := candidates[rng.IntN(len(candidates))]
		var at int
		edit(t, f, func(b []byte) []byte {
			if strings.HasSuffix(f, ".log") {
				b = bytes.TrimRight(b, "\x00")
			}
			at = rng.IntN(max(len(b), 1))
			if len(b) > 0 {
				b[at] ^= 1 << rng.IntN(8)
			}
			return b
		})
		what := fmt.Sprintf("%s at %d", f[len(dir):], at)
		b, err := broker.Open(dir, broker.Options{})
		if err != nil {
			said++
			continue
		}
		damage, err := b.Check(testContext(t))
		if err != nil {
			t.Errorf("%s: check: %v", what, err)
		}
		if len(damage) > 0 {
			said++
		} else {
			unharmed++
			ends := map[int32]int64{}
			for _, r := range consume(t, b, "log", 400) {
				ends[r.Partition]++
			}
			if ends[0] != 400 {
				t.Errorf("%s: %v records, and nobody says that some are missing", what, ends)
			}
		}
		if err := b.Close(); err != nil && len(damage) == 0 {
			t.Errorf("%s: close: %v", what, err)
		}
	}
	t.Logf("%d flips were noticed, %d did no harm", said, unharmed)
}

// sealedImage returns a log that is mostly in sealed files: 300 records, closed and opened again
// (which seals them), then 100 more alternately into segment files and the store, and a crash.
func sealedImage(t testing.TB) string {
	t.Helper()
	dir := image(t, 300)
	b, err := broker.Open(dir, broker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		if i%25 == 0 {
			b.Close()
			b = open(t, dir, broker.Options{BulkBytes: 1 + i/25%2<<20, SegmentBytes: 8 << 10})
		}
		v := fmt.Appendf(nil, "%d %0500d", 300+i, i)
		if _, err := b.Append(testContext(t), "log", 0, broker.Record{Value: v}); err != nil {
			t.Fatal(err)
		}
	}
	return crashed(t, dir)
}

func TestSecondOpenIsRefused(t *testing.T) {
	dir := t.TempDir()
	p := startProcess(t, dir)
	defer p.kill()
	_, err := broker.Open(dir, broker.Options{})
	if !errors.Is(err, broker.ErrLocked) || !strings.Contains(err.Error(), dir) {
		t.Errorf("open while another process has it: %v", err)
	}
	own := t.TempDir()
	open(t, own, broker.Options{})
	if _, err := broker.Open(own, broker.Options{}); !errors.Is(err, broker.ErrLocked) {
		t.Errorf("open twice in one process: %v", err)
	}
}

func TestPortInUse(t *testing.T) {
	b := open(t, t.TempDir(), broker.Options{Listen: []string{"127.0.0.1:0"}})
	dir := t.TempDir()
	_, err := broker.Open(dir, broker.Options{Listen: []string{b.Addr()}})
	if err == nil || !strings.Contains(err.Error(), b.Addr()) {
		t.Errorf("open on a port in use: %v", err)
	}
	open(t, dir, broker.Options{}) // the directory must not be locked
}

func TestUnwritableDirectory(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write anywhere")
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	_, err := broker.Open(dir, broker.Options{})
	if err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("open: %v", err)
	}
}
