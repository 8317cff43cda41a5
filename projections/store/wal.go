package store

import (
	"strings"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// deleter deletes what the store no longer needs, WALs too: Pebble would keep up to
// three that were filled, to write over them. It does not where its cleaner may want to
// read a file, which is what the methods of noReuse say to it.
type deleter struct {
	pebble.DeleteCleaner
	noReuse
}

type noReuse struct{ pebble.ArchiveCleaner }

// walFS keeps Pebble from seeing that its WAL cannot be written. It would panic,
// with a lock in a state that no recover can mend, and take the process with it.
// Instead the store is failed and the call never returns, as in Fatalf.
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

// OpenDir watches a directory: where its sync fails, while the marker of the manifest
// moves, Pebble panics in a goroutine of its own.
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
		return file, err // WALCreated is told of the WAL's
	}
	return walFile{file, f.d}, nil
}

type walFile struct {
	vfs.File
	d *DB
}

// Preallocate does nothing. Nobody waits for this WAL to be synced, so that space
// reserved for it, more than a whole memory table's for each store, gained nothing.
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

// stopOn fails the store and parks the calling goroutine, if there is an error.
func (d *DB) stopOn(err error) {
	if err != nil {
		d.fail(err)
		select {}
	}
}
