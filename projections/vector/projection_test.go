package vector

import (
	"bytes"
	"errors"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/projections/sealed/sealedtest"
	"github.com/recountdb/recount/projections/vector/rows"
	"github.com/recountdb/recount/schemas"
)

// TestProjection runs the suite with steps so small that a log of a few hundred records seals
// several, with checkpoints in between.
func TestProjection(t *testing.T) {
	projtest.Run(t, projtest.Config{
		Kind:   kindOf(Options{SealRows: 48, M: 4, EfConstruction: 20}),
		Change: changeEmbedding,
		Read:   func(t *testing.T, p projections.Projection) { readEverything(t, p.(*Projection)) },
	})
}

// TestCoder checks that with an index whose graph differs from run to run the state is still a
// function of the log, and that searches find the rows.
func TestCoder(t *testing.T) {
	opts := Options{Backend: BackendCoder, M: 4, EfConstruction: 10, SealRows: 1000}
	rng := rand.New(rand.NewPCG(6, 6))
	l := newLog(0)
	for i := range 2300 { // more than are scanned
		l.add(uint64(i), unit(rng))
	}
	once := fresh(t, opts)
	l.apply(t, once)
	again := open(t, t.TempDir(), opts)
	for at := int64(0); at < l.Next; at += 700 {
		if err := again.Apply(t.Context(), l.Batch(at, min(at+700, l.Next))); err != nil {
			t.Fatal(err)
		}
		if at == 1400 {
			closeOf(t, again)
			again = open(t, again.dir, opts)
		}
	}
	t.Cleanup(func() { closeOf(t, again) })
	sealedtest.Same(t, "two builds", once, again)
	for at := range int64(40) {
		hits, stats, err := once.Search(t.Context(), Query{Vector: l.Records[at].GetIntent().Embedding, Embedder: "test/1", K: 5, Distinct: true})
		if err != nil || len(hits) != 5 || stats[0].Scanned {
			t.Fatalf("%d hits, %+v, %v", len(hits), stats, err)
		}
	}
}

// readEverything uses every way of reading and checks that they agree with each other while batches
// are applied.
func readEverything(t *testing.T, p *Projection) {
	before := p.Watermark()
	hits, stats, err := p.Search(t.Context(), Query{Vector: at(1), Embedder: "hash/1", K: 5, Below: before})
	if err != nil {
		t.Error(err)
		return
	}
	for i, h := range hits {
		if h.Offset >= before[h.TP] {
			t.Errorf("hit at %s is not below %s", h.Position(), before)
		}
		if i > 0 && hits[i-1].compare(h) >= 0 {
			t.Errorf("hits out of order: %v, %v", hits[i-1], h)
		}
		if h.Runs < 1 {
			t.Errorf("hit of %d runs", h.Runs)
		}
		earlier, err := p.Similar(t.Context(), h.Position())
		if err != nil {
			t.Error(err)
		}
		for _, e := range earlier {
			if e.TP != h.TP || e.Offset >= h.Offset || e.ContentHash == h.ContentHash {
				t.Errorf("similar to %s: %v", h.Position(), e)
			}
			later, err := p.SimilarTo(t.Context(), e.Position(), 1000, nil)
			if err != nil {
				t.Error(err)
			}
			for _, l := range later {
				if l.Offset <= e.Offset || l.ContentHash == e.ContentHash {
					t.Errorf("similar to %s later: %v", e.Position(), l)
				}
			}
		}
	}
	for _, s := range stats {
		if s.Rows > s.Runs {
			t.Errorf("%s: %d rows of %d runs", s.TP, s.Rows, s.Runs)
		}
	}
	for _, s := range p.Stats() {
		if s.Rows > s.Runs {
			t.Errorf("%s: %d rows of %d runs", s.TP, s.Rows, s.Runs)
		}
	}
}

func TestEveryStepBroken(t *testing.T) {
	opts := Options{SealRows: 24, M: 4, EfConstruction: 20, Logger: quiet}
	sealedtest.EveryStepBroken(t, sealedtest.Steps{
		Log: projtest.Generate(11, 1, 90)[0], AtLeast: 40, Verify: verify,
		Open: func(dir string, d sealed.Disk) (projections.Projection, error) {
			o := opts
			o.disk = d
			return Open(dir, o)
		},
	})
}

func verify(t *testing.T, p projections.Projection) error {
	damage, err := p.(*Projection).Verify(t.Context())
	for _, d := range damage {
		err = errors.Join(err, d)
	}
	return err
}

// TestEveryStepBrokenAtCodes breaks every step when codes and links are stored with a step. Each run begins
// with the rows before that.
func TestEveryStepBrokenAtCodes(t *testing.T) {
	opts := Options{SealRows: 522, linkRows: rows.PerChunk, M: 4, EfConstruction: 20, Logger: quiet}
	rng := rand.New(rand.NewPCG(8, 8))
	l := newLog(0)
	for i := range rows.PerChunk + 2 {
		vec := unit(rng)
		l.add(uint64(i), vec)
		if i%50 == 0 {
			l.add(uint64(i), vec) // so that no step is sealed by the same run
		}
	}
	l.Next += 2
	before := fresh(t, opts)
	if err := before.Apply(t.Context(), l.Batch(0, l.Next-9)); err != nil {
		t.Fatal(err)
	}
	if err := before.Flush(); err != nil {
		t.Fatal(err)
	}
	if st := before.Stats(); st[0].Rows >= rows.PerChunk || st[0].Rows < rows.PerChunk-9 {
		t.Fatalf("%d rows before", st[0].Rows)
	}
	sealedtest.EveryStepBroken(t, sealedtest.Steps{
		Log: l.Shard, AtLeast: 12, Verify: verify,
		Open: func(dir string, d sealed.Disk) (projections.Projection, error) {
			if has, err := os.ReadDir(dir); err == nil && len(has) == 0 {
				if err := os.CopyFS(dir, os.DirFS(before.dir)); err != nil {
					return nil, err
				}
			}
			o := opts
			o.disk = d
			return Open(dir, o)
		},
	})
}

// TestLinksOfCommands checks that the links of commands, which are not part of the state, are the same
// after a proper end, after a crash, and after all their files are lost.
func TestLinksOfCommands(t *testing.T) {
	opts := Options{SealRows: 700, linkRows: rows.PerChunk, M: 4, EfConstruction: 20}
	rng := rand.New(rand.NewPCG(12, 12))
	l := newLog(0)
	for i := range 2*rows.PerChunk + 300 {
		l.add(uint64(i), unit(rng))
	}
	once := fresh(t, opts)
	l.apply(t, once)
	p := open(t, t.TempDir(), opts)
	for i, to := range []int64{500, 900, 1500, l.Next} {
		if err := p.Apply(t.Context(), l.Batch(p.Next(l.TP), to)); err != nil {
			t.Fatal(err)
		}
		if i%2 == 0 {
			closeOf(t, p)
		} else {
			p.release() // what a crash leaves
		}
		p = open(t, p.dir, opts)
		l.applyTo(t, p, to)
	}
	want := graphs(once)
	if got := graphs(p); len(want) != 1 || !maps.EqualFunc(got, want, bytes.Equal) {
		t.Error("the links are not those of the rows")
	}
	sealedtest.Same(t, "with crashes and without", once, p)
	closeOf(t, p)
	for name := range filesOf(t, p.dir) {
		if strings.HasPrefix(name, linksPrefix) || strings.HasPrefix(name, codesPrefix) {
			if err := os.Remove(filepath.Join(p.dir, sealed.ShardDir(l.TP), name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	p = open(t, p.dir, opts)
	defer closeOf(t, p)
	if got := graphs(p); !maps.EqualFunc(got, want, bytes.Equal) {
		t.Error("without the files of links: the links are not those of the rows")
	}
}

// TestOtherParameters checks that the options that change the state are stored with it.
func TestOtherParameters(t *testing.T) {
	dir := t.TempDir()
	p := open(t, dir, Options{})
	l := newLog(0)
	l.add(1, at(0))
	l.apply(t, p)
	closeOf(t, p)
	for name, o := range map[string]Options{"M": {M: 8}, "EfConstruction": {EfConstruction: 100}, "SealRows": {SealRows: 7}} {
		o.Logger = quiet
		if Kind(o).Params == Kind(Options{}).Params {
			t.Errorf("%s changed: the kind's parameters are the same", name)
		}
		q, err := Open(dir, o)
		if err != nil {
			t.Errorf("%s changed: a checkpoint made with another is no error, it is not used: %v", name, err)
			continue
		}
		if next := q.Next(l.TP); next != 0 {
			t.Errorf("%s changed: a checkpoint made with another was used, up to %d", name, next)
		}
		q.release()
	}
	if Kind(Options{Ef: 9}).Params != Kind(Options{}).Params {
		t.Error("Ef does not change the state, yet it changes the kind's parameters")
	}
}

func TestOptions(t *testing.T) {
	for name, o := range map[string]Options{
		"backend": {Backend: "faiss"}, "M": {M: 1}, "M too large": {M: 65}, "ef": {Ef: -1},
		"ef construction": {EfConstruction: 5000}, "seal rows": {SealRows: -1},
	} {
		if err := o.Validate(); err == nil {
			t.Errorf("%s: %+v is valid", name, o)
		}
	}
	if err := (Options{}).Validate(); err != nil {
		t.Error(err)
	}
}

// TestBadVectors checks that a vector that cannot be indexed is named, and that nothing of its
// batch is applied.
func TestBadVectors(t *testing.T) {
	for name, vec := range badVectors() {
		p := fresh(t, Options{})
		l := newLog(0)
		l.add(1, at(0))
		bad := l.add(2, vec)
		l.add(3, at(1))
		err := p.Apply(t.Context(), l.Batch(0, l.Next))
		var re *projections.RecordError
		if !errors.As(err, &re) || !errors.Is(err, schemas.ErrPoison) || re.Position.Offset != bad {
			t.Errorf("%s: got %v, want a RecordError of offset %d", name, err, bad)
		}
		if next := p.Next(l.TP); next != 0 {
			t.Errorf("%s: moved to %d", name, next)
		}
		if _, _, err := p.Search(t.Context(), Query{Vector: vec, Embedder: "test/1", K: 1}); err == nil {
			t.Errorf("%s: can be asked for", name)
		}
	}
}

// badVectors returns vectors that cannot be indexed or searched for.
func badVectors() map[string][]float32 {
	with := func(x float32) []float32 {
		v := at(0)
		v[7] = x
		return v
	}
	long := at(0)
	long[0] = 2
	return map[string][]float32{
		"NaN": with(float32(math.NaN())), "Inf": with(float32(math.Inf(1))), "-Inf": with(float32(math.Inf(-1))),
		"zero": make([]float32, dim), "short": at(0)[:dim-1], "too long": append(at(0), 0), "length 2": long,
	}
}
