package node_test

import (
	"context"
	"sync"
	"testing"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/processors"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

func produce(t *testing.T, n *node.Node, values ...string) schemas.Watermark {
	t.Helper()
	for _, v := range values {
		_, err := n.Log().Produce(t.Context(), schemas.LogRecord{Position: schemas.Position{Topic: "recount.commands"}, Value: []byte(v)})
		if err != nil {
			t.Fatal(err)
		}
	}
	ends, err := n.Log().Ends(t.Context(), "recount.commands")
	if err != nil {
		t.Fatal(err)
	}
	return ends
}

// TestRebuildLosesNoRejectedEvent is a regression test: a rebuild read up to the log's end, beyond
// the live projections, and replaced them; events in between that could not be applied were then
// never rejected, and silently lost.
func TestRebuildLosesNoRejectedEvent(t *testing.T) {
	for _, local := range []bool{false, true} {
		cfg := config(t.TempDir())
		var n *node.Node
		var err error
		if local {
			n, err = node.OpenLocal(t.Context(), cfg, nil)
		} else {
			n, err = node.Open(t.Context(), cfg) // no stream follows the log before Run
		}
		if err != nil {
			t.Fatal(err)
		}
		ends := produce(t, n, `{"command":"make"}`, "not JSON", `{"command":"make test"}`)
		if _, err := n.Rebuild(t.Context(), api.RebuildRequest{}, nil); err != nil {
			t.Fatal(err)
		}
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
		r := start(t, cfg)
		r.waitFor(t, ends)
		st, err := r.Client.Status(t.Context(), api.StatusRequest{})
		if err != nil || st.Log.Rejected != 1 {
			t.Errorf("local %t: %d events rejected, want 1: %v", local, st.Log.Rejected, err)
		}
		r.stop()
	}
}

// TestVerifyWaitsForABatchBetweenTwoProjections is a regression test: verify failed if a batch had
// reached one projection and not yet the next when it compared them.
func TestVerifyWaitsForABatchBetweenTwoProjections(t *testing.T) {
	n, err := node.Open(t.Context(), config(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	}()
	ends := produce(t, n, `{"command":"make"}`)
	tp := schemas.TopicPartition{Topic: "recount.commands"}
	var b schemas.Batch
	err = n.Log().Follow(t.Context(), pipeline.FollowOptions{Partitions: []schemas.TopicPartition{tp}, Until: ends}, func(ctx context.Context, _ schemas.TopicPartition, recs []schemas.LogRecord, next int64) error {
		records, err := processors.Records(ctx, recs, processors.DefaultChain())
		b = schemas.Batch{Topic: tp.Topic, Partition: tp.Partition, Next: next, Records: records}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	p, release, err := n.Projections().Acquire(segment.Name)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Apply(t.Context(), b); err != nil {
		t.Fatal(err)
	}
	release()
	applied := make(chan error, 1)
	var once sync.Once
	rep, err := n.Verify(t.Context(), api.VerifyRequest{}, func(m api.Progress) {
		if m.Phase == "compare lexical" {
			once.Do(func() { go func() { applied <- n.Projections().Apply(context.Background(), b) }() })
		}
	})
	if err != nil || !rep.OK {
		t.Fatalf("verify: %+v %v", rep, err)
	}
	if err := <-applied; err != nil {
		t.Error(err)
	}
}
