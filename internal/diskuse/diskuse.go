// Package diskuse says what files take of a disk.
package diskuse

import (
	"errors"
	"io/fs"
	"path/filepath"
)

// Allocated is how many bytes the disk has given to the files below dir, as du counts
// them: what is reserved for a file counts, what is a hole in it does not. A file that
// goes meanwhile counts for nothing.
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
