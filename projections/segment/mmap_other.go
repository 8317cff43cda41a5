//go:build !unix

package segment

import "os"

// mapFile gives the content of a file, read into memory.
func mapFile(path string) (data []byte, release func() error, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return readFile(f)
}
