package broker

import "github.com/cockroachdb/pebble/v2/vfs"

// walFile reserves space for a WAL in steps that grow with it. Pebble would reserve
// more than a whole memory table's, 53 MiB, for each, whatever it comes to hold, and
// an empty log has one of them, one of some thousand records six.
type walFile struct {
	vfs.File
	at, reserved int64 // of the one goroutine that writes a WAL
}

const (
	// A WAL is reserved firstReserve, then as much as it has grown to, but no
	// more than maxReserve at once.
	firstReserve = 256 << 10
	maxReserve   = 4 << 20
)

// Preallocate is Pebble's wish, which is not followed.
func (f *walFile) Preallocate(offset, length int64) error { return nil }

// Write reserves what it is about to fill. That it could not is no error: the write
// itself says whether there is room.
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
