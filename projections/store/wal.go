package store

import (
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// deleter deletes files that the store no longer needs, including WALs: Pebble would keep up to
// three filled ones to overwrite them. Embedding noReuse tells Pebble that the cleaner may need
// obsolete files, so that it does not reuse them.
type deleter struct {
	pebble.DeleteCleaner
	noReuse
}

type noReuse struct{ pebble.ArchiveCleaner }

// walFS hides from Pebble that its WAL cannot be written. Pebble would panic while it holds a lock
// that no recover can release, and end the process. Instead the store fails and the call never
// returns, as in Fatalf.
type walFS struct {
	vfs.FS
	d *DB
}

func (f walFS) Create(name string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, c)
	return f.watch(name, file, err)
}

func (f walFS) ReuseForWrite(oldname, newname string, c vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(oldname, newname, c)
	return f.watch(newname, file, err)
}

// OpenDir returns a directory whose failed sync fails the store. If it fails while the marker of
// the manifest moves, Pebble panics in a goroutine of its own.
func (f walFS) OpenDir(name string) (vfs.File, error) {
	dir, err := f.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return dirFile{dir, f.d}, nil
}

type dirFile struct {
	vfs.File
	d *DB
}

func (f dirFile) Sync() error {
	f.d.stopOn(f.File.Sync())
	return nil
}

func (f walFS) watch(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil || !strings.HasSuffix(name, ".log") {
		return file, err // WALCreated receives the error for a WAL
	}
	return walFile{file, f.d}, nil
}

type walFile struct {
	vfs.File
	d *DB
}

// Preallocate does nothing. No caller waits for this WAL to be synced, so reserving space for it,
// more than a memory table per store, would gain nothing.
func (walFile) Preallocate(offset, length int64) error { return nil }

func (f walFile) Write(p []byte) (int, error) {
	n, err := f.File.Write(p)
	f.d.stopOn(err)
	return n, nil
}

func (f walFile) Sync() error {
	f.d.stopOn(f.File.Sync())
	return nil
}

func (f walFile) SyncData() error {
	f.d.stopOn(f.File.SyncData())
	return nil
}

func (f walFile) SyncTo(length int64) (bool, error) {
	full, err := f.File.SyncTo(length)
	f.d.stopOn(err)
	return full, nil
}

func (f walFile) Close() error {
	f.d.stopOn(f.File.Close())
	return nil
}

// stopOn, if err is not nil, fails the store and blocks the calling goroutine for ever.
func (d *DB) stopOn(err error) {
	if err != nil {
		d.fail(err)
		select {}
	}
}
