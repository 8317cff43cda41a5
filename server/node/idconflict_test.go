package node_test

import (
	"context"
	"strings"
	"testing"

	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// TestReusedIDOverKafka checks that an event that a Kafka client appends with the id of a different
// event is rejected, with its position and that of the other, and that the same event twice is not.
// A rebuild gives the same state and rejects nothing again.
func TestReusedIDOverKafka(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	say := func(id, agent, text string) schemas.Position {
		t.Helper()
		at, err := r.Log().Produce(t.Context(), schemas.LogRecord{
			Position: schemas.Position{Topic: schemas.TopicAgents, Partition: -1}, Key: []byte("w"),
			Value:   []byte(`{"agent":"` + agent + `","text":"` + text + `"}`),
			Headers: []schemas.Header{{Key: "ce_type", Value: []byte(schemas.TypeUserMessage)}, {Key: "ce_id", Value: []byte(id)}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return at[0]
	}
	settled := func() {
		t.Helper()
		ends, err := r.Log().Ends(t.Context(), "recount.agents")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		if err := r.Projections().Wait(ctx, ends); err != nil {
			t.Fatal(err)
		}
	}
	first := say("m1", "ada", "The port is 8080.")
	settled()
	say("m1", "ada", "The port is 8080.")            // again
	say("m1", "bob", "The port is 8080, says Bob.")  // another agent's own
	other := say("m1", "ada", "The port is 9090.")   // another event
	say("m2", "ada", "Two of one id in one batch.")  // perhaps
	more := say("m2", "ada", "And not the same one") // perhaps
	settled()
	rejected := func() []*recountv1.Rejected {
		t.Helper()
		ends, err := r.Log().Ends(t.Context(), "recount.rejected")
		if err != nil {
			t.Fatal(err)
		}
		var all []*recountv1.Rejected
		for _, tp := range ends.Partitions() {
			for offset := range ends[tp] {
				lr, err := r.Log().Read(t.Context(), schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset})
				if err != nil {
					t.Fatal(err)
				}
				e, err := lr.Event()
				if err != nil {
					t.Fatal(err)
				}
				m, err := e.DecodePayload()
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, m.(*recountv1.Rejected))
			}
		}
		return all
	}
	check := func() {
		t.Helper()
		got := map[schemas.Position]string{}
		for _, x := range rejected() {
			got[schemas.PositionOf(x.Position)] = x.Reason
			if len(x.Value) == 0 {
				t.Errorf("%s: without its bytes", schemas.PositionOf(x.Position))
			}
		}
		if len(got) != 2 || !strings.Contains(got[other], first.String()) || !strings.Contains(got[more], "id reused") {
			t.Errorf("rejected: %v, want %s and %s", got, other, more)
		}
	}
	check()
	answer, err := evidence.Question.Ask(t.Context(), r.Client, evidence.Request{Text: "port"})
	if err != nil || len(answer.Objects) == 0 || strings.Contains(answer.Objects[0].Snippet, "9090") {
		t.Errorf("%+v %v", answer.Objects, err)
	}
	if _, err := r.Client.Rebuild(t.Context(), api.RebuildRequest{}, nil); err != nil {
		t.Fatal(err)
	}
	verified(t, r.Client)
	check()
	r.stop()
	n, err := node.OpenLocal(t.Context(), cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Error(err)
	}
}
