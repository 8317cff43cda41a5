package recording

import "golang.org/x/sys/unix"

// localTypes are the file systems whose times come from this machine's clock.
var localTypes = map[int64]bool{
	unix.EXT4_SUPER_MAGIC: true, unix.XFS_SUPER_MAGIC: true, unix.BTRFS_SUPER_MAGIC: true, unix.TMPFS_MAGIC: true,
	unix.OVERLAYFS_SUPER_MAGIC: true, unix.F2FS_SUPER_MAGIC: true, unix.ECRYPTFS_SUPER_MAGIC: true, unix.BCACHEFS_SUPER_MAGIC: true,
	0x2fc12fc1: true, // zfs
}

// local reports whether a directory is on a file system of this machine.
func local(dir string) bool {
	var s unix.Statfs_t
	return unix.Statfs(dir, &s) == nil && localTypes[int64(s.Type)]
}
