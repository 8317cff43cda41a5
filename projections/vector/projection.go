package vector

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// Name is the name of the projection.
const Name = "vector"

// Version is the version of the stored state. It changes when the same log would give another
// state.
const Version = 2

// ErrClosed is returned by calls after Close.
var ErrClosed = errors.New("vector: closed")

// Kind returns the projection as a node registers it.
func Kind(opts Options) projections.Definition {
	return projections.Definition{
		Name: Name, Version: Version, Params: opts.stamp(), Topics: []string{schemas.TopicCommands, schemas.TopicAgents},
		Open: func(dir string) (projections.Projection, error) { return Open(dir, opts) },
	}
}

// Projection keeps the embeddings of a log's intents and of the passages of agents' objects, and
// finds those nearest to a vector. All of its methods may be called at any time from any goroutine,
// Apply by one goroutine per partition.
type Projection struct {
	dir  string
	opts Options

	// life guards users and closed and is held only briefly.
	life   sync.Mutex
	users  int // calls in progress: the files stay mapped until the last one ends
	closed bool

	// mu guards shards and objects. Lock order: mu, then a shard's write, then its mu. A caller
	// that locks the write of several shards does so in the order of partitions, those of objects
	// last.
	mu      sync.RWMutex
	shards  map[schemas.TopicPartition]*shard
	objects map[schemas.TopicPartition]*objectShard

	links linker // of objects
}

var (
	_ projections.Projection   = (*Projection)(nil)
	_ projections.Checkpointer = (*Projection)(nil)
)

// Open opens or creates the state in dir, which exists. A damaged file is a *CorruptError. A
// damaged or outdated checkpoint is not an error, since it only saves time.
func Open(dir string, opts Options) (*Projection, error) {
	if !sealed.LittleEndian() {
		return nil, errors.New("vector: its files are read in place and need a little-endian machine")
	}
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	opts.paused = new(atomic.Bool)
	p := &Projection{dir: dir, opts: opts, shards: map[schemas.TopicPartition]*shard{}, objects: map[schemas.TopicPartition]*objectShard{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	for _, e := range entries {
		tp, ok := sealed.ParseShardDir(e.Name())
		if !e.IsDir() || !ok {
			continue // not a folder of this projection
		}
		if err := p.begin(tp).load(); err != nil {
			p.release()
			return nil, fmt.Errorf("open vectors of %s: %w", tp, err)
		}
	}
	if !p.opts.unlinked {
		p.links.start()
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
	for _, s := range p.objects {
		s.release()
	}
}

// part is a partition's shard, of commands or of objects.
type part interface {
	load() error
	apply(ctx context.Context, b schemas.Batch) error
	flush() error
}

// Name implements projections.Projection.
func (p *Projection) Name() string { return Name }

// Next implements projections.Projection.
func (p *Projection) Next(tp schemas.TopicPartition) int64 {
	if s := p.shard(tp); s != nil {
		return s.snapshot().next
	}
	p.mu.RLock()
	s := p.objects[tp]
	p.mu.RUnlock()
	if s != nil {
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
	p.mu.RLock()
	defer p.mu.RUnlock()
	for tp, s := range p.objects {
		if v := s.snapshot(); v.next > 0 {
			w[tp] = v.next
		}
	}
	return w
}

func (p *Projection) shard(tp schemas.TopicPartition) *shard {
	p.mu.RLock()
	defer p.mu.RUnlock()
	return p.shards[tp]
}

// sorted returns the shards in order; the caller holds mu.
func (p *Projection) sorted() []*shard {
	var all []*shard
	for _, s := range p.shards {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *shard) int { return a.tp.Compare(b.tp) })
	return all
}

// sortedObjects returns the shards of objects in order; the caller holds mu.
func (p *Projection) sortedObjects() []*objectShard {
	var all []*objectShard
	for _, s := range p.objects {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *objectShard) int { return a.tp.Compare(b.tp) })
	return all
}

// snapshot returns one state of all shards of commands, in order. If it includes a batch, it
// includes every batch of any shard that was published before.
func (p *Projection) snapshot() []view {
	// While mu is held no shard can be added, so no shard can be missing from the list while a
	// later batch of another one is included.
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

// Apply implements projections.Projection. After an error that may be retried, Next says how far it
// came, and the state up to there is valid.
func (p *Projection) Apply(ctx context.Context, b schemas.Batch) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	tp := b.TP()
	if !sealed.Valid(tp) {
		return schemas.Fatalf("vector: %q is not a partition of a topic", tp)
	}
	return p.begin(tp).apply(ctx, b)
}

// begin returns a partition's shard and creates it if there is none.
func (p *Projection) begin(tp schemas.TopicPartition) part {
	p.mu.RLock()
	s, o := p.shards[tp], p.objects[tp]
	p.mu.RUnlock()
	switch {
	case s != nil:
		return s
	case o != nil:
		return o
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	dir := filepath.Join(p.dir, sealed.ShardDir(tp))
	if ofObjects(tp) {
		if p.objects[tp] == nil {
			p.objects[tp] = newObjectShard(tp, dir, &p.opts, &p.links)
		}
		return p.objects[tp]
	}
	if p.shards[tp] == nil {
		p.shards[tp] = newShard(tp, dir, &p.opts)
	}
	return p.shards[tp]
}

// Checkpoints implements projections.Checkpointer.
func (p *Projection) Checkpoints(on bool) { p.opts.paused.Store(!on) }

// Flush implements projections.Projection.
func (p *Projection) Flush() error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	all := map[schemas.TopicPartition]part{}
	p.mu.RLock()
	for tp, s := range p.shards {
		all[tp] = s
	}
	for tp, s := range p.objects {
		all[tp] = s
	}
	p.mu.RUnlock()
	var errs []error
	for _, tp := range slices.SortedFunc(maps.Keys(all), schemas.TopicPartition.Compare) {
		if err := all[tp].flush(); err != nil {
			errs = append(errs, fmt.Errorf("flush vectors of %s: %w", tp, err))
		}
	}
	return errors.Join(errs...)
}

// Close flushes and closes. Calls in progress complete normally; the last of them releases the
// files.
func (p *Projection) Close() error {
	err := p.Flush()
	if errors.Is(err, ErrClosed) {
		return nil
	}
	p.links.stop() // before the files that it reads are released
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
