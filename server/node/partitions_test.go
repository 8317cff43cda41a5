package node_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// grown adds partitions to the topic of commands while commands come in: by their workspaces and,
// as from other Kafka clients, in each partition in turn.
func grown(t *testing.T, ingest, serve *running, count int) {
	t.Helper()
	total := 0
	send := func(rounds int) {
		for range rounds {
			ingest.append(t, fmt.Sprintf("make by-key-%d", total))
			tps, err := ingest.Log().TopicPartitions(t.Context(), schemas.TopicCommands)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := ingest.Log().Produce(t.Context(), schemas.LogRecord{
				Position: schemas.Position{Topic: schemas.TopicCommands, Partition: tps[total%len(tps)].Partition},
				Value:    fmt.Appendf(nil, `{"command":"make in-turn-%d","cwd":"/src"}`, total),
			}); err != nil {
				t.Fatal(err)
			}
			total++
		}
	}
	send(20)
	for _, n := range []int{8, 24} {
		var sending sync.WaitGroup
		sending.Go(func() { send(30) })
		r, err := ingest.Client.Grow(t.Context(), api.GrowRequest{Topic: "commands", Partitions: n}, nil)
		sending.Wait()
		if err != nil || r.Partitions != n {
			t.Fatalf("grow to %d: %+v %v", n, r, err)
		}
	}
	send(30)
	ends, err := ingest.Log().Ends(t.Context(), schemas.TopicCommands)
	if err != nil || len(ends) != count {
		t.Fatalf("%d partitions, %v", len(ends), err)
	}
	serve.waitFor(t, ends)
	st, err := serve.Client.Status(t.Context(), api.StatusRequest{})
	// Partitions without events may be unread for a few seconds more, and a status may be from before.
	for deadline := time.Now().Add(patience); err == nil && len(st.Log.Unread) > 0 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		st, err = serve.Client.Status(t.Context(), api.StatusRequest{})
	}
	if err != nil || st.Intents.Count != int64(2*total) || len(st.Log.Unread) > 0 {
		t.Errorf("%d commands visible of %d, unread %v, %v", st.Intents.Count, 2*total, st.Log.Unread, err)
	}
	if err := serve.Client.Ready(t.Context()); err != nil {
		t.Errorf("ready: %v", err)
	}
	v, err := serve.Client.Verify(t.Context(), api.VerifyRequest{Projections: []string{"segment", "graph"}}, nil)
	if err != nil || !v.OK || v.Events < int64(2*total) {
		t.Errorf("verify: %+v %v", v, err)
	}
}

func TestPartitionsAreAdded(t *testing.T) {
	t.Parallel()
	r := start(t, config(t.TempDir()))
	grown(t, r, r, 24)
}

func TestPartitionsAreAddedInSplitRoles(t *testing.T) {
	t.Parallel()
	front := config(t.TempDir())
	front.Roles = []string{node.RoleLog, node.RoleIngest}
	a := start(t, front)
	brokers := node.KafkaConfig{Brokers: []string{a.KafkaAddr()}}
	back := config(t.TempDir())
	back.Roles, back.Kafka = []string{node.RoleProject, node.RoleServe}, brokers
	c := start(t, back)
	middle := config(t.TempDir())
	middle.Roles, middle.Kafka = []string{node.RoleProcess}, brokers
	b := start(t, middle)
	grown(t, a, c, 24)

	// Nobody processes the partition added now, so it is reported as unread.
	b.stop()
	if _, err := a.Client.Grow(t.Context(), api.GrowRequest{Topic: "commands", Partitions: 25}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Log().Produce(t.Context(), schemas.LogRecord{
		Position: schemas.Position{Topic: schemas.TopicCommands, Partition: 24}, Value: []byte(`{"command":"make unseen","cwd":"/src"}`),
	}); err != nil {
		t.Fatal(err)
	}
	// What a status says, and what a client knows of a topic, may be from before, for a second at most.
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		if st, err := c.Client.Status(t.Context(), api.StatusRequest{}); err != nil || len(st.Log.Unread) > 0 {
			break
		}
	}
	v, err := c.Client.Verify(t.Context(), api.VerifyRequest{Projections: []string{"segment"}}, nil)
	if err != nil || v.OK || len(v.Unread) != 1 || v.Unread[0] != "recount.commands/24" {
		t.Errorf("verify with a partition that nobody reads: %+v %v", v, err)
	}
	if err := c.Client.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "recount.commands/24") {
		t.Errorf("ready with a partition that nobody reads: %v", err)
	}
	if st, err := c.Client.Status(t.Context(), api.StatusRequest{}); err != nil || len(st.Log.Unread) != 1 {
		t.Errorf("status with a partition that nobody reads: %+v %v", st.Log, err)
	}
	// Its events are found once somebody processes them.
	start(t, middle)
	resp := c.find(t, commands.FindRequest{Text: "make unseen", Limit: 1, AtLeast: schemas.Watermark{{Topic: "recount.commands", Partition: 24}: 1}})
	if len(resp.Hits) == 0 || resp.Hits[0].Command != "make unseen" {
		t.Errorf("got %v", commandsOf(resp))
	}
}

// TestRebuildWithoutTheOtherTopics checks that the rebuild and the verification of one projection end,
// and count no events, however many events there are in topics that it does not read.
func TestRebuildWithoutTheOtherTopics(t *testing.T) {
	r := start(t, config(t.TempDir()))
	outcomes := make([]schemas.Event, 5000) // more than a rebuild leaves to its last step, and soon applied
	for i := range outcomes {
		outcomes[i] = schemas.Event{Type: schemas.TypeOutcomeObserved, Payload: fmt.Appendf(nil, `{"command_event_id":"build %d","exit_code":1}`, i)}
	}
	if _, err := r.Client.Append(t.Context(), outcomes); err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), schemas.TopicCommands)
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	reports := 0
	bounded := func(p api.Progress) {
		if p.Total > 0 {
			t.Errorf("%s: %d events to read", p.Phase, p.Total)
		}
		if reports++; reports > 100 {
			cancel()
		}
	}
	only := []string{"code"}
	if rebuilt, err := r.Client.Rebuild(ctx, api.RebuildRequest{Projections: only}, bounded); err != nil || rebuilt.Events != 0 {
		t.Fatalf("rebuild: %+v %v", rebuilt, err)
	}
	if v, err := r.Client.Verify(ctx, api.VerifyRequest{Projections: only}, bounded); err != nil || !v.OK || v.Events != 0 {
		t.Errorf("verify: %+v %v", v, err)
	}
}
