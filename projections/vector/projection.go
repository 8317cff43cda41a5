package vector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// Name is the projection's name.
const Name = "vector"

// Version is the version of what is stored. It changes when the same log would
// give other state.
const Version = 1

// ErrClosed is what calls after Close return.
var ErrClosed = errors.New("vector: closed")

// Kind is the projection as a node registers it.
func Kind(opts Options) projections.Kind {
	return projections.Kind{
		Name: Name, Version: Version, Params: opts.stamp(), Topics: []string{schemas.TopicCommands},
		Open: func(dir string) (projections.Projection, error) { return Open(dir, opts) },
	}
}

// Projection keeps the embeddings of a log's intents where the nearest ones to a
// vector are found. All of its methods may be called at any time from any
// goroutine; Apply from one a partition.
type Projection struct {
	dir  string
	opts Options

	// life guards users and closed, and is held for moments only.
	life   sync.Mutex
	users  int // calls under way: the files stay mapped until the last one ends
	closed bool

	// mu guards shards. A shard's locks come after it, and among those write before
	// mu; who takes the write of several shards takes them in the order of
	// partitions.
	mu     sync.RWMutex
	shards map[schemas.TopicPartition]*shard
}

var _ projections.Projection = (*Projection)(nil)

// Open opens or creates the state in dir, which exists. A damaged file is a
// *CorruptError; a damaged or outdated checkpoint is not an error, as it is only
// a shortcut.
func Open(dir string, opts Options) (*Projection, error) {
	if !sealed.LittleEndian() {
		return nil, errors.New("vector: its files are read in place and need a little-endian machine")
	}
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	p := &Projection{dir: dir, opts: opts, shards: map[schemas.TopicPartition]*shard{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	for _, e := range entries {
		tp, ok := sealed.ParseShardDir(e.Name())
		if !e.IsDir() || !ok {
			continue // not ours
		}
		s := newShard(tp, filepath.Join(dir, e.Name()), &p.opts)
		p.shards[tp] = s
		if err := s.load(); err != nil {
			p.release()
			return nil, fmt.Errorf("open vectors of %s: %w", tp, err)
		}
	}
	return p, nil
}

// enter keeps the files mapped until leave.
func (p *Projection) enter() error {
	p.life.Lock()
	defer p.life.Unlock()
	if p.closed {
		return ErrClosed
	}
	p.users++
	return nil
}

func (p *Projection) leave() {
	p.life.Lock()
	p.users--
	last := p.closed && p.users == 0
	p.life.Unlock()
	if last {
		p.release()
	}
}

func (p *Projection) release() {
	for _, s := range p.shards {
		s.release()
	}
}

// Name implements projections.Projection.
func (p *Projection) Name() string { return Name }

// Next implements projections.Projection.
func (p *Projection) Next(tp schemas.TopicPartition) int64 {
	if s := p.shard(tp); s != nil {
		return s.snapshot().next
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

// sorted are the shards in order, for who holds mu.
func (p *Projection) sorted() []*shard {
	var all []*shard
	for _, s := range p.shards {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *shard) int { return a.tp.Compare(b.tp) })
	return all
}

// snapshot is one state of all shards, in order: none is left out that another
// one's batch came after.
func (p *Projection) snapshot() []view {
	// While this is held no shard can begin, and so no batch come after one that
	// is not in the list.
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := p.sorted()
	for _, s := range all {
		s.mu.RLock()
	}
	var views []view
	for _, s := range all {
		if s.view.next > 0 {
			views = append(views, s.view)
		}
		s.mu.RUnlock()
	}
	return views
}

// Apply implements projections.Projection. After an error that may be retried,
// Next says how far it came, which is a state like any other.
func (p *Projection) Apply(ctx context.Context, b schemas.Batch) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	tp := b.TP()
	if !sealed.Valid(tp) {
		return schemas.Fatalf("vector: %q is not a partition of a topic", tp)
	}
	s := p.shard(tp)
	if s == nil {
		s = p.begin(tp)
	}
	return s.apply(ctx, b)
}

// begin makes a partition's shard.
func (p *Projection) begin(tp schemas.TopicPartition) *shard {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.shards[tp]
	if s == nil {
		s = newShard(tp, filepath.Join(p.dir, sealed.ShardDir(tp)), &p.opts)
		p.shards[tp] = s
	}
	return s
}

// Flush implements projections.Projection.
func (p *Projection) Flush() error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	p.mu.RLock()
	all := p.sorted()
	p.mu.RUnlock()
	var errs []error
	for _, s := range all {
		if err := s.flush(); err != nil {
			errs = append(errs, fmt.Errorf("flush vectors of %s: %w", s.tp, err))
		}
	}
	return errors.Join(errs...)
}

// Close flushes and closes. Calls that are under way end as they would have; the
// files are released with the last of them.
func (p *Projection) Close() error {
	err := p.Flush()
	if errors.Is(err, ErrClosed) {
		return nil
	}
	p.life.Lock()
	first := !p.closed
	p.closed = true
	last := first && p.users == 0
	p.life.Unlock()
	if last {
		p.release()
	}
	return err
}
