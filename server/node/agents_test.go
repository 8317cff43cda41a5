package node_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/recountdb/recount/projections/objects"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/api"
)

// TestAgentsEventsBecomeObjects checks agents' events of known and unknown types, over HTTP and
// over Kafka, and that their ids are still known after a restart.
func TestAgentsEventsBecomeObjects(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	id := schemas.ProducerID("test", "m-1")
	message := schemas.Event{ID: id, Type: schemas.TypeUserMessage, Payload: []byte(`{"agent":"ada","text":"Checkout fails, token=ghp_0123456789abcdefghijABCDEFGHIJ456789"}`)}
	dream := schemas.Event{Type: "dream_had", Topic: schemas.TopicAgents, Payload: []byte(`{"agent":"ada","text":"Sheep."}`)}
	out, err := r.Client.Append(t.Context(), []schemas.Event{message, dream})
	if err != nil || out[0].Redacted != 1 || out[1].Position.Topic != "recount.agents" {
		t.Fatalf("append: %+v, %v", out, err)
	}
	_, err = r.Log().Produce(t.Context(), schemas.LogRecord{
		Position: schemas.Position{Topic: schemas.TopicAgents, Partition: -1}, Value: []byte(`{"agent":"bob","text":"By Kafka."}`),
		Headers: []schemas.Header{{Key: "ce_type", Value: []byte("rumour_heard")}},
	})
	if err != nil {
		t.Fatal(err)
	}
	texts := func() map[string]recountv1.ObjectType {
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
		p, release, err := r.Projections().Acquire(objects.Name)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
		v, err := p.(*objects.Objects).View()
		if err != nil {
			t.Fatal(err)
		}
		defer v.Close()
		all := map[string]recountv1.ObjectType{}
		for _, tp := range ends.Partitions() {
			for offset := range ends[tp] {
				at, err := v.At(schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: offset})
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range at {
					all[o.Text] = o.Type
				}
			}
		}
		return all
	}
	check := func() {
		t.Helper()
		got := texts()
		if len(got) != 3 || got["Checkout fails, token=[redacted:github-token]"] != recountv1.ObjectType_OBJECT_TYPE_MEMORY ||
			got["Sheep."] != recountv1.ObjectType_OBJECT_TYPE_EVENT || got["By Kafka."] != recountv1.ObjectType_OBJECT_TYPE_EVENT {
			t.Errorf("objects %v", got)
		}
	}
	check()
	r.stop()

	r = start(t, cfg)
	check()
	again, err := r.Client.Append(t.Context(), []schemas.Event{message})
	if err != nil || !again[0].Duplicate || again[0].Position != out[0].Position {
		t.Errorf("the same again: %+v, %v", again, err)
	}
	message.Payload = []byte(`{"agent":"ada","text":"Something else."}`)
	if _, err := r.Client.Append(t.Context(), []schemas.Event{message}); !errors.Is(err, api.ErrReused) {
		t.Errorf("an id reused: got %v", err)
	}
	message.Payload = []byte(`{"agent":"bob","text":"Something else."}`)
	if other, err := r.Client.Append(t.Context(), []schemas.Event{message}); err != nil || other[0].Duplicate {
		t.Errorf("the same id of another agent: %+v, %v", other, err)
	}
}

// TestRefusedOfBatch checks that a client learns which event of a batch was refused, as a program that
// has opened the directory itself does.
func TestRefusedOfBatch(t *testing.T) {
	r := start(t, config(t.TempDir()))
	var batch []schemas.Event
	for _, at := range []string{"2026-11-20T10:00:00Z", "9999-12-31T23:59:59Z"} {
		batch = append(batch, schemas.Event{Type: schemas.TypeUserMessage, Payload: []byte(`{"agent":"ada","text":"Hello.","occurred_at":"` + at + `"}`)})
	}
	_, direct := r.Node.Append(t.Context(), batch)
	_, overHTTP := r.Client.Append(t.Context(), batch)
	for name, err := range map[string]error{"directly": direct, "over HTTP": overHTTP} {
		var wrong *api.EventError
		if !errors.As(err, &wrong) || wrong.Index != 1 || !errors.Is(err, schemas.ErrPoison) {
			t.Errorf("%s: %v, want an error of the second event", name, err)
		}
	}
	if fmt.Sprint(overHTTP) != fmt.Sprint(direct) {
		t.Errorf("over HTTP: %v\ndirectly: %v", overHTTP, direct)
	}
}
