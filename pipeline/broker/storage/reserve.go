package storage

import "github.com/cockroachdb/pebble/v2/vfs"

// walFile reserves space for a WAL in steps that grow with it. Pebble would reserve more than a
// whole memory table, 53 MiB, for each WAL, however little it holds; an empty log has one WAL, a
// log of a few thousand records six.
type walFile struct {
	vfs.File
	at, reserved int64 // used only by the goroutine that writes the WAL
}

const (
	// A WAL reserves firstReserve, then as much as it has grown to, but at most maxReserve at once.
	firstReserve = 256 << 10
	maxReserve   = 4 << 20
)

// Preallocate ignores Pebble's request.
func (f *walFile) Preallocate(offset, length int64) error { return nil }

// Write reserves space before it fills it. A failed reservation is not an error: the write itself
// reports whether there is space.
func (f *walFile) Write(p []byte) (int, error) {
	end := f.at + int64(len(p))
	if end > f.reserved {
		step := max(firstReserve, min(f.at, maxReserve), end-f.reserved)
		_ = f.File.Preallocate(f.reserved, step)
		f.reserved += step
	}
	n, err := f.File.Write(p)
	f.at += int64(n)
	return n, err
}
