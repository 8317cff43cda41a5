package storage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Checkpoint puts a copy of the log at one moment into dir, which must not exist, and calls use,
// during which nothing in dir changes. The copy holds everything that was acknowledged before the
// call, and opens like the log itself. Tables, blob files and segment files are hard links if the
// file system supports them, so that the copy takes little time and space; use must not write to
// them, and dir should be removed when it returns. Appends continue meanwhile; Rewrite waits.
//
// The order of copying makes the copy consistent. The high-water file comes first: it may be behind
// the store but never ahead. The store is then Pebble's own checkpoint. Segment files are last:
// what the store refers to in them was synced before, and they only grow.
func (l *Log) Checkpoint(ctx context.Context, dir string, use func() error) error {
	if !l.enter() {
		return ErrClosed
	}
	defer l.leave()
	l.rewriting.Lock()
	defer l.rewriting.Unlock()
	if err := l.checkpoint(ctx, dir); err != nil {
		return fmt.Errorf("checkpoint of the log: %w", err)
	}
	return use()
}

func (l *Log) checkpoint(ctx context.Context, dir string) error {
	vf := l.opts.FS
	if _, err := vf.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s exists", dir)
	}
	at := &disk{fs: vf, dir: dir}
	if err := makeDir(vf, at.segmentDir()); err != nil {
		return err
	}
	if err := at.writeFormat(); err != nil {
		return err
	}
	if err := l.checkpointHighwater(dir); err != nil {
		return err
	}
	err := l.store.unlessFailed(func() error { return l.store.db.Checkpoint(at.storeDir(), pebble.WithFlushedWAL()) })
	if err != nil {
		return err
	}
	names, err := vf.List(l.disk.segmentDir())
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if _, ok := parseSegmentName(name); !ok {
			continue
		}
		// A file that disappears meanwhile belongs to a topic that was deleted.
		err := vfs.LinkOrCopy(vf, vf.PathJoin(l.disk.segmentDir(), name), vf.PathJoin(at.segmentDir(), name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// checkpointHighwater copies the newest high-water file, which is appended to meanwhile: an
// incomplete record at its end is ignored when it is read.
func (l *Log) checkpointHighwater(dir string) error {
	for {
		nums, err := highwaterFiles(l.opts.FS, l.dir)
		if err != nil {
			return err
		}
		if len(nums) == 0 {
			return damaged("the high-water file is missing")
		}
		newest := nums[len(nums)-1]
		data, err := readFile(l.opts.FS, highwaterName(l.opts.FS, l.dir, newest))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the next file has replaced it
		}
		if err != nil {
			return err
		}
		if m := newMarks(); !m.fold(data) {
			continue // it has just been begun
		}
		return writeFile(l.opts.FS, dir, fmt.Sprintf("%s%06d", highwaterPrefix, newest), data)
	}
}
