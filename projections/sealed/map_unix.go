//go:build unix

package sealed

import (
	"os"

	"golang.org/x/sys/unix"
)

// Map returns the content of a file: mapped, or read into memory if the file system cannot map.
// release ends the mapping.
func Map(path string) (data []byte, release func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close() // the mapping outlives the descriptor
	st, err := f.Stat()
	if err != nil {
		return nil, nil, err
	}
	if size := st.Size(); size > 0 && size == int64(int(size)) {
		if b, err := unix.Mmap(int(f.Fd()), 0, int(size), unix.PROT_READ, unix.MAP_SHARED); err == nil {
			return b, func() error { return unix.Munmap(b) }, nil
		}
	}
	return read(f)
}
