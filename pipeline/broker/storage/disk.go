package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// formatVersion is the format that this program writes. A directory with a higher one is not
// opened.
const formatVersion = 2

const (
	lockFile   = "LOCK"
	formatFile = "FORMAT"
	storeDir   = "store"
)

// disk is the locked directory of a log.
type disk struct {
	fs   vfs.FS
	dir  string
	lock io.Closer

	// The content of the high-water files at opening.
	marks    marks
	marked   bool
	lastMark uint64
}

func (d *disk) readMarks() (err error) {
	d.marks, d.lastMark, d.marked, err = readHighwater(d.fs, d.dir)
	return err
}

// openDisk creates the directory if needed, locks it, and checks its format.
func openDisk(vf vfs.FS, dir string) (_ *disk, err error) {
	if err := makeDir(vf, dir); err != nil {
		return nil, fmt.Errorf("create the directory: %w", err)
	}
	d := &disk{fs: vf, dir: dir}
	if d.lock, err = vf.Lock(vf.PathJoin(dir, lockFile)); err != nil {
		if errors.Is(err, fs.ErrPermission) || isReadOnly(err) {
			return nil, fmt.Errorf("the directory cannot be written to: %w", err)
		}
		return nil, fmt.Errorf("%w: another process has the log open (stop it, or use another directory): %w", ErrLocked, err)
	}
	if err := d.checkFormat(); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *disk) storeDir() string   { return d.fs.PathJoin(d.dir, storeDir) }
func (d *disk) segmentDir() string { return d.fs.PathJoin(d.dir, segmentDir) }

func (d *disk) close() error {
	if d == nil || d.lock == nil {
		return nil
	}
	err := d.lock.Close()
	d.lock = nil
	return err
}

// checkFormat reads the format file, or writes it in a directory without a store.
func (d *disk) checkFormat() error {
	name := d.fs.PathJoin(d.dir, formatFile)
	text, err := readFile(d.fs, name)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := d.fs.Stat(d.storeDir()); err == nil {
			return damaged("%s is missing beside a store", formatFile)
		}
		return d.writeFormat()
	}
	if err != nil {
		return fmt.Errorf("read format: %w", err)
	}
	rest, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "recount-log ")
	v, err := strconv.Atoi(rest)
	if !ok || err != nil || v < 1 {
		return damaged("%s holds %q", formatFile, text)
	}
	if v > formatVersion {
		return fmt.Errorf("%w: its format is %d, this program knows up to %d", ErrNewerFormat, v, formatVersion)
	}
	if v < formatVersion {
		// The older format can be read, but an older program could not read what this one writes.
		return d.writeFormat()
	}
	return nil
}

func (d *disk) writeFormat() error {
	return writeFile(d.fs, d.dir, formatFile, []byte("recount-log "+strconv.Itoa(formatVersion)+"\n"))
}

// makeDir creates dir durably: the entry of a new directory is only as durable as the directory
// above it.
func makeDir(vf vfs.FS, dir string) error {
	if _, err := vf.Stat(dir); err == nil {
		return nil
	}
	parent := vf.PathDir(dir)
	if parent != dir && parent != "." && parent != "" {
		if err := makeDir(vf, parent); err != nil {
			return err
		}
	}
	if err := vf.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	return syncDir(vf, parent)
}

func readFile(vf vfs.FS, name string) (_ []byte, err error) {
	f, err := vf.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(f)
}

// writeFile replaces a file atomically: a crash leaves the old or the new one.
func writeFile(vf vfs.FS, dir, name string, data []byte) error {
	tmp := vf.PathJoin(dir, name+".tmp")
	f, err := vf.Create(tmp, vfs.WriteCategoryUnspecified)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := vf.Rename(tmp, vf.PathJoin(dir, name)); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return syncDir(vf, dir)
}

func syncDir(vf vfs.FS, dir string) error {
	d, err := vf.OpenDir(dir)
	if err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
