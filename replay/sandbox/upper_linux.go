package sandbox

import "golang.org/x/sys/unix"

// nonblock makes opening a pipe return at once.
const nonblock = unix.O_NONBLOCK

// isOpaque reports whether a directory of overlayfs' upper layer hides the lower one.
func isOpaque(dir string) bool {
	var value [1]byte
	n, err := unix.Lgetxattr(dir, "user.overlay.opaque", value[:])
	return err == nil && n == 1 && value[0] == 'y'
}
