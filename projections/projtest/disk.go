package projtest

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/recountdb/recount/projections"
)

// Disk holds a projection's state and can crash.
type Disk interface {
	// Open opens the stored state.
	Open() (projections.Projection, error)
	// Crash runs `during`, which writes to the opened projection, and returns the disk as a crash
	// at some moment of that run may leave it. The opened projection continues unaffected.
	Crash(rng *rand.Rand, during func()) Disk
}

// Directory returns a Disk in a directory of the file system. Its crash is that of the process
// (kill -9): what was written is kept, synced or not. It works for every projection.
func Directory(t *testing.T, kind projections.Definition) Disk {
	return &directory{t: t, kind: kind, dir: t.TempDir()}
}

type directory struct {
	t    *testing.T
	kind projections.Definition
	dir  string
}

func (d *directory) Open() (projections.Projection, error) { return d.kind.Open(d.dir) }

// Crash copies the directory at a moment that the scheduler picks, or after the whole run. If the
// directory changed during a copy, the copy shows no single moment and is repeated.
func (d *directory) Crash(rng *rand.Rand, during func()) Disk {
	copied := &directory{t: d.t, kind: d.kind, dir: d.t.TempDir()}
	if rng.IntN(2) == 0 {
		during()
		d.copyTo(copied.dir)
		return copied
	}
	var wg sync.WaitGroup
	wg.Go(func() { d.copyTo(copied.dir) })
	during()
	wg.Wait()
	return copied
}

func (d *directory) copyTo(dir string) {
	const tries = 1000
	for range tries {
		before := listing(d.dir)
		err := copyTree(d.dir, dir)
		if err == nil && slices.Equal(before, listing(d.dir)) {
			return
		}
		if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o777)); err != nil {
			d.t.Errorf("remove torn copy: %v", err)
			return
		}
		runtime.Gosched()
	}
	d.t.Errorf("copy %s: it changed during each of %d copies", d.dir, tries)
}

// listing returns names, sizes and times of the files in a directory, by which a change is
// detected.
func listing(dir string) []string {
	var all []string
	_ = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			all = append(all, path+": gone")
			return nil
		}
		info, err := e.Info()
		if err != nil {
			all = append(all, path+": gone")
			return nil
		}
		if e.IsDir() {
			all = append(all, path)
			return nil
		}
		all = append(all, fmt.Sprintf("%s %d %d", path, info.Size(), info.ModTime().UnixNano()))
		return nil
	})
	return all
}

func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		if e.IsDir() {
			return os.MkdirAll(target, 0o777)
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := os.Create(target)
		if err != nil {
			return err
		}
		if _, err := io.Copy(out, in); err != nil {
			out.Close()
			return err
		}
		return out.Close()
	})
}
