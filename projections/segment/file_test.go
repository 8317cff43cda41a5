package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// family returns a small shard in which each row names the one before it as its parent, and every
// column has values.
func family(rows int) projtest.Shard {
	sh := projtest.Shard{TP: schemas.TopicPartition{Topic: "recount.commands", Partition: 1}, Next: int64(rows)}
	var last schemas.EventID
	for i := range rows {
		id := schemas.NewCanon("segment/family").Int(int64(i)).ID()
		code := int32(i % 3)
		in := &recountv1.Intent{
			Command: fmt.Sprintf("make -j%d > out-%d.log", i%4, i), Template: "make -j<n> > <path>", StatedIntent: "grüße", OutputTail: "ok\n",
			Workspace: "/src", Cwd: fmt.Sprint("/src/", i%3), Session: "s", Shell: "bash", User: "ada", Host: "laptop", Author: "ada",
			GitHead: "8d1c8b6", Embedder: "test/1", Category: 1 + recountv1.Category(i%7), Confidence: 0.5, Complexity: 2,
			DurationNano: int64(i) - 1, ContextHash: 7, ContentHash: uint64(i), Programs: []string{"make"}, Concepts: []string{"build", "file"},
			TimeUnixNano: 1_790_000_000_000_000_000 + int64(i^1)*1_000_000_000, // pairs out of order
			Resources:    []*recountv1.Resource{{Kind: 1, Access: 2, Name: fmt.Sprintf("/src/out-%d.log", i)}},
			Tokens:       []*recountv1.Token{{Kind: 1, Text: "make"}, {Kind: 3, Text: "-j", Offset: 5}},
		}
		if i%3 > 0 {
			in.ExitCode = &code
		}
		if i%4 != 3 {
			in.Embedding = embedding(i % 3)
		}
		if i > 0 {
			in.ParentId = bytes.Clone(last[:])
		}
		last = id
		sh.Records = append(sh.Records, &recountv1.Record{
			Origin:  schemas.Position{Topic: sh.TP.Topic, Partition: 1, Offset: int64(i)}.Proto(),
			EventId: bytes.Clone(id[:]), TimeUnixNano: in.TimeUnixNano + 5, Body: &recountv1.Record_Intent{Intent: in},
		})
	}
	return sh
}

// sealedFile returns the bytes of a segment that holds exactly the shard.
func sealedFile(t testing.TB, sh projtest.Shard) []byte {
	return firstFile(t, sh, len(sh.Records), segmentName(0))
}

// checkpointFile returns the bytes of a checkpoint that holds exactly the shard.
func checkpointFile(t testing.TB, sh projtest.Shard) []byte {
	return firstFile(t, sh, len(sh.Records)+1, tailName)
}

func firstFile(t testing.TB, sh projtest.Shard, sealRows int, name string) []byte {
	t.Helper()
	p := open(t, t.TempDir(), Options{SealRows: sealRows})
	feed(t, p, sh)
	closeOf(t, p)
	b, err := os.ReadFile(filepath.Join(p.dir, sealed.ShardDir(sh.TP), name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// fileOf opens a file that is in memory.
func fileOf(b []byte, tp schemas.TopicPartition) (*file, error) {
	data := sealed.Bytes(len(b))
	copy(data, b)
	f := &file{path: "test.tbf", data: data, release: func() error { return nil }}
	if err := f.parse(); err != nil {
		return nil, err
	}
	return f, f.belongs(tp)
}

// firstDamage checks every byte of a file.
func firstDamage(f *file) error {
	if d := f.damage(); len(d) > 0 {
		return d[0]
	}
	return nil
}

// TestEveryByteFlipped flips each byte of a file, one at a time. Each change is detected and
// attributed to the region that contains the byte.
func TestEveryByteFlipped(t *testing.T) {
	sh := family(12)
	good := sealedFile(t, sh)
	whole, err := fileOf(good, sh.TP)
	if err != nil {
		t.Fatal(err)
	}
	if err := firstDamage(whole); err != nil {
		t.Fatal(err)
	}
	if whole.h.Edges != 11 || whole.h.Vectors != 3 {
		t.Fatalf("%d edges, %d vectors, want 11 and 3: the case has grown empty", whole.h.Edges, whole.h.Vectors)
	}
	regionOf := func(at int) string {
		at64 := uint64(at)
		directoryEnd := whole.h.Directory + uint64(whole.h.Entries)*schemas.TBFEntrySize
		switch {
		case at < schemas.TBFHeaderSize:
			return "header"
		case at >= len(good)-schemas.TBFTrailerSize:
			return "trailer"
		case at64 >= whole.h.Directory && at64 < directoryEnd:
			return "directory"
		}
		for _, e := range whole.entries {
			if at64 >= e.Offset && at64 < e.Offset+e.Length {
				return e.Name()
			}
		}
		return "padding"
	}
	seen := map[string]int{}
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= 1 << (at % 8)
		want := regionOf(at)
		seen[want]++
		f, err := fileOf(bad, sh.TP)
		if err == nil {
			err = firstDamage(f)
		}
		var damage *CorruptError
		if !errors.As(err, &damage) || !errors.Is(err, schemas.ErrFatal) {
			t.Fatalf("byte %d (%s) flipped: got %v, want a CorruptError", at, want, err)
		}
		if damage.Region != want || damage.File != "test.tbf" {
			t.Fatalf("byte %d flipped: laid to %s of %s, want %s", at, damage.Region, damage.File, want)
		}
		if uint64(at) < damage.Offset || uint64(at) >= damage.Offset+damage.Length {
			t.Fatalf("byte %d (%s) flipped: said to be in the %d bytes at %d", at, want, damage.Length, damage.Offset)
		}
	}
	for _, e := range whole.entries {
		if e.Length > 0 && seen[e.Name()] == 0 {
			t.Errorf("region %s: never flipped", e.Name())
		}
		if e.Length == 0 {
			t.Errorf("region %s: empty, so not tested", e.Name())
		}
	}
}

// TestEveryTruncation truncates the file to each length, and makes it longer.
func TestEveryTruncation(t *testing.T) {
	sh := family(12)
	good := sealedFile(t, sh)
	for n := range len(good) {
		var damage *CorruptError
		if _, err := fileOf(good[:n], sh.TP); !errors.As(err, &damage) {
			t.Fatalf("cut to %d of %d bytes: got %v, want a CorruptError", n, len(good), err)
		}
	}
	if _, err := fileOf(append(bytes.Clone(good), 0), sh.TP); err == nil {
		t.Error("one byte too many: not noticed")
	}
	// Right checksums do not make another length right.
	le := binary.LittleEndian
	bad := bytes.Clone(good)
	le.PutUint64(bad[96:], uint64(len(bad))+8)
	le.PutUint32(bad[124:], schemas.CRC32C(bad[:124]))
	if _, err := fileOf(bad, sh.TP); err == nil {
		t.Error("the header says another length: not noticed")
	}
}

// TestRegionsThatOverlap moves each region onto the one before it, with right checksums.
func TestRegionsThatOverlap(t *testing.T) {
	sh := family(3)
	good := sealedFile(t, sh)
	whole, err := fileOf(good, sh.TP)
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	tried := 0
	for i, e := range whole.entries[1:] {
		before := whole.entries[i]
		if before.Length == 0 {
			continue
		}
		tried++
		bad := bytes.Clone(good)
		le.PutUint64(bad[whole.h.Directory+uint64(i+1)*schemas.TBFEntrySize+8:], before.Offset)
		reseal(bad)
		var damage *CorruptError
		if _, err := fileOf(bad, sh.TP); !errors.As(err, &damage) || damage.Region != e.Name() {
			t.Errorf("%s over %s: got %v", e.Name(), before.Name(), err)
		}
	}
	if tried == 0 {
		t.Error("no region has a length")
	}
}

// TestDamageIsReported damages every region of a segment on disk, one at a time, and then acts as a
// user would: Open, every kind of reading, Verify. No wrong answer is returned, and the error names
// file and region.
func TestDamageIsReported(t *testing.T) {
	sh := family(40)
	opts := Options{SealRows: 20}
	p := open(t, t.TempDir(), opts)
	feed(t, p, sh)
	closeOf(t, p)
	path := filepath.Join(p.dir, sealed.ShardDir(sh.TP), segmentName(1))
	good, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := fileOf(good, sh.TP)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range append(f.entries,
		schemas.TBFEntry{Offset: 8, Length: 1}, schemas.TBFEntry{Offset: f.h.Directory, Length: 3}, schemas.TBFEntry{Offset: f.h.Length - 60, Length: 1}) {
		bad := bytes.Clone(good)
		bad[e.Offset+e.Length/2] ^= 0x40
		if err := os.WriteFile(path, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		p, err := Open(p.dir, opts)
		if err == nil {
			damage, verr := p.Verify(t.Context())
			if verr != nil || len(damage) != 1 || damage[0].Region != e.Name() || damage[0].File != path {
				t.Fatalf("%s damaged: verify says %v, %v", e.Name(), damage, verr)
			}
			err = readAll(t, p)
			if err == nil && e.Column == schemas.TBFBloom {
				err = p.Apply(t.Context(), again(sh))
			}
			closeOf(t, p)
		}
		if !errors.Is(err, schemas.ErrFatal) || !strings.Contains(err.Error(), path) {
			t.Fatalf("%s damaged: got %v, want an error of class fatal that names %s", e.Name(), err, path)
		}
	}
	if err := os.WriteFile(path, good, 0o644); err != nil {
		t.Fatal(err)
	}
	p = open(t, p.dir, opts)
	if err := readAll(t, p); err != nil {
		t.Fatalf("undamaged again: %v", err)
	}
	closeOf(t, p)

	if err := os.Remove(filepath.Join(p.dir, sealed.ShardDir(sh.TP), segmentName(0))); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(p.dir, opts); err == nil || !strings.Contains(err.Error(), "00000000.tbf") || !strings.Contains(err.Error(), "missing") {
		t.Errorf("first segment removed: got %v, want an error that says it is missing", err)
	}
}

// again returns the shard's last event, delivered once more after the others.
func again(sh projtest.Shard) schemas.Batch {
	r := sh.Records[len(sh.Records)-1]
	return schemas.Batch{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Next: sh.Next + 1, Records: []*recountv1.Record{{
		Origin: schemas.Position{Topic: sh.TP.Topic, Partition: sh.TP.Partition, Offset: sh.Next}.Proto(), EventId: r.EventId, Body: r.Body,
	}}}
}

// readAll reads all rows.
func readAll(t *testing.T, p *Projection) error {
	var failed error
	err := p.Scan(t.Context(), Filter{}, NewestFirst, func(v *View) bool {
		v.Row()
		_, failed = v.Embedding()
		return failed == nil
	})
	_, xerr := p.WriteIPC(t.Context(), io.Discard, Export{})
	return errors.Join(err, failed, xerr)
}

// TestFileOfAnotherShard checks that a segment that was copied to a wrong folder is refused there.
func TestFileOfAnotherShard(t *testing.T) {
	sh := family(5)
	b := sealedFile(t, sh)
	dir := filepath.Join(t.TempDir(), "recount.commands-2")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, segmentName(0)), b, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Open(filepath.Dir(dir), Options{})
	if err == nil || !strings.Contains(err.Error(), "recount.commands/1") {
		t.Errorf("got %v, want an error that names the shard the file is of", err)
	}
}

// TestNewerVersion checks that a file of a later major version is refused because of its version,
// not because of its content.
func TestNewerVersion(t *testing.T) {
	sh := family(5)
	b := sealedFile(t, sh)
	binary.LittleEndian.PutUint16(b[8:], 2)
	binary.LittleEndian.PutUint32(b[124:], schemas.CRC32C(b[:124]))
	if _, err := fileOf(b, sh.TP); err == nil || !strings.Contains(err.Error(), "version 2.0") {
		t.Errorf("got %v, want an error about version 2.0", err)
	}
}

// reseal corrects the checksums of a file, so that any other fault in it must be detected by
// itself.
func reseal(b []byte) {
	le := binary.LittleEndian
	if len(b) < schemas.TBFHeaderSize+schemas.TBFTrailerSize {
		return
	}
	copy(b, schemas.TBFMagic[:])
	le.PutUint16(b[8:], schemas.TBFMajor)
	le.PutUint64(b[96:], uint64(len(b)))
	trailer := b[len(b)-schemas.TBFTrailerSize:]
	le.PutUint64(trailer[32:], uint64(len(b)))
	copy(trailer[60:], schemas.TBFEndMagic[:])
	at, n := le.Uint64(b[80:]), uint64(le.Uint32(b[88:]))*schemas.TBFEntrySize
	if end := uint64(len(b) - schemas.TBFTrailerSize); at <= end && n <= end-at {
		dir := b[at : at+n]
		for ; len(dir) > 0; dir = dir[schemas.TBFEntrySize:] {
			e := schemas.ParseTBFEntry(dir)
			if e.Offset <= uint64(len(b)) && e.Length <= uint64(len(b))-e.Offset {
				le.PutUint32(dir[24:], schemas.CRC32C(b[e.Offset:e.Offset+e.Length]))
			}
		}
		le.PutUint32(trailer[40:], schemas.CRC32C(b[at:at+n]))
	}
	le.PutUint32(trailer[56:], schemas.CRC32C(trailer[:56]))
	le.PutUint32(b[124:], schemas.CRC32C(b[:124]))
}

// FuzzFile reads files in which every checksum is right and anything else may be wrong. An accepted
// file can be used in every way.
func FuzzFile(f *testing.F) {
	tp := family(1).TP
	for _, rows := range []int{1, 9} {
		f.Add(sealedFile(f, family(rows)), uint32(0), uint32(0))
		f.Add(checkpointFile(f, family(rows)), uint32(0), uint32(0))
	}
	f.Fuzz(func(t *testing.T, b []byte, at, value uint32) {
		if len(b) > 64<<10 {
			return // larger input is slower and finds nothing new
		}
		b = bytes.Clone(b)
		if n := uint32(len(b)); n >= 4 && value != 0 {
			binary.LittleEndian.PutUint32(b[at%(n-3):], value)
		}
		reseal(b)
		file, err := fileOf(b, tp)
		if err != nil {
			return
		}
		_, _ = file.find(schemas.EventID{1, 2, 3})
		if _, _, err := file.rows(); err != nil {
			return
		}
		useEverything(t, file, tp)
	})
}

// TestEveryValueWrong does systematically what the fuzzer does at random: under right checksums it
// sets every four bytes of a file to values that exceed most bounds, each place to one of them, in
// a soak to each of them.
func TestEveryValueWrong(t *testing.T) {
	sh := family(3)
	t.Run("sealed", func(t *testing.T) { everyValueWrong(t, sh, sealedFile(t, sh)) })
	t.Run("checkpoint", func(t *testing.T) { everyValueWrong(t, sh, checkpointFile(t, sh)) })
}

func everyValueWrong(t *testing.T, sh projtest.Shard, good []byte) {
	whole, err := fileOf(good, sh.TP)
	if err != nil {
		t.Fatal(err)
	}
	var vectors schemas.TBFEntry // any value is valid there
	for _, e := range whole.entries {
		if isVectors(e) && whole.h.DType == schemas.TBFFloat32 {
			vectors = e
		}
	}
	values := []uint32{1, 0x7fffffff, 0xffffffff}
	passes := 1
	if projtest.Soak() {
		values = append(values, 0x80000000, 0xc0c0c0c0, 3, 0xffff)
		passes = len(values)
	}
	accepted := 0
	for pass := range passes {
		for at := 0; at+4 <= len(good); at += 4 {
			value := values[(at/4+pass)%len(values)]
			if uint64(at) == vectors.Offset {
				at += int(vectors.Length)
			}
			bad := bytes.Clone(good)
			binary.LittleEndian.PutUint32(bad[at:], value)
			reseal(bad)
			f, err := fileOf(bad, sh.TP)
			if err != nil {
				continue
			}
			if _, _, err := f.rows(); err == nil {
				accepted++
				useEverything(t, f, sh.TP)
			}
		}
	}
	if accepted == 0 {
		t.Error("no file was accepted, not even with another hash in a row: nothing was used")
	}
}

// useEverything reads all of a file in every possible way.
func useEverything(t *testing.T, f *file, tp schemas.TopicPartition) {
	c, x := &f.cols, &f.idx
	v := View{c: c, tp: tp}
	for v.row = range c.n {
		v.Row()
		c.embeddingOf(v.row, new(dense))
		appendRow(nil, c, v.row)
		(&Filter{Cwd: "/src", Program: "make", Exit: failed}).Match(&v)
		for _, g := range []*edges{&x.csr, &x.csc} {
			for k := g.off[v.row]; k < g.off[v.row+1]; k++ {
				_ = c.id[g.row[k]]
			}
		}
		if sealed.FindID(c.id, x.idOrder, c.id[v.row]) != v.row {
			t.Fatalf("row %d is not found by its id", v.row)
		}
		_ = c.time[x.timeOrder[v.row]]
	}
	if c.vectors.flat == nil {
		h := restore(f)
		h.vectors.append(sealed.Pack(nil, make([]float32, schemas.EmbeddingDim)))
	}
	e := exporter{x: Export{Filter: Filter{Exit: failed}}}
	if err := e.add(t.Context(), View{c: c, tp: tp}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.write(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
	e = exporter{x: Export{}, all: true}
	if err := e.add(t.Context(), View{c: c, tp: tp}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.write(t.Context(), io.Discard); err != nil {
		t.Fatal(err)
	}
}
