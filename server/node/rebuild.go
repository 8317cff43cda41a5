package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// Rebuild implements api.Backend. Meanwhile the live projections continue to apply and to answer; a
// crash, an error or the end of the context leaves them unchanged.
func (n *Node) Rebuild(ctx context.Context, r api.RebuildRequest, progress func(api.Progress)) (report api.RebuildReport, err error) {
	ctx, names, done, err := n.work(ctx, r.Projections)
	if err != nil {
		return report, err
	}
	defer done()
	return n.rebuild(ctx, names, newMeter(progress))
}

// rebuild rebuilds projections. The caller holds n.long.
func (n *Node) rebuild(ctx context.Context, names []string, m *meter) (report api.RebuildReport, err error) {
	began := time.Now()
	var all rebuilds
	defer func() {
		// After a commit, Abort does nothing.
		for _, b := range all {
			err = errors.Join(err, b.Abort())
		}
	}()
	for _, name := range names {
		b, err := n.set.Begin(ctx, name)
		if err != nil {
			return report, err
		}
		all = append(all, b)
	}
	var events atomic.Int64
	count := func(more int64) {
		events.Add(more)
		m.add(more)
	}
	// Never read beyond the live projections: a record that they cannot apply is appended to topic
	// rejected by the live stream, and nobody would do so if the rebuilt ones were already past it.
	target := n.set.Watermark()
	for phase := "replay"; ; phase = "catch up" {
		m.begin(phase, missing(all, target))
		if err := n.replay(ctx, all, target, nil, count); err != nil {
			return report, fmt.Errorf("rebuild: %w", err)
		}
		m.end()
		// Read what arrived in the meantime, repeatedly, until it is only a little; commit reads
		// the rest while the live projections are held.
		live := n.set.Watermark()
		if missing(all, live) < replayRecords {
			break
		}
		target = live
	}
	for i, b := range all {
		if err := n.commit(ctx, b, count); err != nil {
			return report, fmt.Errorf("rebuild: %w", err)
		}
		report.Projections = append(report.Projections, api.RebuiltProjection{
			Name: names[i], Generation: n.generation(names[i]), Watermark: b.Watermark(),
		})
	}
	m.begin("switched", 0)
	elapsed := time.Since(began)
	report.Events = events.Load()
	report.ElapsedMS = elapsed.Milliseconds()
	report.PerSecond = float64(report.Events) / elapsed.Seconds()
	n.cfg.Logger.Info("projections rebuilt", "projections", names, "events", report.Events, "took", elapsed)
	return report, nil
}

// commit switches to a rebuild. If the live projection has advanced in the meantime, it is held
// until the rebuild has applied the few missing events: otherwise catching up with a busy log might
// never end.
func (n *Node) commit(ctx context.Context, b *projections.Rebuild, count func(int64)) error {
	err := b.Commit(ctx)
	var behind *projections.BehindError
	if !errors.As(err, &behind) {
		return err
	}
	n.gate.Lock()
	defer n.gate.Unlock()
	if err := n.replay(ctx, b, n.set.Watermark(), nil, count); err != nil {
		return err
	}
	// The set's watermark is that of its slowest projection, so this one may be further.
	for {
		err := b.Commit(ctx)
		if !errors.As(err, &behind) {
			return err
		}
		if err := n.replay(ctx, b, behind.Want, nil, count); err != nil {
			return err
		}
	}
}

// gated is the target of the streams: it applies to the projections, except while gate is
// write-locked.
type gated struct{ n *Node }

func (g gated) Next(tp schemas.TopicPartition) int64 { return g.n.set.Next(tp) }
func (g gated) Watermark() schemas.Watermark         { return g.n.set.Watermark() }

// Flush is called by streams that keep their own position (pipeline.Target).
func (g gated) Flush() error { return g.n.set.Flush() }

func (g gated) Apply(ctx context.Context, b schemas.Batch) error {
	g.n.gate.RLock()
	defer g.n.gate.RUnlock()
	if err := g.n.rejectReused(ctx, b); err != nil {
		return err
	}
	return g.n.set.Apply(ctx, b)
}

// named checks the names of projections; an empty list means all.
func (n *Node) named(names []string) ([]string, error) {
	have := n.set.Names()
	if len(names) == 0 {
		return have, nil
	}
	for i, name := range names {
		if !slices.Contains(have, name) {
			return nil, &badProjection{name, have}
		}
		if slices.Contains(names[:i], name) {
			return nil, &badProjection{name + " (twice)", have}
		}
	}
	return names, nil
}

type badProjection struct {
	name string
	have []string
}

func (e *badProjection) Error() string {
	return fmt.Sprintf("projections: %q: want some of %s, or none for all", e.name, strings.Join(e.have, ", "))
}

func (e *badProjection) Unwrap() error { return schemas.ErrPoison }

// generation returns the folder of a projection's live state, relative to the data directory.
func (n *Node) generation(name string) string {
	rel, err := filepath.Rel(n.dir.path, liveDir(filepath.Join(n.dir.path, projectionsDir), name))
	if err != nil {
		return ""
	}
	return rel
}

// rebuilds combines several rebuilds into one target, so that the log is read once for all.
type rebuilds []*projections.Rebuild

func (all rebuilds) Next(tp schemas.TopicPartition) int64 { return projections.NextOf(all, tp) }

func (all rebuilds) Watermark() schemas.Watermark { return projections.Lowest(all) }

// Apply applies the batch to all concurrently, so that one writes while another computes.
func (all rebuilds) Apply(ctx context.Context, batch schemas.Batch) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, b := range all {
		g.Go(func() error { return b.Apply(ctx, batch) })
	}
	return g.Wait()
}

// DamagedError reports that the stored projections cannot be opened. After Reset, the next Open
// rebuilds them from the log.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string {
	s := "projections: " + e.Err.Error()
	if !strings.Contains(s, "recount rebuild") {
		s += "; `recount rebuild` rebuilds them from the log"
	}
	return s
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Reset removes the stored state of projections whose damage prevents a node from opening; the next
// node rebuilds them from the log. No process may be using the data directory. No names means all.
func Reset(dataDir string, names []string) error {
	d, err := openDataDir(dataDir, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	var have []string
	for _, k := range (Config{}).kinds() {
		have = append(have, k.Name)
	}
	if len(names) == 0 {
		names = have
	}
	for _, name := range names {
		if !slices.Contains(have, name) {
			return errors.Join(&badProjection{name, have}, d.close())
		}
	}
	for _, name := range names {
		// A crash in between leaves the damaged state, or none.
		err = errors.Join(err, os.RemoveAll(filepath.Join(d.path, projectionsDir, name)))
	}
	return errors.Join(err, d.close())
}
