//go:build !unix

package sealed

import "os"

// Map returns the content of a file, read into memory. release frees it.
func Map(path string) (data []byte, release func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return read(f)
}
