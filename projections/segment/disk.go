package segment

import (
	"io"
	"os"
)

// disk is what sealing does to the file system, so that a test can break every
// step of it. Reading is by mapped files and is not part of it.
type disk interface {
	MkdirAll(dir string) error
	Create(name string) (syncFile, error)
	Rename(from, to string) error
	Remove(name string) error
	SyncDir(dir string) error
}

type syncFile interface {
	io.WriteCloser
	Sync() error
}

type osDisk struct{}

func (osDisk) MkdirAll(dir string) error            { return os.MkdirAll(dir, 0o755) }
func (osDisk) Create(name string) (syncFile, error) { return os.Create(name) }
func (osDisk) Rename(from, to string) error         { return os.Rename(from, to) }
func (osDisk) Remove(name string) error             { return os.Remove(name) }

func (osDisk) SyncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
