package sealed

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
)

// TempSuffix ends the name of a file that is not yet in place. What a crash leaves of such a file
// must be removed.
const TempSuffix = ".tmp"

// Disk is the set of operations by which files are written, so that a test can break each step.
// Files are read by Map, which is not part of it.
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

// OS is the file system of the operating system.
type OS struct{}

// MkdirAll creates a folder and its parents.
func (OS) MkdirAll(dir string) error { return os.MkdirAll(dir, 0o700) }

// Create creates an empty file.
func (OS) Create(name string) (File, error) {
	return os.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
}

// Rename renames a file and replaces an existing one.
func (OS) Rename(from, to string) error { return os.Rename(from, to) }

// Remove deletes a file.
func (OS) Remove(name string) error { return os.Remove(name) }

// SyncDir makes renames, creations and removals in a folder durable.
func (OS) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// Replace writes a file with the content that write produces and puts it in place under its name in
// one step.
//
// A crash before the rename leaves nothing or a temporary file, which the next start must remove; a
// crash after it leaves the whole file. Without durable nothing is synced: a power cut may then
// leave a file of the right name and wrong content, which is acceptable only for a file whose whole
// content is checked before it is used.
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
		// An error here means that the file is in place but perhaps not durable. The caller tries
		// again and replaces it with the same bytes.
		return d.SyncDir(dir)
	}
	return nil
}
