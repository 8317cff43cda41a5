//go:build unix

package sandbox

import (
	"io/fs"
	"syscall"
)

// file is what the names that ln gives to one file have in common.
type file struct{ device, inode uint64 }

// joined returns the file of an entry that has another name as well.
func joined(info fs.FileInfo) (f file, ok bool) {
	st, known := info.Sys().(*syscall.Stat_t)
	if !known || !info.Mode().IsRegular() || st.Nlink < 2 {
		return file{}, false
	}
	return file{uint64(st.Dev), uint64(st.Ino)}, true
}
