package recording

import "golang.org/x/sys/unix"

// local reports whether a directory is on a file system of this machine.
func local(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && s.Flags&unix.MNT_LOCAL != 0
}
