package access_test

import (
	"os"
	"strings"
	"testing"

	"github.com/recountdb/recount/server/access"
)

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
