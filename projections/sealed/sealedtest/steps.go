package sealedtest

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/projections/sealed"
)

// Steps configures EveryStepBroken.
type Steps struct {
	// Open opens the projection in a folder, writing through the disk.
	Open func(dir string, d sealed.Disk) (projections.Projection, error)
	// Log is the records to apply: enough for several sealed files.
	Log projtest.Shard
	// AtLeast is the minimum number of steps of an undisturbed run, so that the test cannot pass
	// without breaking anything.
	AtLeast int
	// Verify checks every byte of what is stored; nil skips this.
	Verify func(t *testing.T, p projections.Projection) error
}

// EveryStepBroken breaks every step that changes the disk, one in each run, in every mode. After a
// failed step the batch is applied again; after a dead process the state is opened again. Both must
// reach the state of an undisturbed run, and the state found after a crash must be the one at its
// own watermark.
func EveryStepBroken(t *testing.T, s Steps) {
	want := s.open(t, t.TempDir(), NoSync{})
	t.Cleanup(func() { closeOf(t, want) })
	s.feed(t, want)
	u := &undisturbed{s: s, t: t, upTo: map[int64]func() (projections.Projection, error){}}
	for mode, name := range modes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.breakAll(t, mode, want, u)
		})
	}
}

// undisturbed runs the projection without failures up to given offsets. Each run is made once for
// all tests and closed when the test ends.
type undisturbed struct {
	s Steps
	t *testing.T // the test that contains the modes

	mu   sync.Mutex // guards upTo
	upTo map[int64]func() (projections.Projection, error)
}

// openAt returns the state of the log below next, for reading only.
func (u *undisturbed) openAt(next int64) (projections.Projection, error) {
	u.mu.Lock()
	made := u.upTo[next]
	if made == nil {
		made = sync.OnceValues(func() (projections.Projection, error) { return u.run(next) })
		u.upTo[next] = made
	}
	u.mu.Unlock()
	return made()
}

func (u *undisturbed) run(next int64) (projections.Projection, error) {
	p, err := u.s.Open(u.t.TempDir(), NoSync{})
	if err != nil {
		return nil, err
	}
	u.t.Cleanup(func() { closeOf(u.t, p) })
	return p, p.Apply(u.t.Context(), u.s.Log.Batch(0, next))
}

func (s Steps) open(t *testing.T, dir string, d sealed.Disk) projections.Projection {
	t.Helper()
	p, err := s.Open(dir, d)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func closeOf(t *testing.T, p projections.Projection) {
	t.Helper()
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// feed applies what p lacks.
func (s Steps) feed(t *testing.T, p projections.Projection) {
	t.Helper()
	if err := p.Apply(t.Context(), s.Log.Batch(p.Next(s.Log.TP), s.Log.Next)); err != nil {
		t.Fatal(err)
	}
}

func (s Steps) breakAll(t *testing.T, mode int, want projections.Projection, u *undisturbed) {
	tp := s.Log.TP
	for at := 1; ; at++ {
		if racing.On && at%len(modes) != mode {
			continue // under the race detector each step is broken in only one mode
		}
		name := fmt.Sprintf("step %d", at)
		disk := newBroken(mode, at)
		dir := t.TempDir()
		p := s.open(t, dir, disk)
		s.feedBroken(t, name, p, disk)
		if disk.steps < at {
			closeOf(t, p)
			if at < s.AtLeast {
				t.Fatalf("%d steps in the whole run: too few to mean anything", at)
			}
			break
		}
		before := p.Watermark()
		// On a disk that fails, Flush may have nothing to write and succeed, and so may Close.
		if err := p.Close(); err != nil && !disk.dead {
			t.Fatalf("%s: close: %v", name, err)
		}
		disk.cut(t, rand.New(rand.NewPCG(uint64(at), uint64(mode))))

		p = s.open(t, dir, NoSync{})
		found := p.Watermark()
		if !before.Covers(found) {
			t.Fatalf("%s: found at %s, was at %s", name, found, before)
		}
		if !disk.dead && !found.Covers(before) {
			t.Fatalf("%s: closed at %s, found at %s", name, before, found)
		}
		upTo, err := u.openAt(found[tp])
		if err != nil {
			t.Fatal(err)
		}
		Same(t, name+", found", p, upTo)
		s.feed(t, p)
		Same(t, name+", at the end", p, want)
		if s.Verify != nil {
			if err := s.Verify(t, p); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		closeOf(t, p)
		if left := leftovers(t, dir); len(left) > 0 {
			t.Fatalf("%s: left over: %v", name, left)
		}
	}
}

func leftovers(t *testing.T, dir string) (left []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, sealed.TempSuffix) {
			left = append(left, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// feedBroken applies the log in small batches with flushes in between. It retries a failed call, as
// the pipeline does, until the process is dead.
func (s Steps) feedBroken(t *testing.T, name string, p projections.Projection, disk *broken) {
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
	for at := int64(0); at < s.Log.Next && !disk.dead; at += 9 {
		again(func() error { return p.Apply(t.Context(), s.Log.Batch(at, min(at+9, s.Log.Next))) })
		if at%4 == 0 {
			again(p.Flush)
		}
	}
	again(p.Flush)
}

// Same fails the test unless both states are the same.
func Same(t *testing.T, name string, got, want projections.Projection) {
	t.Helper()
	diffs, err := projections.Compare(t.Context(), got, want, 3)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if len(diffs) > 0 {
		t.Fatalf("%s: %v", name, diffs)
	}
}
