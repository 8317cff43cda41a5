package segment

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// Name is the name of the projection.
const Name = "segment"

// Version is the version of the stored format. It changes when the same log would give different
// files.
const Version = 1

// ErrClosed is returned by calls after Close.
var ErrClosed = errors.New("segment: closed")

// Options configure a projection. Only tests need other values than zero: the same log gives the
// same files only with the same SealRows and SealBytes.
type Options struct {
	// SealRows is the maximum number of rows of a segment. 0 means 65,536.
	SealRows int
	// SealBytes seals a segment earlier, once its rows count that many bytes (schemas/tbf.md says
	// what a row counts). 0 means 256 MiB; the maximum is 1 GiB.
	SealBytes int64
	// CheckpointRows is the number of new rows of a shard after which its unsealed rows are saved,
	// so that the next Open need not read them from the log again. It changes only how fast Open
	// is, never the state. 0 means 16,384; negative means never (Flush and Close still save them).
	CheckpointRows int
	// Logger reports checkpoints that could not be used or written. Nil means slog.Default().
	Logger *slog.Logger

	disk   sealed.Disk  // for tests
	paused *atomic.Bool // set while checkpoints are off
}

func (o *Options) setDefaults() error {
	if o.SealRows == 0 {
		o.SealRows = 1 << 16
	}
	if o.SealBytes == 0 {
		o.SealBytes = 256 << 20
	}
	if o.CheckpointRows == 0 {
		o.CheckpointRows = 1 << 14
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.disk == nil {
		o.disk = sealed.OS{}
	}
	switch {
	case o.SealRows < 0 || o.SealRows > maxSealRows:
		return fmt.Errorf("segment: SealRows %d: want 1 to %d", o.SealRows, maxSealRows)
	case o.SealBytes < 0 || o.SealBytes > maxSealBytes:
		return fmt.Errorf("segment: SealBytes %d: want 1 to %d", o.SealBytes, maxSealBytes)
	}
	return nil
}

// Kind returns the projection as a node registers it.
func Kind(opts Options) projections.Definition {
	return projections.Definition{
		Name: Name, Version: Version, Topics: []string{schemas.TopicCommands},
		Open: func(dir string) (projections.Projection, error) { return Open(dir, opts) },
	}
}

// Projection keeps the intents of a log in TBF segments. All of its methods may be called at any
// time from any goroutine, Apply by one goroutine per partition.
type Projection struct {
	dir  string
	opts Options

	// mu guards the fields below and is held only briefly. Lock order: mu, then a shard's write,
	// then its mu. A caller that locks the mu of several shards does so in the order of partitions.
	mu     sync.RWMutex
	shards map[schemas.TopicPartition]*shard

	guard sealed.Guard
}

var (
	_ projections.Projection   = (*Projection)(nil)
	_ projections.Checkpointer = (*Projection)(nil)
)

// Open opens or creates the state in dir, which exists. A damaged segment is a *CorruptError. A
// damaged or outdated checkpoint is not an error, since it only saves time.
func Open(dir string, opts Options) (*Projection, error) {
	if !sealed.LittleEndian() {
		return nil, errors.New("segment: TBF files are read in place and need a little-endian machine")
	}
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	opts.paused = new(atomic.Bool)
	p := &Projection{dir: dir, opts: opts, shards: map[schemas.TopicPartition]*shard{}}
	partitions, err := sealed.Shards(dir)
	if err != nil {
		return nil, fmt.Errorf("open segments: %w", err)
	}
	for _, tp := range partitions {
		s := newShard(tp, filepath.Join(dir, sealed.ShardDir(tp)), &p.opts)
		p.shards[tp] = s
		if err := s.load(); err != nil {
			_ = p.Close()
			return nil, fmt.Errorf("open segments of %s: %w", tp, err)
		}
	}
	return p, nil
}

// enter keeps the files mapped until leave.
func (p *Projection) enter() error {
	if !p.guard.Enter() {
		return ErrClosed
	}
	return nil
}

func (p *Projection) leave() { p.guard.Leave(p.unmap) }

func (p *Projection) unmap() {
	for _, s := range p.shards {
		for _, f := range s.files {
			_ = f.close()
		}
		if s.tail != nil {
			_ = s.tail.close()
		}
	}
}

// snapshot returns one state of all shards, in order. If it includes a batch, it includes every
// batch of any shard that was published before.
func (p *Projection) snapshot() []shardView {
	// While mu is held no shard can be added, so no shard can be missing from the list while a
	// later batch of another one is included.
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := p.sorted()
	for _, s := range all {
		s.mu.RLock()
	}
	views := make([]shardView, len(all))
	for i, s := range all {
		views[i] = shardView{s.tp, &s.order, s.view}
	}
	for _, s := range all {
		s.mu.RUnlock()
	}
	return slices.DeleteFunc(views, func(v shardView) bool { return v.next == 0 })
}

// shardView is a shard's part of a snapshot.
type shardView struct {
	tp    schemas.TopicPartition
	order *hotOrder
	view
}

// Name implements projections.Projection.
func (p *Projection) Name() string { return Name }

// Next implements projections.Projection.
func (p *Projection) Next(tp schemas.TopicPartition) int64 {
	if s := p.shard(tp); s != nil {
		v := s.snapshot()
		return v.next
	}
	return 0
}

// Watermark implements projections.Projection.
func (p *Projection) Watermark() schemas.Watermark {
	w := schemas.Watermark{}
	for _, v := range p.snapshot() {
		w[v.tp] = v.next
	}
	return w
}

func (p *Projection) shard(tp schemas.TopicPartition) *shard {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.shards[tp]
}

// all returns the shards in order.
func (p *Projection) all() []*shard {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.sorted()
}

// sorted is all for callers that hold mu.
func (p *Projection) sorted() []*shard {
	var all []*shard
	for _, s := range p.shards {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *shard) int { return a.tp.Compare(b.tp) })
	return all
}

// Apply implements projections.Projection. State and position advance record by record: after an
// error that may be retried, Next says how far it came, and the state up to there is valid.
func (p *Projection) Apply(ctx context.Context, b schemas.Batch) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	tp := b.TP()
	if !sealed.Valid(tp) {
		return schemas.Fatalf("segment: %q is not a partition of a topic", tp)
	}
	p.mu.Lock()
	s := p.shards[tp]
	if s == nil {
		s = newShard(tp, filepath.Join(p.dir, sealed.ShardDir(tp)), &p.opts)
		p.shards[tp] = s
	}
	p.mu.Unlock()
	return s.apply(ctx, b)
}

// Checkpoints implements projections.Checkpointer.
func (p *Projection) Checkpoints(on bool) { p.opts.paused.Store(!on) }

// Flush implements projections.Projection.
func (p *Projection) Flush() error { return p.flush(0) }

func (p *Projection) flush(few int) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	var errs []error
	for _, s := range p.all() {
		if err := s.flush(few); err != nil {
			errs = append(errs, fmt.Errorf("flush segments of %s: %w", s.tp, err))
		}
	}
	return errors.Join(errs...)
}

// Close flushes and closes; a few rows are left to the log. Calls in progress complete normally; the last of them releases the
// files.
func (p *Projection) Close() error {
	err := p.flush(fewRows)
	if errors.Is(err, ErrClosed) {
		return nil
	}
	p.guard.Close(p.unmap)
	return err
}
