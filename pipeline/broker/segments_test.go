package broker_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/recountdb/recount/pipeline/broker"
)

// inSegments makes every batch go to segment files of a few batches each.
var inSegments = broker.Options{BulkBytes: 1, SegmentBytes: 4000}

// appendRange appends records from to to-1, one batch each, of about a kilobyte.
func appendRange(t testing.TB, b *broker.Broker, topic string, partition int32, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		v := fmt.Appendf(nil, "%d %0900d", i, i)
		if at, err := b.Append(testContext(t), topic, partition, broker.Record{Value: v}); err != nil || at != int64(i) {
			t.Fatalf("append %d: at %d, %v", i, at, err)
		}
	}
}

// wantRange checks that a topic of one partition holds records from to to-1.
func wantRange(t testing.TB, b *broker.Broker, topic string, from, to int) {
	t.Helper()
	got := drain(t, b, topic)
	if len(got) != to-from {
		t.Fatalf("%d records, want %d", len(got), to-from)
	}
	for i, r := range got {
		if n := from + i; r.Offset != int64(n) || !strings.HasPrefix(string(r.Value), fmt.Sprint(n, " ")) {
			t.Fatalf("record %.10q at %d, want %d", r.Value, r.Offset, n)
		}
	}
	if damage, err := b.Check(testContext(t)); err != nil || len(damage) > 0 {
		t.Errorf("check: %v, %v", damage, err)
	}
}

// segmentFiles returns the segment files in dir, by name.
func segmentFiles(t testing.TB, dir string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "segments", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestSegmentsAndStoreAreOneLog checks that large batches go to segment files, each byte once, and
// small ones to the store, and that the log is read across both and across restarts.
func TestSegmentsAndStoreAreOneLog(t *testing.T) {
	dir := t.TempDir()
	at := 0
	for life, opts := range []broker.Options{{}, inSegments, {}, inSegments, {BulkBytes: 1}} {
		b, err := broker.Open(dir, opts)
		if err != nil {
			t.Fatal(err)
		}
		if life == 0 {
			createTopic(t, b, "log", 1)
		}
		before := len(segmentFiles(t, dir))
		appendRange(t, b, "log", 0, at, at+20)
		at += 20
		want := 0
		switch {
		case opts.SegmentBytes > 0:
			want = 5 // four batches a file
		case opts.BulkBytes > 0:
			want = 1
		}
		if got := len(segmentFiles(t, dir)) - before; got != want {
			t.Errorf("life %d: %d new segment files, want %d", life, got, want)
		}
		wantRange(t, b, "log", 0, at)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	wantRange(t, open(t, dir, broker.Options{}), "log", 0, at)
}

// TestWhatIsMuch checks that by default a batch of half a megabyte goes to a segment file, and one
// of a kilobyte does not.
func TestWhatIsMuch(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, broker.Options{})
	createTopic(t, b, "log", 1)
	appendRange(t, b, "log", 0, 0, 3)
	if got := segmentFiles(t, dir); len(got) != 0 {
		t.Errorf("records of a kilobyte made %v", got)
	}
	if _, err := b.Append(testContext(t), "log", 0, broker.Record{Value: noise(1 << 19)}); err != nil {
		t.Fatal(err)
	}
	got := segmentFiles(t, dir)
	if len(got) != 1 {
		t.Fatalf("half a megabyte made %v", got)
	}
	data, err := os.ReadFile(got[0])
	if err != nil || !bytes.Contains(data, noise(1<<19)) || len(data) > 1<<19+200 {
		t.Errorf("the file has %d bytes, %v", len(data), err)
	}
}

// TestOlderFormat checks that a directory of the older format is read, continues in the new one,
// and is then refused by programs that know only the old one.
func TestOlderFormat(t *testing.T) {
	dir := t.TempDir()
	b, err := broker.Open(dir, broker.Options{BulkBytes: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "log", 1)
	appendRange(t, b, "log", 0, 0, 10)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	// Remove everything that the older format did not have.
	if err := os.RemoveAll(filepath.Join(dir, "segments")); err != nil {
		t.Fatal(err)
	}
	format := filepath.Join(dir, "FORMAT")
	edit(t, format, func([]byte) []byte { return []byte("recount-log 1\n") })

	b = open(t, dir, inSegments)
	wantRange(t, b, "log", 0, 10)
	appendRange(t, b, "log", 0, 10, 20)
	wantRange(t, b, "log", 0, 20)
	if text, err := os.ReadFile(format); string(text) != "recount-log 2\n" {
		t.Errorf("FORMAT holds %q, %v", text, err)
	}
}

// TestDeletedSegments checks that a file is removed when the last readable batch in it is deleted,
// and not before.
func TestDeletedSegments(t *testing.T) {
	dir := t.TempDir()
	b := open(t, dir, inSegments)
	adm := admin(t, b)
	createTopic(t, b, "log", 2)
	createTopic(t, b, "other", 1)
	appendRange(t, b, "log", 0, 0, 4) // a file
	appendRange(t, b, "log", 0, 4, 6) // a file shared by the two partitions
	appendRange(t, b, "log", 1, 0, 2)
	appendRange(t, b, "other", 0, 0, 3)
	want := func(what string, n int) {
		t.Helper()
		eventually(t, what, func() bool { return len(segmentFiles(t, dir)) == n })
	}
	want("three files", 3)
	cut := func(partition int32, at int64) {
		t.Helper()
		del := kadm.Offsets{}
		del.Add(kadm.Offset{Topic: "log", Partition: partition, At: at})
		if _, err := adm.DeleteRecords(testContext(t), del); err != nil {
			t.Fatal(err)
		}
	}
	cut(0, 3)
	cut(0, 6)
	want("the first file goes, the shared one stays", 2)
	cut(1, 1)
	appendRange(t, b, "log", 0, 6, 7)
	left := map[place]bool{}
	for _, r := range consume(t, b, "log", 2) {
		left[place{r.Partition, r.Offset}] = true
	}
	if len(left) != 2 || !left[place{1, 1}] || !left[place{0, 6}] {
		t.Errorf("left are %v, want 1/1 and 0/6", left)
	}
	cut(0, 7)
	cut(1, 2)
	want("the shared file goes, though it is written to", 1)
	appendRange(t, b, "log", 1, 2, 4)
	want("another is begun", 2)
	if _, err := adm.DeleteTopic(testContext(t), "log"); err != nil {
		t.Fatal(err)
	}
	want("the topic's files go", 1)
	wantRange(t, b, "other", 0, 3)
}

// TestOrphanSegments checks that files that a crash left without a key are removed, and that their
// numbers are not reused.
func TestOrphanSegments(t *testing.T) {
	dir := t.TempDir()
	b, err := broker.Open(dir, inSegments)
	if err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "log", 1)
	appendRange(t, b, "log", 0, 0, 1)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	orphan := filepath.Join(dir, "segments", "000001-000007.batches")
	if err := os.WriteFile(orphan, []byte("half a batch"), 0o644); err != nil {
		t.Fatal(err)
	}
	b = open(t, dir, inSegments)
	if got := segmentFiles(t, dir); len(got) != 1 || got[0] == orphan {
		t.Errorf("files %v", got)
	}
	appendRange(t, b, "log", 0, 1, 2)
	if got := segmentFiles(t, dir); len(got) != 2 || filepath.Base(got[1]) != "000001-000008.batches" {
		t.Errorf("files %v", got)
	}
	wantRange(t, b, "log", 0, 2)
}

// segmentedLog returns a directory with a closed log: records 0 to 7, in two segment files.
func segmentedLog(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	b, err := broker.Open(dir, inSegments)
	if err != nil {
		t.Fatal(err)
	}
	createTopic(t, b, "log", 1)
	appendRange(t, b, "log", 0, 0, 8)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestMissingSegments(t *testing.T) {
	for _, tc := range []struct {
		name   string
		damage func(file string) error
		says   string
	}{
		{"removed", os.Remove, "is missing"},
		{"a byte short", func(f string) error {
			info, err := os.Stat(f)
			return errors.Join(err, os.Truncate(f, info.Size()-1))
		}, "and had"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := segmentedLog(t)
			file := segmentFiles(t, dir)[1]
			if err := tc.damage(file); err != nil {
				t.Fatal(err)
			}
			for _, accept := range []bool{false, true} {
				b, err := broker.Open(dir, broker.Options{AcceptLoss: accept})
				if err == nil {
					b.Close()
					t.Fatal("opened without a word")
				}
				if !errors.Is(err, broker.ErrDamaged) || !strings.Contains(err.Error(), filepath.Base(file)) || !strings.Contains(err.Error(), `"log"`) || !strings.Contains(err.Error(), tc.says) {
					t.Errorf("error %q does not say %q, the topic and the file", err, tc.says)
				}
			}
		})
	}
}

// TestFlippedBitInASegment checks that a reader detects any flipped bit in a segment file, also the
// one written last, and that the rest can be read.
func TestFlippedBitInASegment(t *testing.T) {
	whole := segmentedLog(t)
	file := filepath.Base(segmentFiles(t, whole)[1])
	size := 0
	edit(t, filepath.Join(whole, "segments", file), func(b []byte) []byte { size = len(b); return b })
	for _, at := range []int{0, 7, 8, 12, 16, 17, 21, 60, 61, 500, size - 1} {
		dir := filepath.Join(t.TempDir(), "log")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		edit(t, filepath.Join(dir, "segments", file), func(b []byte) []byte { b[at] ^= 1; return b })
		bad := int64(4)
		if at == size-1 {
			bad = 7
		}
		b := open(t, dir, broker.Options{})
		damage, err := b.Check(testContext(t))
		if err != nil || len(damage) != 1 || damage[0].Offset != bad || !strings.Contains(damage[0].What, file) {
			t.Errorf("byte %d: check: %v, %v; want damage at offset %d in %s", at, damage, err, bad, file)
		}
		for offset := range int64(8) {
			part := ask(t, dialRaw(t, b), fetchRequest("log", offset), 11).(*kmsg.FetchResponse).Topics[0].Partitions[0]
			if got := kerr.ErrorForCode(part.ErrorCode); errors.Is(got, kerr.UnknownServerError) != (offset == bad) {
				t.Errorf("byte %d: fetch at %d: %v", at, offset, got)
			}
		}
	}
}
