package node_test

import (
	"bytes"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/recountdb/recount/server/node"
)

// TestDataDirIsPrivate checks that a data directory becomes private, whatever created it, with any
// content and umask.
func TestDataDirIsPrivate(t *testing.T) {
	old := unix.Umask(0)
	defer unix.Umask(old)
	dir := filepath.Join(t.TempDir(), "data")
	for _, made := range []string{dir, filepath.Join(dir, "projections"), filepath.Join(dir, "imports")} {
		if err := os.Mkdir(made, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "erased"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	for _, warns := range []bool{true, false} {
		said.Reset()
		cfg := config(dir)
		cfg.Logger = slog.New(slog.NewTextHandler(&said, &slog.HandlerOptions{Level: slog.LevelWarn}))
		n, err := node.OpenLocal(t.Context(), cfg, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(said.String(), "other users could read the data directory"); got != warns {
			t.Errorf("said %q", said.String())
		}
		files := 0
		err = filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := e.Info()
			if err != nil {
				return err
			}
			files++
			rel, _ := filepath.Rel(dir, path)
			// Pebble creates its files with the umask's mode, in private folders.
			deep := strings.Count(rel, string(filepath.Separator)) > 0
			if info.Mode().Perm()&0o077 != 0 && (!deep || strings.HasPrefix(rel, "projections") && e.IsDir() && strings.Count(rel, string(filepath.Separator)) < 3) {
				t.Errorf("%s is %v", rel, info.Mode())
			}
			return nil
		})
		if err != nil || files < 20 {
			t.Errorf("%d files: %v", files, err)
		}
	}
}
