//go:build !unix

package sealed

import "os"

// Map gives the content of a file, read into memory.
func Map(projection, path string) (data []byte, release func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return readUnpacked(projection, f)
}
