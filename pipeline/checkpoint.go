package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/recountdb/recount/schemas"
)

// checkpoint stores where to resume reading a derived topic after a crash. Projections store their
// positions in the log, not in a topic derived from it, and may lose what they have not flushed. A
// position committed to Kafka would then be ahead of them, and the difference would be lost for
// ever. So the projections are flushed first, and then the position is stored that the derived
// topic had been applied to before the flush.
//
// The file <dir>/<name>.json holds {"partitions":"topic/partition:next,…"} and the lineage of the
// log (lineage.go): on another log, reading starts at the beginning. A crash before the file is
// replaced leaves the old one; more is then read again, and skipped by origin. The file is in the
// data directory, so that a new directory starts from the beginning.
type checkpoint struct {
	path   string
	target Target
	of     *Log
	log    *slog.Logger

	mu      sync.Mutex
	applied schemas.Watermark

	saving sync.Mutex
	saved  schemas.Watermark // guarded by saving
}

type checkpointFile struct {
	Partitions string `json:"partitions"`
	// Of is the result of Log.Lineage.
	Of string `json:"of,omitempty"`
}

func openCheckpoint(ctx context.Context, of *Log, dir, name string, t Target, log *slog.Logger) (*checkpoint, error) {
	c := &checkpoint{
		path: filepath.Join(dir, name+".json"), target: t, of: of, log: log,
		applied: schemas.Watermark{}, saved: schemas.Watermark{},
	}
	b, err := os.ReadFile(c.path)
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	var f checkpointFile
	if err := json.Unmarshal(b, &f); err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w: remove the file to read from the start", c.path, err)
	}
	w, err := schemas.ParseWatermark(f.Partitions)
	if err != nil {
		return nil, fmt.Errorf("checkpoint %s: %w: remove the file to read from the start", c.path, err)
	}
	why, err := of.Diverged(ctx, f.Of, w)
	if err != nil {
		return nil, fmt.Errorf("checkpoint: %w", err)
	}
	if why != "" {
		log.Warn("the checkpoint belongs to another log: reading from the start", slog.String("why", why))
		return c, nil
	}
	c.applied, c.saved = w, maps.Clone(w)
	return c, nil
}

func (c *checkpoint) next(tp schemas.TopicPartition) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.applied[tp]
}

func (c *checkpoint) advance(tp schemas.TopicPartition, next int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.applied[tp] = next
}

func (c *checkpoint) run(ctx context.Context, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			if err := c.save(ctx); err != nil {
				c.log.Warn("checkpoint could not be written: more will be read again after a restart", slog.Any("err", err))
			}
		}
	}
}

// save flushes the projections and stores the position they had applied before.
func (c *checkpoint) save(ctx context.Context) error {
	c.saving.Lock()
	defer c.saving.Unlock()
	c.mu.Lock()
	w := maps.Clone(c.applied)
	c.mu.Unlock()
	if maps.Equal(w, c.saved) {
		return nil
	}
	if f, ok := c.target.(interface{ Flush() error }); ok {
		if err := f.Flush(); err != nil {
			return fmt.Errorf("checkpoint: flush: %w", err)
		}
	}
	of, err := c.of.Lineage(ctx, w)
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	b, err := json.Marshal(checkpointFile{w.String(), of})
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	if err := replaceFile(c.path, b); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	c.saved = w
	return nil
}

// replaceFile writes a temporary file, syncs it, renames it and syncs the directory: a crash at any
// point leaves the old content or the new.
func replaceFile(path string, content []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	tmp := path + ".new"
	f, err := os.OpenFile(tmp, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(tmp, path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
