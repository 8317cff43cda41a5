package storage

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/recountdb/recount/internal/diskuse"
)

// reserving records what is reserved of a file.
type reserving struct {
	vfs.File
	reserved, calls int64
}

func (f *reserving) Preallocate(offset, length int64) error {
	if offset != f.reserved {
		panic("reserved elsewhere than at the end")
	}
	f.reserved += length
	f.calls++
	return nil
}

func (f *reserving) Write(p []byte) (int, error) { return len(p), nil }

// TestWALIsReservedAsItGrows checks that a WAL reserves at most a quarter of a MiB, its own size,
// or 4 MiB ahead, and rarely.
func TestWALIsReservedAsItGrows(t *testing.T) {
	under := &reserving{}
	f := &walFile{File: under}
	if err := f.Preallocate(0, 53<<20); err != nil || under.reserved != 0 {
		t.Fatal("Pebble's wish was followed", err)
	}
	const piece = 32 << 10
	for at := int64(piece); at <= 64<<20; at += piece {
		if _, err := f.Write(make([]byte, piece)); err != nil {
			t.Fatal(err)
		}
		if ahead := under.reserved - at; ahead < 0 || ahead > max(firstReserve, min(at, maxReserve)) {
			t.Fatalf("%d written, %d reserved", at, under.reserved)
		}
	}
	if under.calls > 25 {
		t.Errorf("reserved %d times for 64 MiB", under.calls)
	}
	if _, err := f.Write(make([]byte, 9<<20)); err != nil || under.reserved < 73<<20 {
		t.Errorf("after a large write: %d, %v", under.reserved, err)
	}
}

// TestSmallLogIsSmall is a regression test: an empty log took 53 MiB, and one of some thousand
// records six times that.
func TestSmallLogIsSmall(t *testing.T) {
	dir := t.TempDir()
	testLog(t, dir, Options{FS: vfs.Default})
	if n, err := diskuse.Allocated(dir); err != nil || n > 1<<20 {
		t.Errorf("an empty log takes %d bytes, %v", n, err)
	}
}
