package code

import (
	"testing"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestALineAbove commits a file twice, the second time with two lines inserted above all its
// declarations. Its nodes and edges must stay as they were, including those whose site is above the
// declaration they begin in; only the map lines differs.
func TestALineAbove(t *testing.T) {
	shard := projtest.Shard{TP: projtest.Shard{}.TP}
	shard.TP.Topic = "recount.commits"
	h := newHistory(nil, &shard, "repo")
	var commits []string
	for _, above := range []uint32{0, 2} {
		at := func(line uint32) *recountv1.Place { return &recountv1.Place{Line: line + above, Column: 3} }
		blob := id("blob", above)
		h.add(&recountv1.FileFacts{
			Repository: "repo", Path: "a.toy", Blob: blob, Language: "toy",
			Declarations: []*recountv1.Declaration{
				{Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: "f", Start: at(10), End: at(12)},
				{Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: "g", Start: at(20), End: at(22)},
			},
			References: []*recountv1.Reference{
				{Edge: recountv1.EdgeKind_EDGE_KIND_CALLS, In: 1, Path: "g", At: at(11)},
				{Edge: recountv1.EdgeKind_EDGE_KIND_DECORATES, In: 2, Path: "f", At: at(19)},
			},
		})
		c := &recountv1.CommitRecorded{
			Repository: "repo", Commit: id("commit", above), Parents: commits, Scope: recountv1.Scope_SCOPE_FULL,
			Changes: []*recountv1.FileChange{{Path: "a.toy", Status: recountv1.ChangeStatus_CHANGE_STATUS_ADDED, Mode: 0o100644, Blob: blob}},
		}
		h.add(c)
		commits = []string{c.Commit}
	}
	c := open(t)
	if err := c.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
		t.Fatal(err)
	}
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	was, err := v.Snapshot(RepoID{shard.TP, "repo"}, id("commit", uint32(0)))
	if err != nil {
		t.Fatal(err)
	}
	is, err := v.Snapshot(RepoID{shard.TP, "repo"}, id("commit", uint32(2)))
	if err != nil {
		t.Fatal(err)
	}
	out, err := is.Out()
	if err != nil {
		t.Fatal(err)
	}
	if out.Len() < 4 { // two that contain a function, two from one to the other
		t.Errorf("%d edges", out.Len())
	}
	if was.roots.out != is.roots.out || was.roots.in != is.roots.in {
		for c := range is.Since(was, OutMap) {
			t.Errorf("%q: %x before, %x now", c.Key, c.Old, c.New)
		}
	}
	if was.roots.nodes != is.roots.nodes {
		for c := range is.Since(was, NodesMap) {
			t.Errorf("%q: %x before, %x now", c.Key, c.Old, c.New)
		}
	}
	for name, line := range map[string]uint32{"f": 10, "g": 20, "none": 0} {
		k := schemas.NewNodeKey("a.toy", "", name, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, "")
		for i, s := range []*Snapshot{was, is} {
			want := line
			if want > 0 {
				want += uint32(2 * i)
			}
			if got, err := s.Line(k); err != nil || got != want {
				t.Errorf("commit %d: %q is at %d %v, want %d", i, name, got, err, want)
			}
		}
	}
}
