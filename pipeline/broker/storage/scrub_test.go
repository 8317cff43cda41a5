package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// put writes a file, and syncs it and its folder.
func put(t *testing.T, fs vfs.FS, dir, name string, data []byte) {
	t.Helper()
	f, err := fs.Create(fs.PathJoin(dir, name), vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(bytes.Clone(data)) // Write may modify its argument
	if err = errors.Join(err, f.Sync(), f.Close(), syncDir(fs, dir), syncDir(fs, "")); err != nil {
		t.Fatal(err)
	}
}

// TestBlankSurvivesPowerCut checks that what was overwritten in a segment file stays so if the
// power is cut right after.
func TestBlankSurvivesPowerCut(t *testing.T) {
	fs := vfs.NewCrashableMem()
	if err := fs.MkdirAll("log", 0o700); err != nil {
		t.Fatal(err)
	}
	id := segmentID{1, 1}
	put(t, fs, "log", id.name(), []byte("before, the secret, after"))
	ss := &segments{fs: fs, dir: "log"}
	if err := ss.blank(scrubNote{topic: id.topic, ref: &reference{id.num, 8, 10}}); err != nil {
		t.Fatal(err)
	}
	left, err := readFile(fs.CrashClone(vfs.CrashCloneCfg{}), fs.PathJoin("log", id.name()))
	if want := "before, " + string(make([]byte, 10)) + ", after"; err != nil || string(left) != want {
		t.Errorf("after the power cut %q, %v; want %q", left, err, want)
	}
}

// TestFilesWithReplacedBatches checks that a replaced batch, and only that, is found in tables and
// blob files at any place, also across the pieces in which they are read.
func TestFilesWithReplacedBatches(t *testing.T) {
	old := wire.Batch(wire.EncodeBatch(nil, []wire.Record{{Value: []byte("the secret")}}))
	old.SetOffset(7, 0)
	other := bytes.Clone(old)
	other[20]++ // another checksum
	const piece = 1 << 20
	fs := vfs.NewMem()
	if err := fs.MkdirAll("log", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]int{"000001.sst": 0, "000002.sst": 100, "000003.blob": piece - 10, "000004.blob": piece - wire.BatchHeaderSize, "000005.sst": 2*piece - 17} {
		put(t, fs, "log", name, append(append(bytes.Repeat([]byte{2}, at), old...), make([]byte, 300)...))
	}
	put(t, fs, "log", "000006.sst", append(bytes.Repeat([]byte{2}, 50), other...))
	put(t, fs, "log", "000007.log", old) // a WAL, which is not searched but rotated
	s := &store{fs: fs, dir: "log"}
	found, err := s.filesWith(t.Context(), oldBatches([]scrubNote{{base: 7, crc: binary.BigEndian.Uint32(old[17:])}}))
	if err != nil || len(found) != 5 {
		t.Errorf("found in %v, %v; want 1 to 5", found, err)
	}
}

// TestRewriteOfDeletedRecords checks that a batch that was deleted between its reading and its
// rewriting does not come back.
func TestRewriteOfDeletedRecords(t *testing.T) {
	b := memLog(t, Options{})
	topic, refused := b.CreateTopic(t.Context(), "log", 1, nil, false)
	if refused != nil {
		t.Fatal(refused)
	}
	p := (*topic.parts.Load())[0]
	for range 3 {
		if _, err := b.Append(t.Context(), "log", 0, wire.Record{Value: []byte("v")}); err != nil {
			t.Fatal(err)
		}
	}
	key := func(last int64) []byte { return batchKey(topic.num, 0, last) }
	o := &rewriteOp{p: p, out: make(chan error, 1)}
	for last := range int64(3) {
		v, closer, err := b.store.db.Get(key(last))
		if err != nil {
			t.Fatal(err)
		}
		read := wire.Batch(bytes.Clone(v))
		closer.Close()
		o.batches = append(o.batches, read)
		o.notes = append(o.notes, scrubNote{topic: topic.num, last: last, base: last, crc: binary.BigEndian.Uint32(read[17:])})
	}
	if _, refused := b.DeleteRecords(t.Context(), p, 2); refused != nil {
		t.Fatal(refused)
	}
	if err := b.store.commit.submit(o); err != nil {
		t.Fatal(err)
	}
	if err := <-o.out; err != nil {
		t.Fatal(err)
	}
	for last, want := range []error{pebble.ErrNotFound, pebble.ErrNotFound, nil} {
		_, closer, err := b.store.db.Get(key(int64(last)))
		if !errors.Is(err, want) {
			t.Errorf("offset %d: %v, want %v", last, err, want)
		}
		if err == nil {
			closer.Close()
		}
	}
	if notes, err := b.store.scrubNotes(); err != nil || len(notes) != 1 {
		t.Errorf("%d notes of what is to be scrubbed, %v; want 1", len(notes), err)
	}
}
