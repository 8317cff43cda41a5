package sealed

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// TempSuffix ends the name of a file that is not in place yet. What a crash left
// of one is to be removed.
const TempSuffix = ".tmp"

// Disk is what writing does to the file system, so that a test can break every
// step of it. Reading is by Map and is not part of it.
type Disk interface {
	MkdirAll(dir string) error
	Create(name string) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(dir string) error
}

// File is a file being written.
type File interface {
	io.WriteCloser
	Sync() error
}

// OS is the machine's own file system.
type OS struct{}

// MkdirAll makes a folder and those above it.
func (OS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o700) }

// Create makes an empty file.
func (OS) Create(name string) (File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// Rename puts a file in another's place.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove deletes a file.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir makes durable what was renamed, made and removed in a folder.
func (OS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Replace puts a file with the content that write gives in place under its name,
// in one step.
//
// A crash before the rename leaves a temporary file, which the next start is to
// remove, or nothing; one after the rename leaves the whole file. With durable
// unset nothing is synced: a power cut may then leave a file of the right name
// and wrong content, which only a file whose content is checked in whole before
// it is used can afford.
func Replace(d Disk, dir, name string, durable bool, write func(io.Writer) error) error {
	final := filepath.Join(dir, name)
	temp := final + TempSuffix
	f, err := d.Create(temp)
	if err != nil {
		return err
	}
	buffered := bufio.NewWriterSize(f, 1<<18)
	if err = write(buffered); err == nil {
		err = buffered.Flush()
	}
	if err == nil && durable {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = d.Rename(temp, final)
	}
	if err != nil {
		_ = d.Remove(temp) // best effort: the next start removes it too
		return err
	}
	if durable {
		// An error here means: stored, perhaps not yet for good. The caller tries
		// again and puts the same bytes over it.
		return d.SyncDir(dir)
	}
	return nil
}
