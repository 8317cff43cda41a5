package broker

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// What Pebble does about a disk that cannot be written to is not fit for a
// process that goes on to serve reads. If the WAL fails while it is changed for
// the next one, it panics without a lock that its deferred calls then unlock,
// which no recover can catch: the process is gone. If a flush or a compaction
// fails it tries again at once and for ever, while writers wait without an
// answer. So the store is failed before Pebble comes to that.

// guardFS keeps errors of the WAL, the manifest and directories from Pebble: the
// store is failed, and the call never returns. Pebble makes those calls without
// the lock that readers need, and with the one that keeps the rest of it from
// writing the same file. While the store opens errors go to Pebble, which then
// returns them.
type guardFS struct {
	vfs.FS
	s *store
}

func (f guardFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return f.watch(name, file, err)
}

func (f guardFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	if f.s.scrubbing.Load() {
		// A WAL written over another keeps what that held behind its own end.
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

// guard fails the store if there is an error, and parks the caller.
func (s *store) guard(err error) error {
	if err == nil || !s.opened.Load() {
		return err
	}
	s.fail(err)
	select {}
}

const (
	// A flush or a compaction that the disk refuses is tried so often, so far
	// apart, before the store is failed. The pause is short because Pebble calls
	// us with its lock held.
	backgroundTries = 20
	backgroundPause = 100 * time.Millisecond
	// emptyTable is how Pebble reports a flush that had nothing to write.
	emptyTable = "pebble: empty table"
)

// background is told how a flush or a compaction ended; failures counts those
// that have failed since the last that did not.
func (s *store) background(what string, failures *int, err error) {
	switch {
	case errors.Is(err, pebble.ErrCancelledCompaction), pebble.IsCorruptionError(err):
		return // by design, and left alone by Pebble for a while
	case err == nil, err.Error() == emptyTable:
		*failures = 0
		return
	}
	if *failures++; *failures < backgroundTries && s.failure() == nil {
		time.Sleep(backgroundPause)
		return
	}
	s.fail(fmt.Errorf("%s, tried %d times: %w", what, *failures, err))
	// Ends Pebble's goroutine: its deferred calls give back the lock, and no other
	// is started, because this one is never reported as ended.
	runtime.Goexit()
}
