// Package storetest gives projections over package store a disk to crash in
// projtest: a file system in memory that, when the power is cut, keeps what was
// synced and any part of what was not.
package storetest

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/store"
)

// OpenFunc opens a projection with options for its store.
type OpenFunc func(dir string, o store.Options) (projections.Projection, error)

const dir = "state"

// Disks returns the disks on which a projection is crashed: the directory, whose
// crash is kill -9, and the power cut.
func Disks(name string, open OpenFunc) map[string]func(t *testing.T) projtest.Disk {
	return map[string]func(t *testing.T) projtest.Disk{
		"kill": func(t *testing.T) projtest.Disk {
			return projtest.Directory(t, projections.Kind{Name: name, Open: func(dir string) (projections.Projection, error) {
				return open(dir, small(nil))
			}})
		},
		"power": func(t *testing.T) projtest.Disk { return PowerCut(t, open) },
	}
}

// small makes tables and compactions come early.
func small(fs vfs.FS) store.Options { return store.Options{FS: fs, MemTableBytes: 256 << 10} }

// PowerCut is the disk in memory. The cut comes at any of the moments at which
// something is about to be written, each as likely as the others.
func PowerCut(t *testing.T, open OpenFunc) projtest.Disk {
	mem := vfs.NewCrashableMem()
	if err := mem.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	root, err := mem.OpenDir("/")
	if err != nil {
		t.Fatal(err)
	}
	if err := root.Sync(); err != nil {
		t.Fatal(err)
	}
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	return &powerCut{mem: mem, open: open}
}

type powerCut struct {
	mem  *vfs.MemFS
	open OpenFunc

	// mu guards the cut being prepared.
	mu     sync.Mutex
	rng    *rand.Rand // nil while none is
	writes int
	left   *vfs.MemFS
}

func (d *powerCut) Open() (projections.Projection, error) {
	fs := errorfs.Wrap(d.mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			d.beforeWrite()
		}
		return nil
	}))
	return d.open(dir, small(fs))
}

// beforeWrite takes the n-th moment in place of the one chosen so far with
// probability 1/n.
func (d *powerCut) beforeWrite() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rng == nil {
		return
	}
	if d.writes++; d.rng.IntN(d.writes) == 0 {
		d.left = d.cut()
	}
}

func (d *powerCut) cut() *vfs.MemFS {
	unsynced := []int{0, 0, 10, 50, 90, 100}[d.rng.IntN(6)]
	return d.mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: unsynced, RNG: d.rng})
}

func (d *powerCut) Crash(rng *rand.Rand, during func()) projtest.Disk {
	// The cut has randomness of its own: background work draws from it too.
	d.mu.Lock()
	d.rng, d.writes, d.left = rand.New(rand.NewPCG(rng.Uint64(), 0)), 0, nil
	d.mu.Unlock()
	during()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.left == nil {
		d.left = d.cut()
	}
	d.rng = nil
	return &powerCut{mem: d.left, open: d.open}
}
