package projections

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/recountdb/recount/schemas"
)

// Rebuild is a new generation of a projection that is being filled from offset zero beside the live
// one. Its methods may be called concurrently for different partitions. It ends with Commit or
// Abort.
type Rebuild struct {
	m *member
	g *generation

	// mu keeps Commit and Abort from running while a batch is applied.
	mu   sync.RWMutex
	done bool
}

// BehindError reports that a rebuild has not yet read everything that the live projection has. The
// caller continues reading at Have, then calls Commit again.
type BehindError struct {
	Projection string
	Have, Want schemas.Watermark
}

func (e *BehindError) Error() string {
	return fmt.Sprintf("rebuild of %s is at %s, the live one at %s", e.Projection, e.Have, e.Want)
}

// Begin starts a rebuild. Each projection can have only one at a time.
func (s *Set) Begin(ctx context.Context, name string) (*Rebuild, error) {
	m, err := s.member(name)
	if err != nil {
		return nil, err
	}
	r := &Rebuild{m: m}
	if err := r.begin(); err != nil {
		return nil, err
	}
	if err := s.seed(ctx, m, r.g); err != nil {
		return nil, errors.Join(fmt.Errorf("rebuild %s: %w", name, err), r.Abort())
	}
	return r, nil
}

func (r *Rebuild) begin() error {
	m, name := r.m, r.m.home.kind.Name
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case m.closed:
		return fmt.Errorf("rebuild %s: %w", name, ErrClosed)
	case m.building != nil:
		return fmt.Errorf("rebuild %s: another rebuild of it is running", name)
	}
	p, dir, err := m.home.create()
	if err != nil {
		return err
	}
	r.g = &generation{p: p, dir: dir}
	r.checkpoints(false) // after a crash the rebuild starts again
	m.building = r
	return nil
}

func (r *Rebuild) checkpoints(on bool) {
	if p, ok := r.g.p.(Checkpointer); ok {
		p.Checkpoints(on)
	}
}

// Next returns the next offset to read of a partition.
func (r *Rebuild) Next(tp schemas.TopicPartition) int64 { return r.g.p.Next(tp) }

// Subscribes reports whether the projection reads a topic.
func (r *Rebuild) Subscribes(topic string) bool { return r.m.Subscribes(topic) }

// Watermark returns what the rebuild has applied.
func (r *Rebuild) Watermark() schemas.Watermark { return r.g.p.Watermark() }

// Apply applies a batch, if the projection reads its topic. It skips records that can never be
// applied, since they were rejected when the live projection met them.
func (r *Rebuild) Apply(ctx context.Context, b schemas.Batch) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.done {
		return fmt.Errorf("rebuild %s: %w", r.m.home.kind.Name, ErrClosed)
	}
	if !r.Subscribes(b.Topic) {
		return nil
	}
	if err := r.g.note(ctx, r.m.home); err != nil {
		return err
	}
	return applyAll(ctx, r.g.p, b, passOver)
}

// Commit replaces the live state with the rebuilt one and removes the old state once its readers
// have released it. It fails with a *BehindError while the live projection has applied more; it may
// then be called again. A crash leaves one of the two live and complete.
func (r *Rebuild) Commit(ctx context.Context) error {
	// Flush most of the state while the live projection still applies batches.
	if err := r.flush(); err != nil {
		return err
	}
	r.m.applying.Lock()
	defer r.m.applying.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := ctx.Err(); err != nil {
		return err
	}
	if r.done {
		return fmt.Errorf("rebuild %s: %w", r.m.home.kind.Name, ErrClosed)
	}
	live, err := r.m.current()
	if err != nil {
		return err
	}
	if have, want := r.Watermark(), live.Watermark(); !have.Covers(want) {
		return &BehindError{r.m.home.kind.Name, have, want}
	}
	if err := r.g.p.Flush(); err != nil {
		return fmt.Errorf("rebuild %s: %w", r.m.home.kind.Name, err)
	}
	if err := r.m.home.publish(r.g.dir); err != nil {
		// It is unknown which of the two CURRENT names. Both are complete, and the next start reads
		// the file.
		return schemas.Fatalf("rebuild %s: %w", r.m.home.kind.Name, err)
	}
	r.done = true
	r.checkpoints(true)

	r.m.mu.Lock()
	old := r.m.live
	r.m.live, r.m.building = r.g, nil
	old.retired = true
	unused := old.readers == 0
	r.m.mu.Unlock()
	if unused {
		r.m.remove(old)
	}
	return nil
}

func (r *Rebuild) flush() error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if r.done {
		return fmt.Errorf("rebuild %s: %w", r.m.home.kind.Name, ErrClosed)
	}
	if err := r.g.p.Flush(); err != nil {
		return fmt.Errorf("rebuild %s: %w", r.m.home.kind.Name, err)
	}
	return nil
}

// Abort ends the rebuild and removes its state. It does nothing after Commit.
func (r *Rebuild) Abort() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.done {
		return nil
	}
	r.done = true
	r.m.mu.Lock()
	r.m.building = nil
	r.m.mu.Unlock()
	return errors.Join(r.g.p.Close(), os.RemoveAll(r.g.dir))
}
