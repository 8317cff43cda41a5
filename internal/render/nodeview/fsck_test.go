package nodeview

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/server/api"
)

func TestFsck(t *testing.T) {
	var out bytes.Buffer
	term := &render.Terminal{Out: &out}
	Fsck(term, api.FsckReport{
		Repositories: 2, Snapshots: 1, Chunks: 1200, Bytes: 90000, Edges: 40, Unused: 1, More: true,
		Faults: []api.FsckFault{
			{Repo: "acme/shop", Commit: "9fceb02d0ae598e95dc970b74767f19372d61af8", Map: "out", Chunk: "12", What: "chunk 12: damaged"},
			{Repo: "acme/site", What: "gone"},
		},
	})
	Fsck(term, api.FsckReport{OK: true, Repositories: 1, Snapshots: 1, Chunks: 1, Bytes: 90, Edges: 4})
	want := `WRONG acme/shop at 9fceb02d0ae5, map out: chunk 12: damaged
WRONG acme/site: gone
… the check stopped here; there may be more
1 snapshot in 2 repositories; 1,200 chunks of 90,000 bytes; 40 edges
1 chunk in no snapshot
checked in 0s
recount rebuild --projection code rebuilds the graph from the log
clean 1 snapshot in 1 repository; 1 chunk of 90 bytes; 4 edges
checked in 0s
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("fsck (-want +got):\n%s", diff)
	}
}
