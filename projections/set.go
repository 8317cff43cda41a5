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

// ErrClosed: the set, or the rebuild, was closed.
var ErrClosed = errors.New("closed")

// RejectFunc is told of a record that a projection can never apply, before the
// projection moves over it. It appends the record to the `rejected` topic, and
// may be told of the same record again: after a crash, after an error of its
// own, and by another projection.
type RejectFunc func(ctx context.Context, projection string, r *recountv1.Record, why *RecordError) error

// Options say how a Set is opened. The zero Options are good for tests.
type Options struct {
	// Reject takes records that a projection can never apply. Each projection
	// decides for itself: the others still apply the record, so that the state of
	// none depends on which others a node keeps. Without Reject, Apply fails with
	// the *RecordError.
	Reject RejectFunc
	// Logger; nil means slog.Default().
	Logger *slog.Logger
	// Seed, if not nil, gives a projection what it is made of besides the batches of its
	// topics: what stands for records that retention removed. It is called when state is
	// opened or begun, before any other batch, and leaves out what lies below next. The
	// batches are of topics that the projection does not take.
	Seed func(ctx context.Context, k Kind, next func(schemas.TopicPartition) int64, apply func(schemas.Batch) error) error
}

// Set holds the projections that a node keeps: their live generations, and the
// rebuilds beside them.
type Set struct {
	opts    Options
	dir     string
	lock    *os.File
	members []*member

	// mu guards what follows.
	mu      sync.Mutex
	closed  bool
	changed chan struct{} // closed and replaced when a watermark moves
}

// member is one projection of a set. applying is taken before mu, and Set.mu
// is not held with either.
type member struct {
	home home
	log  *slog.Logger

	// applying is held for reading while a batch is applied and for writing where
	// none may be: while a rebuild takes over, and by Hold.
	applying sync.RWMutex

	// mu guards what follows. idle is signalled when readers falls.
	mu       sync.Mutex
	idle     *sync.Cond
	live     *generation
	readers  int // of all generations
	building *Rebuild
	closed   bool
}

// generation is an opened state with its readers. member.mu guards them.
type generation struct {
	p       Projection
	dir     string
	readers int
	retired bool

	noting sync.Mutex
	noted  bool // of which log it is; guarded by noting
}

// Open opens the projections in dir, creating what is not there. Only one Set
// may have a directory open, in one process.
func Open(dir string, o Options, kinds ...Kind) (*Set, error) {
	return OpenOn(context.Background(), nil, dir, o, kinds...)
}

// OpenOn is Open of what is made from a log: state that was made from another one is
// begun anew.
func OpenOn(ctx context.Context, log Origin, dir string, o Options, kinds ...Kind) (*Set, error) {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	l, err := lock(dir)
	if err != nil {
		return nil, err
	}
	s := &Set{opts: o, dir: dir, lock: l, changed: make(chan struct{})}
	for _, k := range kinds {
		m := &member{home: home{filepath.Join(dir, k.Name), k, sealed.OS{}, log}, log: o.Logger.With("projection", k.Name)}
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

// seed gives a generation what stands for what retention removed. A crash on the way leaves
// a part of it, and the next Open gives the rest.
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

// passOver leaves out records that can never be applied, where nobody is to be told.
func passOver(context.Context, string, *recountv1.Record, *RecordError) error { return nil }

// Names returns the projections' names in the order they were given.
func (s *Set) Names() []string {
	names := make([]string, len(s.members))
	for i, m := range s.members {
		names[i] = m.home.kind.Name
	}
	return names
}

// Takes reports whether a topic concerns one of the projections.
func (s *Set) Takes(name, topic string) bool {
	m, err := s.member(name)
	return err == nil && m.Takes(topic)
}

func (s *Set) member(name string) (*member, error) {
	i := slices.IndexFunc(s.members, func(m *member) bool { return m.home.kind.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("projection %q: not kept here; there are %q", name, s.Names())
	}
	return s.members[i], nil
}

// Apply applies the batch to every projection that it concerns, each skipping what it has. It may
// be called for several partitions at once, and again with the same batch after
// an error.
func (s *Set) Apply(ctx context.Context, b schemas.Batch) error {
	for _, m := range s.members {
		if !m.Takes(b.Topic) {
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
	if err := g.note(ctx, m.home); err != nil {
		return err
	}
	return applyAll(ctx, g.p, b, reject)
}

// current is the live projection. It stays so while applying is held.
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

// applyAll applies a batch without the records that can never be applied.
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

// Next is the next offset to read of a partition: the lowest of all projections
// that it concerns, and the end of time where it concerns none.
func (s *Set) Next(tp schemas.TopicPartition) int64 { return NextOf(s.members, tp) }

// Watermark is what every projection has applied of what concerns it.
func (s *Set) Watermark() schemas.Watermark { return Lowest(s.members) }

// Takes reports whether a topic concerns the projection.
func (m *member) Takes(topic string) bool { return m.home.kind.Takes(topic) }

// Next is the live projection's next offset of a partition.
func (m *member) Next(tp schemas.TopicPartition) int64 { return m.Watermark()[tp] }

// Watermark is that of the live projection, none when closed.
func (m *member) Watermark() schemas.Watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return schemas.Watermark{}
	}
	return m.live.p.Watermark()
}

// Wait returns when everything below w has been applied by every projection, or
// with the context's error.
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

// Changed is closed when a batch has been applied, or when the set is closed. Who
// follows takes it, looks at what there is, and then waits for it: nothing is
// missed between.
func (s *Set) Changed() <-chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.changed
}

// Acquire returns the live projection for reading. It stays open until release,
// also when a rebuild takes its place.
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

// Hold is Acquire, and no batch is applied to the projection until release: what
// is compared with it does not have to run after it.
func (s *Set) Hold(name string) (p Projection, release func(), err error) {
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

// leave ends one reader's use; the last one of a retired generation ends it.
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

// remove closes a generation that nobody uses and deletes it. A crash on the way
// leaves some of it, which the next Open sweeps.
func (m *member) remove(g *generation) {
	if err := errors.Join(g.p.Close(), os.RemoveAll(g.dir)); err != nil {
		m.log.Warn("old generation not removed; it will be at the next start", "dir", g.dir, "err", err)
	}
}

// Flush makes what has been applied durable.
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

// Close waits for batches and readers to be done, gives up rebuilds and closes
// the projections. Whoever waits in Wait is told.
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
