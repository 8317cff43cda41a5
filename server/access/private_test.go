package access_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/recountdb/recount/server/access"
)

func TestCheckSecretFile(t *testing.T) {
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
		err := access.CheckSecretFile(path)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path)) {
			t.Errorf("mode %o: %v, want %q", mode, err, want)
		}
		_ = os.Remove(path)
	}
	if err := access.CheckSecretFile(path); err != nil {
		t.Errorf("no file: %v", err)
	}
}

func TestCheckToken(t *testing.T) {
	if err := access.CheckToken("fifteen-letters"); err == nil || !strings.Contains(err.Error(), "15 characters, want at least 16: openssl rand -hex 32") {
		t.Errorf("a short token: %v", err)
	}
	if err := access.CheckToken(access.NewToken()); err != nil {
		t.Error(err)
	}
}

// TestTokensFileOfOthers checks that a tokens file that others can write is not in force.
func TestTokensFileOfOthers(t *testing.T) {
	token := access.NewToken()
	path := tokensFile(t, access.Entry{SHA256: access.Hash(token), Agent: "one"})
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := access.OpenFile(path, nil); err == nil || !strings.Contains(err.Error(), "can write it") {
		t.Errorf("opened: %v", err)
	}
}
