package storage

import (
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// startWriteBack asks the kernel to start writing n bytes of f to disk, without waiting. It makes
// nothing durable: it leaves less work to the sync that follows. An error is a write error, as that
// sync would report it; systems without the call ignore it.
func startWriteBack(f vfs.File, at, n int64) error {
	fd := f.Fd()
	if fd == vfs.InvalidFd {
		return nil
	}
	err := unix.SyncFileRange(int(fd), at, n, unix.SYNC_FILE_RANGE_WRITE)
	for _, unknown := range []error{unix.ENOSYS, unix.EOPNOTSUPP, unix.EPERM, unix.EINVAL, unix.ESPIPE} {
		if errors.Is(err, unknown) {
			return nil
		}
	}
	return err
}
