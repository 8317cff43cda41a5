package sealed_test

import (
	"errors"
	"testing"

	"github.com/recountdb/recount/projections/sealed"
)

var errFull = errors.New("the disk is full")

type fullDisk struct{ writes int }

func (d *fullDisk) Write(b []byte) (int, error) {
	if d.writes++; d.writes > 1 {
		return 0, errFull
	}
	return len(b), nil
}

// TestHashingKeepsTheFirstError checks that a write that fails in the middle of a file is an error
// and that nothing is written after it. Padding after such a write once panicked.
func TestHashingKeepsTheFirstError(t *testing.T) {
	d := &fullDisk{}
	w := sealed.NewHashing(d)
	w.Write(make([]byte, 100))
	w.PadTo(128)
	w.Write(make([]byte, 1000))
	w.PadTo(1152)
	w.Write(make([]byte, 10))
	if !errors.Is(w.Err(), errFull) {
		t.Errorf("got %v, want %v", w.Err(), errFull)
	}
	if d.writes != 2 {
		t.Errorf("%d writes, want none after the one that failed", d.writes)
	}
}
