//go:build linux || darwin

package recording

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ctime returns when a file's status changed last.
func ctime(t *testing.T, path string) time.Time {
	t.Helper()
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		t.Fatal(err)
	}
	return time.Unix(st.Ctim.Unix())
}
