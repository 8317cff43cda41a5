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

// Rebuild is Backend.Rebuild. The live projections answer and go on meanwhile;
// a crash, a failure or the context's end leaves them as they are.
func (n *Node) Rebuild(ctx context.Context, r api.RebuildRequest, progress func(api.Progress)) (report api.RebuildReport, err error) {
	ctx, names, done, err := n.work(ctx, r.Projections)
	if err != nil {
		return report, err
	}
	defer done()
	return n.rebuild(ctx, names, newMeter(progress))
}

// rebuild makes projections anew. n.long is held.
func (n *Node) rebuild(ctx context.Context, names []string, m *meter) (report api.RebuildReport, err error) {
	began := time.Now()
	var all rebuilds
	defer func() {
		// After a commit this does nothing.
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
	// Never beyond the live ones: what they pass over is rejected by who applies to
	// them, and would be by nobody once these, already behind it, are in their place.
	target := n.set.Watermark()
	for phase := "replay"; ; phase = "catch up" {
		m.begin(phase, distance(all.Watermark(), target))
		if err := n.replay(ctx, all, target, nil, count); err != nil {
			return report, fmt.Errorf("rebuild: %w", err)
		}
		m.end()
		// What came in meanwhile is read as well, until hardly anything did; the
		// little that is left is read while the projections stand still.
		live := n.set.Watermark()
		if distance(all.Watermark(), live) < replayRecords {
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

// commit switches to a rebuild. Where the live projection has read on meanwhile,
// it is held still for the few events that the rebuild lacks: following a log
// that grows as fast as it is read might never end.
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
	// The set's watermark is that of its slowest projection.
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

// gated lets the streams apply to the projections, but while gate is held for
// writing.
type gated struct{ n *Node }

func (g gated) Next(tp schemas.TopicPartition) int64 { return g.n.set.Next(tp) }
func (g gated) Watermark() schemas.Watermark         { return g.n.set.Watermark() }

// Flush is asked for by streams that keep their own place (pipeline.Target).
func (g gated) Flush() error { return g.n.set.Flush() }

func (g gated) Apply(ctx context.Context, b schemas.Batch) error {
	g.n.gate.RLock()
	defer g.n.gate.RUnlock()
	if err := g.n.rejectReused(ctx, b); err != nil {
		return err
	}
	return g.n.set.Apply(ctx, b)
}

// named checks the names of projections; none means all.
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
	return fmt.Sprintf("projections: %q: want some of %q, or none for all", e.name, e.have)
}

func (e *badProjection) Unwrap() error { return schemas.ErrPoison }

// generation is the folder of a projection's live state.
func (n *Node) generation(name string) string {
	rel, err := filepath.Rel(n.dir.path, liveDir(filepath.Join(n.dir.path, projectionsDir), name))
	if err != nil {
		return ""
	}
	return rel
}

// rebuilds is several rebuilds as one target: the log is read once for all.
type rebuilds []*projections.Rebuild

func (all rebuilds) Next(tp schemas.TopicPartition) int64 { return projections.NextOf(all, tp) }

func (all rebuilds) Watermark() schemas.Watermark { return projections.Lowest(all) }

// Apply gives the batch to all at once: one writes while another computes.
func (all rebuilds) Apply(ctx context.Context, batch schemas.Batch) error {
	g, ctx := errgroup.WithContext(ctx)
	for _, b := range all {
		g.Go(func() error { return b.Apply(ctx, batch) })
	}
	return g.Wait()
}

// DamagedError: the projections cannot be opened as they are stored. Reset and
// opening again make them anew from the log.
type DamagedError struct{ Err error }

func (e *DamagedError) Error() string {
	s := "projections: " + e.Err.Error()
	if !strings.Contains(s, "recount rebuild") {
		s += "; `recount rebuild` makes them anew from the log"
	}
	return s
}

func (e *DamagedError) Unwrap() error { return e.Err }

// Reset removes the stored state of projections whose damage keeps a node from
// opening; the next node reads it from the log again. No process may have the
// data directory. No names means all.
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
		// A crash on the way leaves a state that is damaged still, or gone.
		err = errors.Join(err, os.RemoveAll(filepath.Join(d.path, projectionsDir, name)))
	}
	return errors.Join(err, d.close())
}
