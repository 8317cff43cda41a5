//go:build !unix

package sealed

import "os"

// Map returns the content of a file, read into memory and decompressed if it is packed. release
// frees it. Damaged packed content is a CorruptError of the projection.
func Map(projection, path string) (data []byte, release func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return readUnpacked(projection, f)
}
