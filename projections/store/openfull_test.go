package store_test

import (
	"errors"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/recountdb/recount/projections/store"
)

// TestFullDiskAtOpening checks that a full disk at opening, whichever write meets it first, gives
// an error that says what to do, and that the store opens with its content when there is room
// again.
func TestFullDiskAtOpening(t *testing.T) {
	mem := vfs.NewCrashableMem()
	check(t, mem.MkdirAll("s", 0o700))
	d, err := store.Open("s", store.Options{Name: "test", FS: mem, Logger: quiet})
	check(t, err)
	for _, b := range batches(t)[:5] {
		check(t, apply(t, d, b))
	}
	image := func() *vfs.MemFS {
		return mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rand.New(rand.NewPCG(1, 2))})
	}
	for n := int64(0); ; n++ {
		full := image()
		var writes atomic.Int64
		fs := errorfs.Wrap(full, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind.ReadOrWrite() == errorfs.OpIsWrite && writes.Add(1) > n {
				return syscall.ENOSPC
			}
			return nil
		}))
		done := make(chan error, 1)
		go func() {
			d, err := store.Open("s", store.Options{Name: "test", FS: fs, Logger: quiet})
			if err == nil {
				d.Close()
			}
			done <- err
		}()
		select {
		case err = <-done:
		case <-time.After(2 * time.Minute):
			t.Fatalf("write %d refused: open does not return", n)
		}
		if err == nil {
			if writes.Load() <= n {
				break
			}
			continue
		}
		if text := err.Error(); !errors.Is(err, syscall.ENOSPC) || strings.Contains(text, "\n") || !strings.Contains(text, "free some") || strings.Contains(text, "damaged") {
			t.Errorf("write %d refused: %v", n, err)
		}
	}
	check(t, d.Close())
}
