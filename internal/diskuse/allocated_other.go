//go:build !unix

package diskuse

import "io/fs"

func allocated(info fs.FileInfo) int64 { return info.Size() }
