package node_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// TestOneProjectionRefuses checks that a record that one projection refuses is in the rejected
// topic, and that the other projections apply it. It is a regression test: projections after the
// refusing one got the record without its body, and differed when rebuilt alone.
func TestOneProjectionRefuses(t *testing.T) {
	n, err := node.OpenLocal(t.Context(), config(t.TempDir()), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer n.Close()
	ends := produce(t, n, `{"command":"make one"}`, `{"command":"make two"}`)
	tp := ends.Partitions()[0]
	at := schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: ends[tp] - 1}
	rec := &recountv1.Record{
		Origin: at.Proto(), EventId: append(make([]byte, 15), 1), EventType: schemas.TypeCommandExecuted, TimeUnixNano: 1,
		Body: &recountv1.Record_Intent{Intent: &recountv1.Intent{
			Command: "make two", Embedding: make([]float32, 384), Embedder: strings.Repeat("e", 1000), ContentHash: 1,
		}},
	}
	rec.GetIntent().Embedding[0] = 1
	if err := n.Projections().Apply(t.Context(), schemas.Batch{Topic: tp.Topic, Partition: tp.Partition, Next: ends[tp], Records: []*recountv1.Record{rec}}); err != nil {
		t.Fatal(err)
	}
	if got, err := commands.FindQuestion.Ask(t.Context(), n, commands.FindRequest{Limit: 10}); err != nil || len(got.Hits) != 1 || got.Hits[0].Command != "make two" {
		t.Errorf("found %v %v", commandsOf(got), err)
	}
	st, err := n.Status(t.Context(), api.StatusRequest{})
	if err != nil || st.Log.Rejected != 1 {
		t.Fatalf("%d events rejected, want 1: %v", st.Log.Rejected, err)
	}
	rejected, err := n.Log().Ends(t.Context(), schemas.TopicRejected)
	if err != nil {
		t.Fatal(err)
	}
	for tp, end := range rejected {
		if end == 0 {
			continue
		}
		lr, err := n.Log().Read(t.Context(), schemas.Position{Topic: tp.Topic, Partition: tp.Partition})
		if err != nil {
			t.Fatal(err)
		}
		var r recountv1.Rejected
		if err := proto.Unmarshal(lr.Value, &r); err != nil || schemas.PositionOf(r.GetPosition()) != at ||
			r.GetBy() != "vector" || !strings.Contains(r.GetReason(), "embedder") || !strings.Contains(string(r.GetValue()), "make two") {
			t.Errorf("rejected: %v %v", &r, err)
		}
	}
}
