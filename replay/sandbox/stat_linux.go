package sandbox

import (
	"io/fs"
	"math"
	"syscall"
)

// changeTime returns when the kernel last noted a change of a file, in nanoseconds.
func changeTime(info fs.FileInfo) int64 {
	return info.Sys().(*syscall.Stat_t).Ctim.Nano()
}

// blocks returns the space that a file takes.
func blocks(info fs.FileInfo) int64 {
	return info.Sys().(*syscall.Stat_t).Blocks * 512
}

// free returns the space that is left for the user.
func free(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil {
		return math.MaxInt64
	}
	return int64(s.Bavail) * s.Bsize
}

// freeFiles returns how many files more there may be. Some file systems have no limit.
func freeFiles(dir string) int64 {
	var s syscall.Statfs_t
	if err := syscall.Statfs(dir, &s); err != nil || s.Files == 0 {
		return math.MaxInt64
	}
	return int64(s.Ffree)
}

// isWhiteout reports whether an entry of overlayfs' upper layer says that the lower one is removed.
func isWhiteout(info fs.FileInfo) bool {
	return info.Mode()&fs.ModeCharDevice != 0 && info.Sys().(*syscall.Stat_t).Rdev == 0
}
