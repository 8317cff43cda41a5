package vector

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

// shelf returns a projection's folder with every kind of file in it: two steps, codes, the links of
// two spaces, a checkpoint. It also returns the log.
func shelf(t testing.TB) (dir string, opts Options, l *log) {
	opts = Options{SealRows: 600, M: 4, EfConstruction: 20, linkRows: rows.PerChunk}
	rng := rand.New(rand.NewPCG(9, 9))
	l = newLog(0)
	for i := range rows.PerChunk + 100 {
		l.add(uint64(i), unit(rng))
		if i%9 == 0 {
			l.addOf("test/2", uint64(i), l.Records[0].GetIntent().Embedding)
		}
	}
	p := open(t, t.TempDir(), opts)
	l.apply(t, p)
	closeOf(t, p)
	return p.dir, opts, l
}

// filesOf returns the files of the only shard by their names.
func filesOf(t testing.TB, dir string) map[string][]byte {
	t.Helper()
	all := map[string][]byte{}
	names, err := filepath.Glob(filepath.Join(dir, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[filepath.Base(name)] = b
	}
	return all
}

// answers returns a projection's answers to a few queries.
func answers(t testing.TB, p *Projection, l *log) string {
	t.Helper()
	s, err := answersOrError(t, p, l)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func answersOrError(t testing.TB, p *Projection, l *log) (string, error) {
	var s strings.Builder
	for _, r := range l.Records[:5] {
		hits, _, err := p.Search(t.Context(), Query{Vector: r.GetIntent().Embedding, Embedder: "test/1", K: 5})
		if err != nil {
			return "", err
		}
		for _, h := range hits {
			s.WriteString(h.Position().String())
			binary.Write(&s, binary.LittleEndian, h.Score)
		}
	}
	return s.String(), nil
}

// TestShelf checks the files of the shelf, and that it gives the same answers as a fresh projection.
func TestShelf(t *testing.T) {
	dir, opts, l := shelf(t)
	files := filesOf(t, dir)
	for _, name := range []string{"00000000.step.vec", "00000001.step.vec", "links-00000000.vec", "links-00000001.vec", "codes-00000000-00000000.vec", tailName} {
		if files[name] == nil {
			t.Errorf("no %s", name)
		}
	}
	if len(files) != 6 {
		t.Errorf("%d files, want 6", len(files))
	}
	p := open(t, dir, opts)
	defer closeOf(t, p)
	if p.Next(l.TP) != l.Next {
		t.Errorf("next is %d, want %d", p.Next(l.TP), l.Next)
	}
	whole := fresh(t, opts)
	l.apply(t, whole)
	if got, want := answers(t, p, l), answers(t, whole, l); got != want {
		t.Errorf("reopened, it answers\n%s, not\n%s", got, want)
	}
}

// TestFlippedBits flips bits all over every file. In a step each is detected when it is opened or, in
// vectors and padding, when every byte is verified; a damaged vector also when it is read. The error
// names the file and the fix. A damaged checkpoint is not used, and damaged links and codes are built
// again. The answers are never wrong.
func TestFlippedBits(t *testing.T) {
	dir, opts, l := shelf(t)
	p := open(t, dir, opts)
	want := answers(t, p, l)
	closeOf(t, p)
	rng := rand.New(rand.NewPCG(4, 4))
	const flips = 200 // of each file: 1,200 in all
	for name, good := range filesOf(t, dir) {
		path := filepath.Join(dir, sealed.ShardDir(l.TP), name)
		f, err := openFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f.close()
		padding := 0
		for i := range flips {
			at := rng.IntN(len(good))
			if i < headerSize {
				at = i // all of header, directory and trailer
			} else if i < headerSize+trailerSize {
				at = len(good) - 1 - (i - headerSize)
			}
			bad := bytes.Clone(good)
			bad[at] ^= 1 << rng.IntN(8)
			if err := os.WriteFile(path, bad, 0o644); err != nil {
				t.Fatal(err)
			}
			// All of Open for a few flips; for the others what Open does with each file.
			f, err := openFile(path)
			if err == nil {
				if err := f.verify(); err == nil || err.Region != "padding" {
					t.Fatalf("%s: byte %d flipped: not noticed: %v", name, at, err)
				}
				f.close()
			}
			if err != nil && i%40 > 0 && i < headerSize+trailerSize {
				isDamage(t, err, path, at)
				continue
			}
			p, err := Open(dir, withQuiet(opts))
			if strings.HasPrefix(name, linksPrefix) || strings.HasPrefix(name, codesPrefix) {
				if err != nil {
					t.Fatalf("%s: byte %d flipped: %v", name, at, err)
				}
				if got := answers(t, p, l); got != want {
					t.Fatalf("%s: byte %d flipped: wrong answers", name, at)
				}
				p.release()
				continue
			}
			if name == tailName {
				if err != nil {
					t.Fatalf("%s: byte %d flipped: %v", name, at, err)
				}
				if next := p.Next(l.TP); next == l.Next && !paddingDiffers(t, path) {
					t.Fatalf("%s: byte %d flipped: used all the same", name, at)
				}
				p.release()
				continue
			}
			if err == nil {
				damage, verr := p.Verify(t.Context())
				if verr != nil || len(damage) != 1 || damage[0].File != path {
					t.Fatalf("%s: byte %d flipped: not noticed: %v %v", name, at, damage, verr)
				}
				got, err := answersOrError(t, p, l)
				switch region := damage[0].Region; {
				case region == "padding" && got == want:
					padding++
				case strings.HasPrefix(region, tagVectors.String()) && err != nil:
					isDamage(t, err, path, at)
				case strings.HasPrefix(region, tagVectors.String()) && got == want: // none of them reads it
				default:
					t.Fatalf("%s: byte %d flipped, in %s: wrong answers, or %v", name, at, region, err)
				}
				p.release()
				continue
			}
			isDamage(t, err, path, at)
		}
		if padding > flips/10 {
			t.Errorf("%s: %d of %d flips were in padding", name, padding, flips)
		}
		if err := os.WriteFile(path, good, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	p = open(t, dir, opts)
	if got := answers(t, p, l); got != want {
		t.Error("undamaged again: wrong answers")
	}
	closeOf(t, p)
}

func isDamage(t *testing.T, err error, path string, at int) {
	t.Helper()
	var damage *CorruptError
	if !errors.As(err, &damage) || !errors.Is(err, schemas.ErrFatal) || damage.File != path || !strings.Contains(err.Error(), "recount rebuild --projection vector") {
		t.Fatalf("%s: byte %d flipped: got %v, want a CorruptError that names it", path, at, err)
	}
}

func withQuiet(o Options) Options {
	o.Logger = quiet
	return o
}

// TestMissingAndMisplaced checks that a file that is missing, truncated, of another shard or in
// another's place gives an error that names it.
func TestMissingAndMisplaced(t *testing.T) {
	dir, opts, l := shelf(t)
	shard := filepath.Join(dir, sealed.ShardDir(l.TP))
	files := filesOf(t, dir)
	for name, tc := range map[string]struct {
		change func() error
		names  string
	}{
		"first step gone": {func() error { return os.Remove(filepath.Join(shard, "00000000.step.vec")) }, "00000000.step.vec"},
		"step cut":        {func() error { return os.Truncate(filepath.Join(shard, "00000001.step.vec"), 1000) }, "00000001.step.vec"},
		"step empty":      {func() error { return os.Truncate(filepath.Join(shard, "00000001.step.vec"), 0) }, "00000001.step.vec"},
		"one step in another's place": {func() error {
			return os.WriteFile(filepath.Join(shard, "00000001.step.vec"), files["00000000.step.vec"], 0o644)
		}, "00000001.step.vec"},
		"links in the place of a step": {func() error {
			return os.WriteFile(filepath.Join(shard, "00000001.step.vec"), files["links-00000001.vec"], 0o644)
		}, "00000001.step.vec"},
	} {
		if err := os.Remove(filepath.Join(shard, tailName)); err != nil {
			t.Fatal(err)
		}
		if err := tc.change(); err != nil {
			t.Fatal(err)
		}
		_, err := Open(dir, withQuiet(opts))
		var damage *CorruptError
		if !errors.As(err, &damage) || filepath.Base(damage.File) != tc.names {
			t.Errorf("%s: got %v, want a CorruptError of %s", name, err, tc.names)
		}
		for name, b := range files {
			if err := os.WriteFile(filepath.Join(shard, name), b, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := os.Rename(shard, filepath.Join(dir, "recount.commands-3")); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(dir, withQuiet(opts)); err == nil || !strings.Contains(err.Error(), "recount.commands/3") {
		t.Errorf("a folder of another partition: got %v", err)
	}
}

// reseal corrects the checksums of a file, so that any other fault in it must be detected by
// itself.
func reseal(b []byte) {
	le := binary.LittleEndian
	if len(b) < headerSize+trailerSize {
		return
	}
	copy(b, magic)
	le.PutUint32(b[8:], Version)
	le.PutUint64(b[56:], uint64(len(b)))
	trailer := b[len(b)-trailerSize:]
	copy(trailer[52:], magic)
	at, n := le.Uint64(b[48:]), uint64(le.Uint32(trailer[32:]))*entrySize
	if end := uint64(len(b) - trailerSize); at <= end && n <= end-at {
		dir := b[at : at+n]
		for ; len(dir) > 0; dir = dir[entrySize:] {
			off, size := le.Uint64(dir[8:]), le.Uint64(dir[16:])
			if off <= uint64(len(b)) && size <= uint64(len(b))-off {
				le.PutUint32(dir[24:], schemas.CRC32C(b[off:off+size]))
			}
		}
		le.PutUint32(trailer[36:], schemas.CRC32C(b[at:at+n]))
	}
	le.PutUint32(trailer[60:], schemas.CRC32C(trailer[:60]))
	le.PutUint32(b[124:], schemas.CRC32C(b[:124]))
}

// smallTail returns the bytes of a checkpoint of a few rows.
func smallTail(t testing.TB) ([]byte, Options) {
	opts := Options{SealRows: 8, M: 4, EfConstruction: 20}
	l := newLog(0)
	for i := range 5 {
		l.add(uint64(i%3), at(float64(i%3)))
	}
	l.addOf("test/2", 1, at(0))
	p := open(t, t.TempDir(), opts)
	l.apply(t, p)
	closeOf(t, p)
	return tailOf(t, p.dir), opts
}

// tailOf returns the content of the only checkpoint below dir.
func tailOf(t testing.TB, dir string) []byte {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*", tailName))
	if err != nil || len(names) != 1 {
		t.Fatal(names, err)
	}
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// FuzzFile reads checkpoints, which contain all that files can, with every checksum right and
// anything else possibly wrong. An accepted one can be used in every way.
func FuzzFile(f *testing.F) {
	good, opts := smallTail(f)
	f.Add(good, uint32(0), uint32(0))
	f.Fuzz(func(t *testing.T, b []byte, at, value uint32) {
		if len(b) > 4*len(good) {
			return // larger input is slower and finds nothing new
		}
		b = bytes.Clone(b)
		if n := uint32(len(b)); n >= 4 && value != 0 {
			binary.LittleEndian.PutUint32(b[at%(n-3):], value)
		}
		use(t, b, opts)
	})
}

// use loads a checkpoint if it is valid and reports whether it was.
func use(t *testing.T, b []byte, opts Options) bool {
	t.Helper()
	reseal(b)
	if err := opts.setDefaults(); err != nil {
		t.Fatal(err)
	}
	f := &file{path: "fuzz", data: sealed.Bytes(len(b)), release: func() error { return nil }}
	copy(f.data, b)
	if f.parse() != nil {
		return false
	}
	p := &Projection{opts: opts, shards: map[schemas.TopicPartition]*shard{}}
	s := p.shard(firstTP)
	if s.belongs(f, kindTail, 0) != nil {
		return false
	}
	next, err := s.takeTail(f)
	if err != nil {
		return false
	}
	for _, sp := range s.spaces {
		if err := s.linkAll(sp); err != nil {
			t.Fatal(err)
		}
	}
	s.publish(next)
	for i := range 3 {
		for _, distinct := range []bool{true, false} {
			if _, _, err := p.Search(t.Context(), Query{Vector: at(float64(i)), Embedder: "test/1", K: 4, Distinct: distinct}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for off := range f.next {
		if off > 1000 {
			break
		}
		if _, err := p.Similar(t.Context(), schemas.Position{Topic: firstTP.Topic, Offset: off}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.SimilarTo(t.Context(), schemas.Position{Topic: firstTP.Topic, Offset: off}, 3, nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Dump(t.Context(), func(_, _ []byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	return true
}

// TestEveryValueWrong does systematically what the fuzzer does at random, once for each place that
// is not a vector: it sets four bytes to values that exceed most bounds, under right checksums.
func TestEveryValueWrong(t *testing.T) {
	good, opts := smallTail(t)
	if !use(t, bytes.Clone(good), opts) {
		t.Fatal("the checkpoint itself is not taken")
	}
	accepted := 0
	for turn, value := range []uint32{1, 0x7fffffff, 0xffffffff} {
		for at := 0; at+4 <= len(good); at += 4 {
			if racing.On && (at/4+turn)%3 != 0 {
				continue // each place once
			}
			if binary.LittleEndian.Uint32(good[at:]) == 0 && at%64 != 0 {
				continue // largely zeros of vectors and of padding
			}
			bad := bytes.Clone(good)
			binary.LittleEndian.PutUint32(bad[at:], value)
			if use(t, bad, opts) {
				accepted++
			}
		}
	}
	if accepted == 0 {
		t.Error("no file was accepted, not even with another key of a row: nothing was used")
	}
}

// TestDamagedVector checks that a damaged vector of a sealed step stops what reads it, a search and a
// batch whose commands are compared with it, and nothing else.
func TestDamagedVector(t *testing.T) {
	dir, opts, l := shelf(t)
	path := filepath.Join(dir, sealed.ShardDir(l.TP), stepName(0))
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at := f.regions[regionKey{tagVectors, ofShard}].offset
	f.close()
	bad := bytes.Clone(filesOf(t, dir)[stepName(0)])
	bad[at] ^= 1 // of the first command's
	if err := os.WriteFile(path, bad, 0o600); err != nil {
		t.Fatal(err)
	}
	p := open(t, dir, opts)
	defer p.release()
	first := l.Records[0].GetIntent()
	if hits, err := p.Similar(t.Context(), schemas.PositionOf(l.Records[0].Origin)); err != nil {
		t.Errorf("%v, %v", hits, err)
	}
	l.add(first.ContentHash+1, first.Embedding)
	err = p.Apply(t.Context(), l.Batch(l.Next-1, l.Next))
	isDamage(t, err, path, int(at))
	if p.Next(l.TP) == l.Next {
		t.Error("the batch is applied all the same")
	}
	_, _, err = p.Search(t.Context(), Query{Vector: first.Embedding, Embedder: "test/1", K: 5})
	isDamage(t, err, path, int(at))
}
