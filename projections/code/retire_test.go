package code

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/recountdb/recount/projections/projtest"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestRetire checks that retired commits have no graph and report why, that the others are
// complete, and that no chunks of the retired ones remain, even if another repository of the
// partition shares chunks.
func TestRetire(t *testing.T) {
	shard := projtest.Shard{TP: schemas.TopicPartition{Topic: "recount.commits"}}
	h := newHistory(rand.New(rand.NewPCG(9, 9)), &shard, "acme/shop")
	other := newHistory(rand.New(rand.NewPCG(9, 9)), &shard, "acme/copy")
	for range 20 {
		h.commit()
		other.commit()
	}
	h.add(&recountv1.RefMoved{Repository: h.repo, Ref: "refs/tags/v1", NewCommit: h.commits[2]})
	h.add(&recountv1.RefMoved{Repository: h.repo, Ref: "refs/heads/old", NewCommit: h.commits[4]})
	grown := open(t)
	if err := grown.Apply(t.Context(), shard.Batch(0, shard.Next)); err != nil {
		t.Fatal(err)
	}
	was := snapshotOf(t, grown, shard.TP, h.repo, h.commits[2])
	before := chunksOf(t, grown)
	from := shard.Next
	h.add(&recountv1.SnapshotsRetired{Repository: h.repo, Before: day(10), Refs: []string{"refs/tags/*"}})
	h.add(&recountv1.RefMoved{Repository: h.repo, Ref: "refs/heads/next", NewCommit: h.commits[19]})
	if err := grown.Apply(t.Context(), shard.Batch(from, shard.Next)); err != nil {
		t.Fatal(err)
	}
	v, err := grown.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	for i, commit := range h.commits {
		_, err := v.Snapshot(RepoID{shard.TP, h.repo}, commit)
		if stays := i == 2 || i >= 10; stays != (err == nil) {
			t.Errorf("commit %d: %v", i, err)
		} else if !stays && (!errors.Is(err, ErrNoGraph) || !strings.Contains(err.Error(), "removed by the event at recount.commits/0/") || !strings.Contains(err.Error(), "recount import git")) {
			t.Errorf("commit %d: the error does not say why, and what mends it: %v", i, err)
		}
		if _, err := v.Snapshot(RepoID{shard.TP, other.repo}, other.commits[i]); err != nil {
			t.Errorf("of the other repository, commit %d: %v", i, err)
		}
	}
	if now := snapshotOf(t, grown, shard.TP, h.repo, h.commits[2]); now != was {
		t.Errorf("snapshot %s became %s", was, now)
	}
	// The other repository has the same content, so its graphs need all of the chunks.
	done, faults, err := v.Check(t.Context(), nil)
	if err != nil || len(faults) > 0 || done.Unused != 0 || chunksOf(t, grown) != before {
		t.Errorf("%+v %v %v; %d chunks before", done, faults, err, before)
	}
	from = shard.Next
	other.add(&recountv1.SnapshotsRetired{Repository: other.repo, Before: day(10)})
	if err := grown.Apply(t.Context(), shard.Batch(from, shard.Next)); err != nil {
		t.Fatal(err)
	}
	if after := chunksOf(t, grown); after >= before {
		t.Errorf("%d chunks, %d before", after, before)
	}
	// A commit whose parent has no graph any more gets none; one whose parent is a kept ref gets
	// one.
	for i, parent := range []string{h.commits[5], h.commits[2]} {
		next := &recountv1.CommitRecorded{Repository: h.repo, Commit: id("next", i), Parents: []string{parent}, Scope: recountv1.Scope_SCOPE_CHANGES}
		from = shard.Next
		h.add(next)
		if err := grown.Apply(t.Context(), shard.Batch(from, shard.Next)); err != nil {
			t.Fatal(err)
		}
		v, err := grown.View()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := v.Snapshot(RepoID{shard.TP, h.repo}, next.Commit); (err == nil) != (i == 1) {
			t.Errorf("above %s: %v", parent, err)
		}
		v.Close()
	}
}

func chunksOf(t *testing.T, c *Code) int {
	t.Helper()
	v, err := c.View()
	if err != nil {
		t.Fatal(err)
	}
	defer v.Close()
	n := 0
	if err := v.each([]byte{kindChunk}, func(_, _ []byte) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	return n
}
