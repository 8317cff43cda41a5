package broker

import (
	"errors"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// startWriteBack has the disk begin to write n bytes of f, without waiting for it.
// It makes nothing durable: the sync that comes after has less left to do. An error
// is one of writing, as that sync would report it; systems that do not know the
// call do without.
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
