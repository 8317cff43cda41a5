// Package sealedtest tests projections that keep sealed files on a disk that fails.
package sealedtest

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/recountdb/recount/projections/sealed"
)

// NoSync is a disk that does not sync. It is enough for tests that crash only the process, and
// keeps many of them fast.
type NoSync struct{ sealed.OS }

// Create creates a file whose Sync does nothing.
func (d NoSync) Create(name string) (sealed.File, error) {
	f, err := d.OS.Create(name)
	return noSyncFile{f}, err
}

// SyncDir does nothing.
func (NoSync) SyncDir(string) error { return nil }

type noSyncFile struct{ sealed.File }

func (noSyncFile) Sync() error { return nil }

// The modes say what happens at the broken step.
const (
	notStored    = iota // the step fails and does nothing
	butStored           // the step reports failure but does its work
	killed              // the process dies right after the step
	powerCut            // the machine stops right after the step: what was not synced is lost
	powerReorder        // likewise, but renames survive while the data written before them does not
)

var modes = []string{notStored: "not stored", butStored: "stored", killed: "killed", powerCut: "power cut", powerReorder: "power cut, renames kept"}

var errBroken = errors.New("broken on purpose")

// broken is a disk on which one of the steps that change the file system fails.
type broken struct {
	real     NoSync // syncs are simulated here and not done by the machine
	mode     int
	breakAt  int // the number of the step that breaks, from 1
	steps    int
	dead     bool
	unsynced map[string]bool    // files whose content may not survive
	renames  map[string]renamed // by new name: the renames whose folder was not synced
}

type renamed struct {
	from string
	old  []byte // the content that was replaced, nil for none
}

func newBroken(mode, at int) *broken {
	return &broken{mode: mode, breakAt: at, unsynced: map[string]bool{}, renames: map[string]renamed{}}
}

// step performs one step, or breaks it.
func (d *broken) step(do func() error) error {
	if d.dead {
		return errBroken
	}
	if d.steps++; d.steps != d.breakAt {
		return do()
	}
	if d.mode == notStored {
		return errBroken
	}
	err := do()
	if d.mode != butStored {
		d.dead = true
	}
	return errors.Join(errBroken, err)
}

func (d *broken) MkdirAll(dir string) error {
	return d.step(func() error { return d.real.MkdirAll(dir) })
}

func (d *broken) Remove(name string) error {
	return d.step(func() error { return d.real.Remove(name) })
}

func (d *broken) Create(name string) (f sealed.File, err error) {
	err = d.step(func() error {
		f, err = d.real.Create(name)
		d.unsynced[name] = true
		return err
	})
	if err != nil && f != nil {
		f.Close()
		return nil, err
	}
	return &brokenFile{d, f, name}, err
}

func (d *broken) Rename(from, to string) error {
	return d.step(func() error {
		old, _ := os.ReadFile(to)
		d.renames[to] = renamed{from, old}
		d.unsynced[to] = d.unsynced[from]
		delete(d.unsynced, from)
		return d.real.Rename(from, to)
	})
}

func (d *broken) SyncDir(dir string) error {
	return d.step(func() error {
		for to := range d.renames {
			if filepath.Dir(to) == dir {
				delete(d.renames, to)
			}
		}
		return d.real.SyncDir(dir)
	})
}

// cut changes the files as a power cut may.
func (d *broken) cut(t *testing.T, rng *rand.Rand) {
	if d.mode < powerCut {
		return
	}
	for name, lost := range d.unsynced {
		b, err := os.ReadFile(name)
		if !lost || err != nil {
			continue
		}
		switch keep := rng.IntN(len(b) + 1); rng.IntN(4) {
		case 0:
			b = b[:keep]
		case 1:
			clear(b[keep:]) // the size survived, the content did not
		case 2:
			clear(b[keep : keep+rng.IntN(len(b)-keep+1)]) // a part in the middle did not survive
		case 3:
			b = nil
		}
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if d.mode == powerReorder {
		return
	}
	for to, r := range d.renames {
		if err := os.Rename(to, r.from); err != nil && !errors.Is(err, os.ErrNotExist) {
			t.Fatal(err)
		}
		if r.old != nil {
			if err := os.WriteFile(to, r.old, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

type brokenFile struct {
	d    *broken
	f    sealed.File
	name string
}

func (f *brokenFile) Write(b []byte) (n int, err error) {
	err = f.d.step(func() error {
		n, err = f.f.Write(b)
		return err
	})
	return n, err
}

func (f *brokenFile) Sync() error {
	return f.d.step(func() error {
		delete(f.d.unsynced, f.name)
		return nil
	})
}

func (f *brokenFile) Close() error {
	err := f.f.Close() // close in any case, so that the test does not leak the file
	return errors.Join(f.d.step(func() error { return nil }), err)
}
