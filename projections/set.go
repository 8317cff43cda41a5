package projections

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/recountdb/recount/projections/sealed"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// ErrClosed is returned after the set, or the rebuild, was closed.
var ErrClosed = errors.New("closed")

// RejectFunc handles a record that a projection can never apply, before the projection moves past
// it. It appends the record to the topic `rejected`. It may be called again with the same record:
// after a crash, after an error of its own, and by another projection.
type RejectFunc func(ctx context.Context, projection string, r *recountv1.Record, why *RecordError) error

// Options configure a Set. The zero Options are suitable for tests.
type Options struct {
	// Reject is called with records that a projection can never apply. Each projection decides for
	// itself: the others still apply the record, so that no state depends on which other
	// projections a node runs. If Reject is nil, Apply fails with the *RecordError.
	Reject RejectFunc
	// Logger defaults to slog.Default().
	Logger *slog.Logger
	// Seed, if not nil, applies the batches that replace what retention removed from the log: they
	// are of topics that the projection does not read. It is called when state is opened or a
	// rebuild begins, before any other batch, and omits what lies below next.
	Seed func(ctx context.Context, k Definition, next func(schemas.TopicPartition) int64, apply func(schemas.Batch) error) error
}

// Set holds the projections that a node runs: their live generations and running rebuilds.
type Set struct {
	opts    Options
	lock    *os.File
	members []*member

	// mu guards the fields below.
	mu      sync.Mutex
	closed  bool
	changed chan struct{} // closed and replaced when a watermark moves
}

// member is one projection of a set. Lock order: applying, then mu; Set.mu is held with neither.
type member struct {
	home generations
	log  *slog.Logger

	// applying is held for reading while a batch is applied, and for writing while none may be:
	// when a rebuild is committed, and by Hold.
	applying sync.RWMutex

	// mu guards the fields below. idle is signalled when readers decreases.
	mu       sync.Mutex
	idle     *sync.Cond
	live     *generation
	readers  int // of all generations
	building *Rebuild
	closed   bool
}

// generation is an opened state and the number of its readers. member.mu guards readers and
// retired.
type generation struct {
	p       Projection
	dir     string
	readers int
	retired bool

	noting sync.Mutex
	noted  bool // reports whether LOG was written; guarded by noting
}

// Open opens the projections in dir and creates those that are missing. Only one Set, in one
// process, can have a directory open.
func Open(dir string, o Options, kinds ...Definition) (*Set, error) {
	return OpenOn(context.Background(), nil, dir, o, kinds...)
}

// OpenOn is Open for projections of the given log: state that was built from another log is
// discarded and rebuilt.
func OpenOn(ctx context.Context, log LogIdentity, dir string, o Options, kinds ...Definition) (*Set, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	l, err := lock(dir)
	if err != nil {
		return nil, err
	}
	s := &Set{opts: o, lock: l, changed: make(chan struct{})}
	for _, k := range kinds {
		m := &member{home: generations{filepath.Join(dir, k.Name), k, sealed.OS{}, log}, log: o.Logger.With("projection", k.Name)}
		m.idle = sync.NewCond(&m.mu)
		live, anew, err := m.home.openLive(ctx)
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		switch anew {
		case "":
		case outdatedState:
			m.log.Info("state of an older version or made with other settings: rebuilding from the log", "version", k.Version)
		default:
			m.log.Warn("state that is not of this log: making it anew", "why", anew)
		}
		m.live = live
		s.members = append(s.members, m)
		if err := s.seed(ctx, m, live); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	return s, nil
}

// seed applies to a generation the batches that replace what retention removed. A crash during it
// leaves a part of them applied, and the next Open applies the rest.
func (s *Set) seed(ctx context.Context, m *member, g *generation) error {
	if s.opts.Seed == nil {
		return nil
	}
	return s.opts.Seed(ctx, m.home.kind, g.p.Next, func(b schemas.Batch) error {
		if err := g.note(ctx, m.home); err != nil {
			return err
		}
		return applyAll(ctx, g.p, b, passOver)
	})
}

// passOver is a RejectFunc that drops records that can never be applied without reporting them.
func passOver(context.Context, string, *recountv1.Record, *RecordError) error { return nil }

// Names returns the names of the projections in the order in which they were given.
func (s *Set) Names() []string {
	names := make([]string, len(s.members))
	for i, m := range s.members {
		names[i] = m.home.kind.Name
	}
	return names
}

// Subscribes reports whether the named projection exists and reads the topic.
func (s *Set) Subscribes(name, topic string) bool {
	m, err := s.member(name)
	return err == nil && m.Subscribes(topic)
}

func (s *Set) member(name string) (*member, error) {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.home.kind.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("projection %q: this process does not have it; it has %q", name, s.Names())
	}
	return s.members[i], nil
}

// Apply applies a batch, one projection after the other, to every projection that reads its topic;
// each skips what it has. If one fails, those after it do not get the batch. Apply may be called concurrently
// for different partitions, and again with the same batch after an error.
func (s *Set) Apply(ctx context.Context, b schemas.Batch) error {
	for _, m := range s.members {
		if !m.Subscribes(b.Topic) {
			continue
		}
		if err := m.apply(ctx, b, s.opts.Reject); err != nil {
			return err
		}
	}
	s.mu.Lock()
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()
	return nil
}

func (m *member) apply(ctx context.Context, b schemas.Batch, reject RejectFunc) error {
	m.applying.RLock()
	defer m.applying.RUnlock()
	g, err := m.generation()
	if err != nil {
		return err
	}
	if b.Next <= g.p.Next(b.TP()) {
		return nil // another projection is behind
	}
	if err := g.note(ctx, m.home); err != nil {
		return err
	}
	return applyAll(ctx, g.p, b, reject)
}

// current returns the live projection, which stays live while applying is held.
func (m *member) current() (Projection, error) {
	g, err := m.generation()
	if err != nil {
		return nil, err
	}
	return g.p, nil
}

func (m *member) generation() (*generation, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, fmt.Errorf("projection %s: %w", m.home.kind.Name, ErrClosed)
	}
	return m.live, nil
}

// applyAll applies a batch without the records that can never be applied, which it passes to
// reject.
func applyAll(ctx context.Context, p Projection, b schemas.Batch, reject RejectFunc) error {
	for {
		err := p.Apply(ctx, b)
		var re *RecordError
		if err == nil || reject == nil || !errors.As(err, &re) {
			if err != nil {
				return fmt.Errorf("apply %s at %s up to %d: %w", p.Name(), b.TP(), b.Next, err)
			}
			return nil
		}
		i := slices.IndexFunc(b.Records, func(r *recountv1.Record) bool { return schemas.PositionOf(r.Origin) == re.Position })
		if i < 0 {
			return schemas.Fatalf("apply %s at %s: it refuses a record that is not in the batch: %w", p.Name(), b.TP(), err)
		}
		if err := reject(ctx, p.Name(), b.Records[i], re); err != nil {
			return fmt.Errorf("reject %s: %w", re.Position, err)
		}
		b.Records = slices.Delete(slices.Clone(b.Records), i, i+1)
	}
}

// Next returns the next offset to read of a partition: the lowest of all projections that read its
// topic, or math.MaxInt64 if none does.
func (s *Set) Next(tp schemas.TopicPartition) int64 { return NextOf(s.members, tp) }

// Watermark returns what every projection has applied of the topics that it reads.
func (s *Set) Watermark() schemas.Watermark { return Lowest(s.members) }

// Subscribes reports whether the projection reads a topic.
func (m *member) Subscribes(topic string) bool { return m.home.kind.Subscribes(topic) }

// Next returns the live projection's next offset of a partition.
func (m *member) Next(tp schemas.TopicPartition) int64 { return m.Watermark()[tp] }

// Watermark returns the watermark of the live projection, an empty one after Close.
func (m *member) Watermark() schemas.Watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return schemas.Watermark{}
	}
	return m.live.p.Watermark()
}

// Wait returns nil when every projection has applied everything below w, ErrClosed when the set is
// closed, or the context's error.
func (s *Set) Wait(ctx context.Context, w schemas.Watermark) error {
	for {
		s.mu.Lock()
		changed, closed := s.changed, s.closed
		s.mu.Unlock()
		if closed {
			return ErrClosed
		}
		if s.Watermark().Covers(w) {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Changed returns a channel that is closed when a batch has been applied or the set is closed. To
// miss nothing, a caller takes the channel first, then reads the state, then waits on the channel.
func (s *Set) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Acquire returns the live projection for reading. It stays open until release is called, even if a
// rebuild replaces it.
func (s *Set) Acquire(name string) (p Projection, release func(), err error) {
	m, err := s.member(name)
	if err != nil {
		return nil, nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return nil, nil, fmt.Errorf("projection %s: %w", name, ErrClosed)
	}
	g := m.live
	g.readers++
	m.readers++
	return g.p, sync.OnceFunc(func() { m.leave(g) }), nil
}

// AcquireExclusive is Acquire and also blocks batches to the projection until release is called, so that a
// comparison need not catch up with a moving state.
func (s *Set) AcquireExclusive(name string) (p Projection, release func(), err error) {
	m, err := s.member(name)
	if err != nil {
		return nil, nil, err
	}
	m.applying.Lock()
	p, leave, err := s.Acquire(name)
	if err != nil {
		m.applying.Unlock()
		return nil, nil, err
	}
	return p, sync.OnceFunc(func() { leave(); m.applying.Unlock() }), nil
}

// leave ends one reader's use. The last reader of a retired generation removes it.
func (m *member) leave(g *generation) {
	m.mu.Lock()
	g.readers--
	last := g.retired && g.readers == 0
	m.mu.Unlock()
	if last {
		m.remove(g)
	}
	m.mu.Lock()
	m.readers--
	m.idle.Broadcast()
	m.mu.Unlock()
}

// remove closes and deletes a generation that has no readers. What a crash leaves of it, the next
// Open removes.
func (m *member) remove(g *generation) {
	if err := errors.Join(g.p.Close(), os.RemoveAll(g.dir)); err != nil {
		m.log.Warn("old generation not removed; it will be at the next start", "dir", g.dir, "err", err)
	}
}

// Flush makes durable what has been applied.
func (s *Set) Flush() error {
	var errs []error
	for _, m := range s.members {
		m.applying.RLock()
		p, err := m.current()
		if err == nil {
			err = p.Flush()
		}
		m.applying.RUnlock()
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// Close waits for running batches and readers, aborts rebuilds and closes the projections. Calls
// that block in Wait return ErrClosed.
func (s *Set) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	close(s.changed)
	s.changed = make(chan struct{})
	s.mu.Unlock()

	var errs []error
	for _, m := range s.members {
		errs = append(errs, m.close())
	}
	return errors.Join(append(errs, s.lock.Close())...)
}

func (m *member) close() error {
	m.applying.Lock()
	defer m.applying.Unlock()
	m.mu.Lock()
	m.closed = true
	building := m.building
	for m.readers > 0 {
		m.idle.Wait()
	}
	m.mu.Unlock()
	var err error
	if building != nil {
		err = building.Abort()
	}
	return errors.Join(err, m.live.p.Close())
}
