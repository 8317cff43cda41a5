package segment

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
)

// What happens to the step that is broken.
const (
	notStored    = iota // it fails and did nothing
	butStored           // it reports failure but did its work
	killed              // the process dies right after it: nothing follows
	powerCut            // so does the machine: what was not synced is gone
	powerReorder        // likewise, but renames survive and the data before them does not
)

var modes = []string{notStored: "not stored", butStored: "stored", killed: "killed", powerCut: "power cut", powerReorder: "power cut, renames kept"}

var errBroken = errors.New("broken on purpose")

// brokenDisk breaks one step of all that change the file system.
type brokenDisk struct {
	real     noSync // what a sync is worth is known here, not asked of the machine
	mode     int
	breakAt  int // the step that breaks, from 1
	steps    int
	dead     bool
	unsynced map[string]bool    // files whose content may not survive
	renames  map[string]renamed // by new name: those whose folder was not synced
}

type renamed struct {
	from string
	old  []byte // what was there before, nil for nothing
}

func newBrokenDisk(mode, at int) *brokenDisk {
	return &brokenDisk{mode: mode, breakAt: at, unsynced: map[string]bool{}, renames: map[string]renamed{}}
}

// step does one step, or breaks it.
func (d *brokenDisk) step(do func() error) error {
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

func (d *brokenDisk) MkdirAll(dir string) error {
	return d.step(func() error { return d.real.MkdirAll(dir) })
}

func (d *brokenDisk) Remove(name string) error {
	return d.step(func() error { return d.real.Remove(name) })
}

func (d *brokenDisk) Create(name string) (f syncFile, err error) {
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

func (d *brokenDisk) Rename(from, to string) error {
	return d.step(func() error {
		old, _ := os.ReadFile(to)
		d.renames[to] = renamed{from, old}
		d.unsynced[to] = d.unsynced[from]
		delete(d.unsynced, from)
		return d.real.Rename(from, to)
	})
}

func (d *brokenDisk) SyncDir(dir string) error {
	return d.step(func() error {
		for to := range d.renames {
			if filepath.Dir(to) == dir {
				delete(d.renames, to)
			}
		}
		return d.real.SyncDir(dir)
	})
}

// cut does to the files what a power cut may.
func (d *brokenDisk) cut(t *testing.T, rng *rand.Rand) {
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
			clear(b[keep : keep+rng.IntN(len(b)-keep+1)]) // a page in the middle did not
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
	d    *brokenDisk
	f    syncFile
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
	err := f.f.Close() // always: the test must not leak it
	return errors.Join(f.d.step(func() error { return nil }), err)
}

// TestEveryStepBroken breaks every step that changes the disk, one run each, in
// every way. A failed step is tried again by applying the batch again; a dead
// process is followed by another one. Both must come to the state and the files
// of an undisturbed run, and the state found after a crash must be the one at
// its own watermark.
func TestEveryStepBroken(t *testing.T) {
	sh := projtest.Generate(11, 1, 90)[0]
	vary(&sh)
	opts := Options{SealRows: 32, CheckpointRows: 11}
	want := open(t, t.TempDir(), opts)
	feed(t, want, sh)
	closeOf(t, want)
	want = open(t, want.dir, opts)
	t.Cleanup(func() { closeOf(t, want) })

	for mode, name := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			breakEveryStep(t, mode, sh, opts, want)
		})
	}
}

func breakEveryStep(t *testing.T, mode int, sh projtest.Shard, opts Options, want *Projection) {
	for at := 1; ; at++ {
		name := fmt.Sprintf("step %d", at)
		disk := newBrokenDisk(mode, at)
		dir := t.TempDir()
		broken := opts
		broken.disk = disk
		p := open(t, dir, broken)
		feedBroken(t, name, p, sh, disk)
		if disk.steps < at {
			closeOf(t, p)
			if at < 40 {
				t.Fatalf("%d steps in the whole run: too few to mean anything", at)
			}
			break
		}
		before := p.Watermark()
		if err := p.Close(); (err != nil) != disk.dead {
			t.Fatalf("%s: close: %v", name, err)
		}
		disk.cut(t, rand.New(rand.NewPCG(uint64(at), uint64(mode))))

		p = open(t, dir, opts)
		found := p.Watermark()
		if !before.Covers(found) {
			t.Fatalf("%s: found at %s, was at %s", name, found, before)
		}
		if !disk.dead && !found.Covers(before) {
			t.Fatalf("%s: closed at %s, found at %s", name, before, found)
		}
		upTo := open(t, t.TempDir(), opts)
		if err := upTo.Apply(t.Context(), sh.Batch(0, found[sh.TP])); err != nil {
			t.Fatal(err)
		}
		same(t, name+", found", p, upTo)
		closeOf(t, upTo)
		feed(t, p, sh)
		same(t, name+", at the end", p, want)
		if damage, err := p.Verify(t.Context()); len(damage) > 0 || err != nil {
			t.Fatalf("%s: %v %v", name, damage, err)
		}
		closeOf(t, p)
		if left, _ := filepath.Glob(filepath.Join(dir, "*", "*"+tempSuffix)); len(left) > 0 {
			t.Fatalf("%s: left over: %v", name, left)
		}
	}
}

// feedBroken applies the shard in small batches with flushes in between. What
// fails is tried again, as the pipeline does, until the process is dead.
func feedBroken(t *testing.T, name string, p *Projection, sh projtest.Shard, disk *brokenDisk) {
	t.Helper()
	again := func(do func() error) {
		for tries := 0; ; tries++ {
			err := do()
			if err == nil || disk.dead {
				return
			}
			if !errors.Is(err, errBroken) || tries > 1 {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
	for at := int64(0); at < sh.Next && !disk.dead; at += 9 {
		again(func() error { return p.Apply(t.Context(), sh.Batch(at, min(at+9, sh.Next))) })
		if at%4 == 0 {
			again(p.Flush)
		}
	}
	again(p.Flush)
}

func same(t *testing.T, name string, got, want *Projection) {
	t.Helper()
	diffs, err := projections.Compare(t.Context(), got, want, 3)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(diffs) > 0 {
		t.Fatalf("%s: %v", name, diffs)
	}
}
