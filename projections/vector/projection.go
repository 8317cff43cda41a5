package vector

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
)

// Name is the name of the projection.
const Name = "vector"

// Version is the version of the stored state. It changes when the same log would give another
// state.
const Version = 3

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

	guard sealed.Guard // the files stay mapped until the last call ends

	// mu guards shards. Lock order: mu, then a shard's write, then its mu. A caller that locks
	// several shards does so in the order of partitions.
	mu     sync.RWMutex
	shards map[schemas.TopicPartition]*shard

	links linker // of objects
	// damage is what was found in vectors since the files were opened.
	damage damage
}

var _ projections.Projection = (*Projection)(nil)

// Open opens or creates the state in dir, which exists. A damaged file is a *CorruptError. A
// damaged or outdated checkpoint is not an error, since it only saves time.
func Open(dir string, opts Options) (*Projection, error) {
	if !sealed.LittleEndian() {
		return nil, errors.New("vector: its files are read in place and need a little-endian machine")
	}
	if err := opts.setDefaults(); err != nil {
		return nil, err
	}
	p := &Projection{dir: dir, opts: opts, shards: map[schemas.TopicPartition]*shard{}}
	partitions, err := sealed.Shards(dir)
	if err != nil {
		return nil, fmt.Errorf("open vectors: %w", err)
	}
	for _, tp := range partitions {
		if err := p.shard(tp).load(); err != nil {
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
	if !p.guard.Enter() {
		return ErrClosed
	}
	return nil
}

func (p *Projection) leave() { p.guard.Leave(p.release) }

func (p *Projection) release() {
	for _, s := range p.shards {
		s.release()
	}
}

// Name implements projections.Projection.
func (p *Projection) Name() string { return Name }

// Next implements projections.Projection.
func (p *Projection) Next(tp schemas.TopicPartition) int64 {
	p.mu.RLock()
	s := p.shards[tp]
	p.mu.RUnlock()
	if s == nil {
		return 0
	}
	return s.snapshot().next
}

// Watermark implements projections.Projection.
func (p *Projection) Watermark() schemas.Watermark {
	w := schemas.Watermark{}
	p.read(nil, func(s *shard) {
		if s.view.next > 0 {
			w[s.tp] = s.view.next
		}
	})
	return w
}

// read calls f with each shard of a source, or all if it is nil, in order. f may read what the
// shard's mu guards. All calls see one state: if it includes a batch, it includes every batch of any
// of the shards that was published before.
func (p *Projection) read(of *source, f func(s *shard)) {
	// While mu is held no shard can be added, so no shard can be missing from the list while a
	// later batch of another one is included.
	p.mu.RLock()
	defer p.mu.RUnlock()
	all := p.sorted(of)
	for _, s := range all {
		s.mu.RLock()
	}
	for _, s := range all {
		f(s)
		s.mu.RUnlock()
	}
}

// sorted returns the shards of a source, or all if it is nil, in order. The caller holds mu.
func (p *Projection) sorted(of *source) []*shard {
	var all []*shard
	for _, s := range p.shards {
		if of == nil || s.source == of {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b *shard) int { return a.tp.Compare(b.tp) })
	return all
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
	return p.shard(tp).apply(ctx, b)
}

// shard returns a partition's shard and creates it if there is none.
func (p *Projection) shard(tp schemas.TopicPartition) *shard {
	p.mu.RLock()
	s := p.shards[tp]
	p.mu.RUnlock()
	if s != nil {
		return s
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.shards[tp] == nil {
		of := commands
		if tp.Topic[strings.LastIndexByte(tp.Topic, '.')+1:] == schemas.TopicAgents {
			of = objects
		}
		folder := sealed.Folder{Dir: filepath.Join(p.dir, sealed.ShardDir(tp)), Disk: p.opts.disk}
		p.shards[tp] = newShard(of, home{tp: tp, folder: folder, opts: &p.opts, damage: &p.damage}, &p.links)
	}
	return p.shards[tp]
}

// Flush implements projections.Projection.
func (p *Projection) Flush() error { return p.flush(0) }

func (p *Projection) flush(few int) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	p.mu.RLock()
	all := p.sorted(nil)
	p.mu.RUnlock()
	var errs []error
	for _, s := range all {
		if err := s.flush(few); err != nil {
			errs = append(errs, fmt.Errorf("flush vectors of %s: %w", s.tp, err))
		}
	}
	return errors.Join(errs...)
}

// Close flushes and closes; a few runs are left to the log. Calls in progress complete normally; the last of them releases the
// files.
func (p *Projection) Close() error {
	err := p.flush(fewRuns)
	if errors.Is(err, ErrClosed) {
		return nil
	}
	p.links.stop() // before the files that it reads are released
	p.guard.Close(p.release)
	return err
}
