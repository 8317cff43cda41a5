// Package storetest provides the disks on which projtest crashes projections over package store.
// One is a file system in memory that, when the power is cut, keeps what was synced and a random
// part of what was not.
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

// Disks returns the disks on which a projection is crashed: "kill", a directory whose crash is kill
// -9, and "power", the power cut.
func Disks(name string, open OpenFunc) map[string]func(t *testing.T) projtest.Disk {
	return map[string]func(t *testing.T) projtest.Disk{
		"kill": func(t *testing.T) projtest.Disk {
			return projtest.Directory(t, projections.Definition{Name: name, Open: func(dir string) (projections.Projection, error) {
				return open(dir, small(nil))
			}})
		},
		"power": func(t *testing.T) projtest.Disk { return PowerCut(t, open) },
	}
}

// small returns options under which tables and compactions come early.
func small(fs vfs.FS) store.Options { return store.Options{FS: fs, MemTableBytes: 256 << 10} }

// PowerCut returns the disk in memory. The power is cut just before one of the writes, each with
// equal probability.
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
	rng    *rand.Rand // nil while no cut is prepared
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

// beforeWrite makes the n-th write the moment of the cut with probability 1/n, in place of the one
// chosen so far.
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
	// The cut has a random generator of its own, since background work draws from it too.
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
