package node_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// TestBackupAndRestore checks that a backup of a running server has everything acknowledged before
// it, that a second one copies only what is new, and that it is restored to an equal data
// directory.
func TestBackupAndRestore(t *testing.T) {
	r := start(t, config(filepath.Join(t.TempDir(), "d")))
	dir := filepath.Join(t.TempDir(), "backup")
	r.append(t, numbered("first", 200)...)
	one, err := r.Client.Backup(t.Context(), api.BackupRequest{Dir: dir}, nil)
	if err != nil || one.Bytes == 0 || one.Copied == 0 {
		t.Fatalf("%+v %v", one, err)
	}
	r.append(t, numbered("second", 30)...)
	two, err := r.Client.Backup(t.Context(), api.BackupRequest{Dir: dir}, nil)
	if err != nil || two.Ends.String() == one.Ends.String() {
		t.Fatalf("%+v %v", two, err)
	}
	r.append(t, "echo afterwards")
	r.stop()
	// Without a server and without changes, almost nothing is copied.
	openedLocal(t, r.DataDir(), func(n *node.Node) {
		three, err := n.Backup(t.Context(), api.BackupRequest{Dir: filepath.Join(t.TempDir(), "other")}, nil)
		if err != nil || three.Copied < three.Bytes {
			t.Errorf("%+v %v", three, err)
		}
		if _, err := os.Stat(filepath.Join(r.DataDir(), "backup.tmp")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("what was linked is left: %v", err)
		}
	})
	if _, wrong, err := node.VerifyBackup(t.Context(), dir, nil); err != nil || len(wrong) > 0 {
		t.Fatalf("verify: %v %v", wrong, err)
	}
	restored := filepath.Join(t.TempDir(), "restored")
	if _, err := node.Restore(t.Context(), dir, restored, nil); err != nil {
		t.Fatal(err)
	}
	openedLocal(t, restored, func(n *node.Node) {
		held := logged(t, n)
		want := append(numbered("first", 200), numbered("second", 30)...)
		slices.Sort(want)
		if !slices.Equal(held, want) {
			t.Errorf("%d commands of %d came back", len(held), len(want))
		}
		verified(t, n)
		// The restored log accepts appends.
		if _, err := n.Append(t.Context(), events("echo restored")); err != nil {
			t.Error(err)
		}
		verified(t, n)
	})
	if _, err := node.Restore(t.Context(), dir, restored, nil); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("into what is there: %v", err)
	}
}

// TestBackupThatIsNotWhole checks that a damaged backup is refused before anything is put in place,
// and that an interrupted backup leaves the previous one intact.
func TestBackupThatIsNotWhole(t *testing.T) {
	data, dir := filepath.Join(t.TempDir(), "d"), filepath.Join(t.TempDir(), "backup")
	target := filepath.Join(t.TempDir(), "target")
	openedLocal(t, data, func(n *node.Node) {
		if _, err := n.Append(t.Context(), events(numbered("first", 5)...)); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Backup(t.Context(), api.BackupRequest{Dir: dir}, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := n.Append(t.Context(), events(numbered("second", 5)...)); err != nil {
			t.Fatal(err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cut := func(p api.Progress) {
			if p.Phase == "copy bytes" {
				cancel()
			}
		}
		if _, err := n.Backup(gone, api.BackupRequest{Dir: dir}, cut); !errors.Is(err, context.Canceled) {
			t.Errorf("cut short: %v", err)
		}
		for name, bad := range map[string]string{"inside": filepath.Join(n.DataDir(), "b"), "relative": "b"} {
			if _, err := n.Backup(t.Context(), api.BackupRequest{Dir: bad}, nil); err == nil {
				t.Errorf("%s: taken", name)
			}
		}
	})
	if _, wrong, err := node.VerifyBackup(t.Context(), dir, nil); err != nil || len(wrong) > 0 {
		t.Fatalf("after one that was cut short: %v %v", wrong, err)
	}
	openedLocal(t, filepath.Join(t.TempDir(), "another"), func(n *node.Node) {
		if _, err := n.Backup(t.Context(), api.BackupRequest{Dir: dir}, nil); err == nil || !strings.Contains(err.Error(), "another log") {
			t.Errorf("of another log: %v", err)
		}
	})
	files, err := filepath.Glob(filepath.Join(dir, "objects", "*"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, path := range append(files, filepath.Join(dir, "MANIFEST.json")) {
		whole, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(whole) == 0 {
			continue
		}
		bad := slices.Clone(whole)
		bad[len(bad)/2] ^= 1
		if err := os.WriteFile(path, bad, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, wrong, err := node.VerifyBackup(t.Context(), dir, nil); err == nil && len(wrong) == 0 {
			t.Errorf("%s: a flipped bit is not found", path)
		}
		if _, err := node.Restore(t.Context(), dir, target, nil); err == nil {
			t.Errorf("%s: restored with a flipped bit", path)
		}
		if _, err := os.Stat(target); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: something was put in place: %v", path, err)
		}
		if err := os.WriteFile(path, whole, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := node.Restore(t.Context(), dir, target, nil); err != nil {
		t.Error(err)
	}
}
