//go:build unix

package diskuse

import (
	"io/fs"
	"syscall"
)

// blockBytes is the unit of Stat_t.Blocks, whatever the file system's block is.
const blockBytes = 512

func allocated(info fs.FileInfo) int64 {
	if st, ok := info.Sys().(*syscall.Stat_t); ok {
		return int64(st.Blocks) * blockBytes
	}
	return info.Size()
}
