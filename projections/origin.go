package projections

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/recountdb/recount/schemas"
)

// LogIdentity is the log that state is built from. Each generation records it in its file LOG. A log
// that was restored from a copy, truncated or replaced is a different log, even if its offsets look
// right; when the set is opened, state that was built from another log is discarded and rebuilt
// from offset zero.
type LogIdentity interface {
	// Lineage returns the text to record about the log; Diverged reads it back.
	Lineage(ctx context.Context, w schemas.Watermark) (string, error)
	// Diverged returns why the state that was applied up to w, from the log that kept describes,
	// does not belong to this log, or "" if it does. kept is "" if nothing was recorded.
	Diverged(ctx context.Context, kept string, w schemas.Watermark) (why string, err error)
}

const originFile = "LOG"

// diverged compares the log that a generation was built from with the current one. noted reports
// whether the generation has recorded a log.
func (h generations) diverged(ctx context.Context, dir string, p Projection) (why string, noted bool, err error) {
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

// note records the log that a generation is built from. It runs before this process applies its
// first batch: a crash before that leaves the earlier record, which is right for everything that
// has been applied.
func (h generations) note(ctx context.Context, dir string, p Projection) error {
	if h.origin == nil {
		return nil
	}
	kept, err := h.origin.Lineage(ctx, p.Watermark())
	if err != nil {
		return err
	}
	return h.explain("note the log", h.replace(dir, originFile, kept))
}

// note records the log once for each opened generation.
func (g *generation) note(ctx context.Context, h generations) error {
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

// Note records the log again for every projection. It is for logs whose recorded lineage does not
// cover what was read since then (pipeline.Log.Lineage).
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
