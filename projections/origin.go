package projections

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recountdb/recount/schemas"
)

// Origin is the log that state is made from, as a generation notes it in its file LOG.
// A log that was restored from a copy, cut or exchanged is not the one any more, although
// its offsets may look like it: state that was made from another is begun anew when the
// set is opened.
type Origin interface {
	// Lineage is what to note of the log: it is read back by Diverged.
	Lineage(ctx context.Context, w schemas.Watermark) (string, error)
	// Diverged says why what was made up to w from the log that kept tells of is not of
	// this log; "" if it is. kept is "" where nothing was noted.
	Diverged(ctx context.Context, kept string, w schemas.Watermark) (why string, err error)
}

const originFile = "LOG"

// diverged compares what a generation was made from with the log.
func (h home) diverged(ctx context.Context, dir string, p Projection) (why string, noted bool, err error) {
	if h.origin == nil {
		return "", true, nil
	}
	b, err := os.ReadFile(filepath.Join(dir, originFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", false, h.explain("open", err)
	}
	why, err = h.origin.Diverged(ctx, string(b), p.Watermark())
	return why, len(b) > 0, err
}

// note notes what a generation is made from. It comes before the first batch of this
// process is applied: a crash before leaves what was noted earlier, which holds for all
// that has been applied.
func (h home) note(ctx context.Context, dir string, p Projection) error {
	if h.origin == nil {
		return nil
	}
	kept, err := h.origin.Lineage(ctx, p.Watermark())
	if err != nil {
		return err
	}
	return h.explain("note the log", h.replace(dir, originFile, kept))
}

// note does it once for each generation that is opened.
func (g *generation) note(ctx context.Context, h home) error {
	g.noting.Lock()
	defer g.noting.Unlock()
	if g.noted {
		return nil
	}
	if err := h.note(ctx, g.dir, g.p); err != nil {
		return err
	}
	g.noted = true
	return nil
}

// Note notes anew what the state is made from. It is for logs of which a lineage tells
// nothing about what was read since (pipeline.Log.Lineage).
func (s *Set) Note(ctx context.Context) error {
	var errs []error
	for _, m := range s.members {
		m.applying.RLock()
		m.mu.Lock()
		g, closed := m.live, m.closed
		m.mu.Unlock()
		if !closed {
			g.noting.Lock()
			errs = append(errs, m.home.note(ctx, g.dir, g.p))
			g.noting.Unlock()
		}
		m.applying.RUnlock()
	}
	return errors.Join(errs...)
}
