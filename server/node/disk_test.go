package node_test

import (
	"testing"

	"github.com/recountdb/recount/internal/diskuse"
	"github.com/recountdb/recount/server/api"
)

// TestSmallDirectoriesAreSmall is a regression test: an empty directory took 203 MB of disk, and
// one of nine commands 150 MB besides the log, because each store reserved its maximum.
func TestSmallDirectoriesAreSmall(t *testing.T) {
	const want = 4 << 20
	dir := t.TempDir()
	r := start(t, config(dir))
	if n, err := diskuse.Allocated(dir); err != nil || n > want {
		t.Errorf("empty: %d bytes, %v", n, err)
	}
	r.append(t, "make", "make test", "go build", "ls", "git status", "cd ..", "vi x", "make test", "git push")
	st, err := r.Client.Status(t.Context(), api.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	if st.Log.Bytes == 0 || st.Log.Bytes > want {
		t.Errorf("the log takes %d bytes, says status", st.Log.Bytes)
	}
	for _, p := range st.Projections {
		if p.Bytes == 0 || p.Bytes > want {
			t.Errorf("%s takes %d bytes, says status", p.Name, p.Bytes)
		}
	}
	if n, err := diskuse.Allocated(dir); err != nil || n > want {
		t.Errorf("nine commands: %d bytes, %v", n, err)
	}
	r.stop()
	if n, err := diskuse.Allocated(dir); err != nil || n > want {
		t.Errorf("nine commands, stopped: %d bytes, %v", n, err)
	}
}
