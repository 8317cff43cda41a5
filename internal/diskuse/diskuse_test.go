package diskuse_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/recountdb/recount/internal/diskuse"
)

func TestAllocated(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "full"), bytes.Repeat([]byte("x"), 1<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	hole, err := os.Create(filepath.Join(dir, "hole"))
	if err != nil {
		t.Fatal(err)
	}
	defer hole.Close()
	if err := hole.Truncate(64 << 20); err != nil {
		t.Fatal(err)
	}
	n, err := diskuse.Allocated(dir)
	if err != nil || n < 1<<20 || n > 2<<20 {
		t.Errorf("%d bytes, %v; want about a MiB: a hole takes nothing", n, err)
	}
	if n, err := diskuse.Allocated(filepath.Join(dir, "gone")); err != nil || n != 0 {
		t.Errorf("a folder that is gone: %d, %v", n, err)
	}
}
