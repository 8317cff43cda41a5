// Package diskuse measures how much disk space files use.
package diskuse

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Allocated returns how many bytes of the disk are allocated to the files below dir, as du counts
// them: space reserved for a file counts, holes do not. A file that is removed meanwhile is
// ignored.
func Allocated(dir string) (int64, error) {
	var total int64
	err := filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err == nil {
			var info fs.FileInfo
			if info, err = e.Info(); err == nil {
				total += allocated(info)
			}
		}
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	})
	return total, err
}
