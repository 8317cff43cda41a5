package secretfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/secretfile"
)

func TestCheck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	for mode, want := range map[os.FileMode]string{
		0o600: "", 0o400: "", 0o640: "", 0o440: "",
		0o644: "other users of this machine can read the token in it: run chmod 600", 0o604: "can read",
		0o660: "users other than its owner can write it", 0o602: "can write",
	} {
		if err := os.WriteFile(path, []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		err := secretfile.Check(path)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path)) {
			t.Errorf("mode %o: %v, want %q", mode, err, want)
		}
		_ = os.Remove(path)
	}
	if err := secretfile.Check(path); err != nil {
		t.Errorf("no file: %v", err)
	}
}
