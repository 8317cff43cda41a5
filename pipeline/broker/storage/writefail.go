package storage

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Pebble's handling of a disk that cannot be written to does not suit a process that continues to
// serve reads. If the WAL fails while it is rotated, Pebble panics without a lock that its deferred
// calls then unlock, which no recover can catch: the process ends. If a flush or a compaction
// fails, Pebble retries at once and for ever, while writers wait without an answer. So the store is
// failed before Pebble gets there.

// guardFS keeps errors of the WAL, the manifest and directories from Pebble: it fails the store,
// and the call never returns. Pebble makes those calls without the lock that readers need, and with
// the one that keeps the rest of it from writing the same file. The same holds while the store
// opens: Pebble would panic over some of these errors in a goroutine of its own; instead Open
// returns what failed the store.
type guardFS struct {
	vfs.FS
	s *store
}

// Open records what Pebble reads while it opens, and checks the footer of a blob file: if that is
// missing or damaged, Pebble panics, but not over an error of another kind.
func (f guardFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	if !f.s.opened.Load() {
		f.s.reading.Store(&name)
	}
	if strings.HasSuffix(name, ".blob") {
		if err := soundBlob(f.FS, name); err != nil {
			return nil, err
		}
	}
	return f.FS.Open(name, opts...)
}

func (f guardFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return f.watch(name, file, err)
}

func (f guardFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.s.scrubbing.Load() {
		// A WAL written over another keeps the rest of the old contents after its own end.
		if err := f.s.guard(f.FS.Remove(oldname)); err != nil {
			return nil, err
		}
		return f.Create(newname, c)
	}
	file, err := f.FS.ReuseForWrite(oldname, newname, c)
	return f.watch(newname, file, err)
}

func (f guardFS) OpenDir(name string) (vfs.File, error) {
	file, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return guardFile{file, f.s}, nil
}

func (f guardFS) Unwrap() vfs.FS { return f.FS }

func (f guardFS) watch(name string, file vfs.File, err error) (vfs.File, error) {
	base := f.PathBase(name)
	if strings.HasSuffix(base, ".blob") && err == nil {
		return blobFile{file, f.s}, nil
	}
	if !strings.HasSuffix(base, ".log") && !strings.HasPrefix(base, "MANIFEST-") && !strings.HasPrefix(base, "marker.") {
		return file, err
	}
	if err := f.s.guard(err); err != nil {
		return nil, err
	}
	if strings.HasSuffix(base, ".log") {
		return &walFile{File: guardFile{file, f.s}}, nil
	}
	return guardFile{file, f.s}, nil
}

type guardFile struct {
	vfs.File
	s *store
}

func (f guardFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	return n, f.s.guard(err)
}

func (f guardFile) Sync() error     { return f.s.guard(f.File.Sync()) }
func (f guardFile) SyncData() error { return f.s.guard(f.File.SyncData()) }
func (f guardFile) Close() error    { return f.s.guard(f.File.Close()) }

func (f guardFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.s.guard(err)
}

// blobFile is a blob file being written. If its last bytes cannot be written or synced, Pebble
// panics in a goroutine of its own, while it opens as well as later. So a failed write is retried
// here, and then the store is failed.
type blobFile struct {
	vfs.File
	s *store
}

func (f blobFile) Write(p []byte) (int, error) {
	done := 0
	for try := 1; ; try++ {
		n, err := f.File.Write(p[done:])
		if done += n; err == nil {
			return done, nil
		}
		if try >= backgroundTries || f.s.failure() != nil || !f.s.opened.Load() {
			return done, f.stop(err)
		}
		time.Sleep(backgroundPause)
	}
}

func (f blobFile) Sync() error     { return f.stop(f.File.Sync()) }
func (f blobFile) SyncData() error { return f.stop(f.File.SyncData()) }
func (f blobFile) Close() error    { return f.stop(f.File.Close()) }

func (f blobFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	return full, f.stop(err)
}

// stop is guard, for an error that does not name the file.
func (f blobFile) stop(err error) error {
	if err == nil {
		return nil
	}
	return f.s.guard(fmt.Errorf("write a blob file: %w", err))
}

// guard fails the store if err is not nil, and parks the caller.
func (s *store) guard(err error) error {
	if err == nil {
		return nil
	}
	s.fail(err)
	select {}
}

const (
	// A flush or a compaction that the disk refuses is retried this often, with this pause, before
	// the store is failed. The pause is short because Pebble calls us with its lock held.
	backgroundTries = 20
	backgroundPause = 100 * time.Millisecond
	// emptyTable is how Pebble reports a flush that had nothing to write.
	emptyTable = "pebble: empty table"
)

// background is called with the result of each flush and compaction; failures counts consecutive
// failures.
func (s *store) background(what string, failures *int, err error) {
	switch {
	case errors.Is(err, pebble.ErrCancelledCompaction), pebble.IsCorruptionError(err):
		return // expected, and Pebble does not retry at once
	case err == nil, err.Error() == emptyTable:
		*failures = 0
		return
	}
	if *failures++; *failures < backgroundTries && s.failure() == nil && s.opened.Load() {
		time.Sleep(backgroundPause)
		return
	}
	s.fail(fmt.Errorf("%s, tried %d times: %w", what, *failures, err))
	// Goexit ends Pebble's goroutine: its deferred calls release the lock, and no other goroutine
	// is started, because this one is never reported as ended.
	runtime.Goexit()
}
