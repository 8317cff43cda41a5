package node_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/recountdb/recount/internal/diskuse"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// TestFullDiskIsReported checks that status and metrics tell that the log refuses appends.
func TestFullDiskIsReported(t *testing.T) {
	for minFree, want := range map[int64]struct{ full, metric string }{0: {"", "recount_log_full 0"}, 1 << 62: {"the disk is nearly full: ", "recount_log_full 1"}} {
		cfg := config(t.TempDir())
		node.MinFree(&cfg, minFree)
		r := start(t, cfg)
		st, err := r.Client.Status(t.Context(), api.StatusRequest{})
		if err != nil || !strings.HasPrefix(st.Log.Full, want.full) || (st.Log.Full == "") != (want.full == "") {
			t.Errorf("status: %q, %v; want %q", st.Log.Full, err, want.full)
		}
		answer, err := http.Get(r.Endpoints().HTTP + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil || !strings.Contains(string(body), "\n"+want.metric+"\n") {
			t.Errorf("metrics without %s: %v", want.metric, err)
		}
		r.stop()
	}
}

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
