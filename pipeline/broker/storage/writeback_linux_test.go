package storage

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

type fdFile struct {
	vfs.File
	fd uintptr
}

func (f fdFile) Fd() uintptr { return f.fd }

// TestStartWriteBack checks that an error of starting to write is a write error, unless it means
// that the file or the system does not support the call.
func TestStartWriteBack(t *testing.T) {
	f, err := vfs.Default.Create(filepath.Join(t.TempDir(), "f"), vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(make([]byte, 3*pageBytes)); err != nil {
		t.Fatal(err)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	for _, tc := range []struct {
		name string
		file vfs.File
		want error
	}{
		{"a file", f, nil},
		{"not a file of the host", fdFile{fd: vfs.InvalidFd}, nil},
		{"a pipe", fdFile{fd: w.Fd()}, nil},
		{"no file", fdFile{fd: 1 << 30}, unix.EBADF},
	} {
		if err := startWriteBack(tc.file, 0, 2*pageBytes); !errors.Is(err, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, err, tc.want)
		}
	}
}
