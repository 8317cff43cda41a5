//go:build !linux

package shellhook

import (
	"os"
	"testing"
)

func openTerminal(t testing.TB) (master, slave *os.File) {
	t.Helper()
	t.Skip("terminals of tests are opened as Linux does it")
	return nil, nil
}
