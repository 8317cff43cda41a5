package datadir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/datadir"
)

// TestADirectoryThatMayNotBeWritten checks that the error says so, and what to do: a question in a copy
// on a read-only disk failed with the name of a file that nobody knows.
func TestADirectoryThatMayNotBeWritten(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root may write everywhere")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, datadir.LockFile), nil, 0o400); err != nil {
		t.Fatal(err)
	}
	_, _, err := datadir.Running(dir)
	_, locked := datadir.Lock(dir)
	for _, err := range []error{err, locked} {
		if err == nil || !strings.Contains(err.Error(), "not writable") || !strings.Contains(err.Error(), "--data-dir") {
			t.Errorf("got %v", err)
		}
	}
}
