package vector

import (
	"context"
	"crypto/sha256"
	"log/slog"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed/sealedtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// quiet is for tests whose checkpoints are unusable on purpose.
var quiet = slog.New(slog.DiscardHandler)

func open(t testing.TB, dir string, opts Options) *Projection {
	t.Helper()
	if opts.Logger == nil {
		opts.Logger = quiet
	}
	if _, bench := t.(*testing.B); !bench && opts.disk == nil {
		opts.disk = sealedtest.NoSync{}
	}
	p, err := Open(dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// fresh opens an empty projection that is closed when the test ends.
func fresh(t testing.TB, opts Options) *Projection {
	t.Helper()
	p := open(t, t.TempDir(), opts)
	t.Cleanup(func() { closeOf(t, p) })
	return p
}

func closeOf(t testing.TB, p projections.Projection) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

var firstTP = schemas.TopicPartition{Topic: "recount.commands"}

// log makes records one after the other.
type log struct {
	projtest.Shard
	made int
}

func newLog(partition int32) *log {
	l := &log{}
	l.TP = schemas.TopicPartition{Topic: "recount.commands", Partition: partition}
	return l
}

// add appends an intent with an embedding and returns its offset.
func (l *log) add(content uint64, vec []float32) int64 { return l.addOf("test/1", content, vec) }

func (l *log) addOf(embedder string, content uint64, vec []float32) int64 {
	l.made++
	id := schemas.NewCanon("vector/test").Int(int64(l.TP.Partition)).Int(int64(l.made)).ID()
	return l.addID(id, embedder, content, vec)
}

func (l *log) addID(id schemas.EventID, embedder string, content uint64, vec []float32) int64 {
	at := l.Next
	l.Next++
	l.Records = append(l.Records, &recountv1.Record{
		Origin:  schemas.Position{Topic: l.TP.Topic, Partition: l.TP.Partition, Offset: at}.Proto(),
		EventId: id[:], EventType: schemas.TypeCommandExecuted,
		Body: &recountv1.Record_Intent{Intent: &recountv1.Intent{ContentHash: content, Embedder: embedder, Embedding: vec}},
	})
	return at
}

// apply applies what p lacks of the log.
func (l *log) apply(t testing.TB, p *Projection) {
	t.Helper()
	l.applyTo(t, p, l.Next)
}

func (l *log) applyTo(t testing.TB, p *Projection, to int64) {
	t.Helper()
	for at := p.Next(l.TP); at < to; at += 512 {
		if err := p.Apply(t.Context(), l.Batch(at, min(at+512, to))); err != nil {
			t.Fatal(err)
		}
	}
}

// unit returns a random unit vector.
func unit(rng *rand.Rand) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return normal(v)
}

func normal(v []float32) []float32 {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	for i := range v {
		v[i] = float32(float64(v[i]) / math.Sqrt(sum))
	}
	return v
}

// at returns a unit vector at an angle from the first axis, in the plane of the first two axes: its
// cosine to at(0) is that of the angle.
func at(radians float64) []float32 {
	v := make([]float32, dim)
	v[0], v[1] = float32(math.Cos(radians)), float32(math.Sin(radians))
	return v
}

// changeEmbedding changes a record so that the state must differ.
func changeEmbedding(r *recountv1.Record) bool {
	in := r.GetIntent()
	if len(in.GetEmbedding()) == 0 {
		return false
	}
	in.ContentHash++
	return true
}

func kindOf(opts Options) projections.Definition {
	opts.Logger = quiet
	if opts.disk == nil {
		opts.disk = sealedtest.NoSync{}
	}
	return Kind(opts)
}

// ObjectStats describes each partition of agents' events, in order.
func (p *Projection) ObjectStats() []ShardStats { return p.stats(objects) }

// verify checks every byte, including the padding.
func (f *file) verify() *CorruptError {
	check := &file{path: f.path, data: f.data}
	if err := check.parse(); err != nil {
		return err
	}
	body := f.data[:len(f.data)-trailerSize]
	want := f.data[len(body) : len(body)+sha256.Size]
	if got := sha256.Sum256(body); string(got[:]) != string(want) {
		return corrupt(f.path, "padding", 0, uint64(len(body)), "every region holds, yet the file's hash is %x, want %x", got, want)
	}
	return nil
}

// Verify checks every byte of the sealed files and returns all damage found. Links are checked
// before they are used.
func (p *Projection) Verify(ctx context.Context) ([]*CorruptError, error) {
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var damage []*CorruptError
	for _, f := range p.files() {
		if err := ctx.Err(); err != nil {
			return damage, err
		}
		if err := f.verify(); err != nil {
			damage = append(damage, err)
		}
	}
	return damage, nil
}

// files returns the mapped files of one state.
func (p *Projection) files() (mapped []*file) {
	p.read(nil, func(s *shard) {
		for _, st := range s.view.steps {
			mapped = append(mapped, st.file)
		}
		p.links.mu.Lock()
		defer p.links.mu.Unlock()
		for _, sp := range s.spaces {
			mapped = append(mapped, sp.link.codes...)
		}
	})
	return mapped
}
