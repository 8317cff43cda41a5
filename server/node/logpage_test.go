package node_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// TestLogPage reads a partition page by page over HTTP: forwards, from its end, and beyond both ends.
func TestLogPage(t *testing.T) {
	r := start(t, config(t.TempDir()))
	var commands []string
	for _, c := range "abcdefg" {
		commands = append(commands, "echo "+string(c))
	}
	first := r.append(t, commands...)[0].Position
	short := schemas.Position{Topic: schemas.TopicCommands, Partition: first.Partition, Offset: first.Offset}
	if page, err := r.Client.LogPage(t.Context(), api.LogRequest{Topic: short.Topic, Partition: short.Partition}); err != nil || page.Topic != first.Topic || len(page.Events) != len(commands) {
		t.Errorf("a topic by its name without the prefix: %q with %d events, %v", page.Topic, len(page.Events), err)
	}
	if e, err := r.Client.Event(t.Context(), short); err != nil || e.Position != first {
		t.Errorf("a position without the prefix: %v, %v", e.Position, err)
	}
	topics, err := r.Client.LogTopics(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	held := int64(0)
	for _, topic := range topics.Topics {
		for _, p := range topic.Partitions {
			if topic.Name == first.Topic {
				held += p.End - p.Start
			}
		}
	}
	if held != int64(len(commands)) {
		t.Errorf("%s holds %d events by the list of topics, want %d", first.Topic, held, len(commands))
	}
	for _, c := range []struct {
		why        string
		from       int64 // negative: none
		limit      int
		want       string
		begin, end int64
	}{
		{"from the start", 0, 3, "abc", 0, 3},
		{"on from there", 3, 3, "def", 3, 6},
		{"the last page is short", 6, 3, "g", 6, 7},
		{"at the end there is nothing", 7, 3, "", 7, 7},
		{"beyond the end there is nothing either", 1 << 40, 3, "", 7, 7},
		{"without an offset, the newest", -1, 2, "fg", 5, 7},
		{"the default is more than all", -1, 0, "abcdefg", 0, 7},
	} {
		q := api.LogRequest{Topic: first.Topic, Partition: first.Partition, Limit: c.limit}
		if c.from >= 0 {
			q.From = &c.from
		}
		page, err := r.Client.LogPage(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", c.why, err)
		}
		got := ""
		for _, e := range page.Events {
			var payload struct{ Command string }
			if err := json.Unmarshal(e.Payload, &payload); err != nil {
				t.Fatalf("%s: %v", c.why, err)
			}
			got += strings.TrimPrefix(payload.Command, "echo ")
			if e.Raw != nil {
				t.Errorf("%s: bytes that nobody asked for", c.why)
			}
		}
		if got != c.want || page.From != c.begin || page.Next != c.end || page.Start != 0 || page.End != 7 {
			t.Errorf("%s: %q from %d, next %d, of %d to %d; want %q from %d, next %d", c.why, got, page.From, page.Next, page.Start, page.End, c.want, c.begin, c.end)
		}
	}
	for _, bad := range []api.LogRequest{{Topic: "recount.nothing"}, {Topic: first.Topic, Partition: 99}} {
		var none *query.NotFoundError
		if _, err := r.Client.LogPage(t.Context(), bad); !errors.As(err, &none) {
			t.Errorf("%+v: %v, want that it is not found", bad, err)
		}
	}
	if _, err := r.Node.LogPage(t.Context(), api.LogRequest{Topic: first.Topic, Limit: api.MaxLogPage + 1}); err == nil {
		t.Error("a page of any size")
	}
}

// TestLogPageIsBounded checks that a page ends before its payloads exceed 4 MiB, and that the next one
// goes on there; bytes that are no JSON are shown as they are.
func TestLogPageIsBounded(t *testing.T) {
	r := start(t, config(t.TempDir()))
	large := bytes.Repeat([]byte{0xff, 'x'}, 700<<10)
	for range 4 {
		if _, err := r.Log().Produce(t.Context(), schemas.LogRecord{Position: schemas.Position{Topic: "recount.commands"}, Value: large}); err != nil {
			t.Fatal(err)
		}
	}
	from := int64(0)
	page, err := r.Client.LogPage(t.Context(), api.LogRequest{Topic: "recount.commands", From: &from, Raw: true})
	if err != nil || len(page.Events) != 2 || page.Next != 2 || page.End != 4 {
		t.Fatalf("%d events, next %d of %d: %v; want 2 of 4", len(page.Events), page.Next, page.End, err)
	}
	if e := page.Events[0]; !bytes.Equal(e.Raw, large) || !bytes.Equal(e.PayloadBase64, large) {
		t.Errorf("%d bytes, payload of %d; want %d", len(e.Raw), len(e.PayloadBase64), len(large))
	}
	page, err = r.Client.LogPage(t.Context(), api.LogRequest{Topic: "recount.commands", From: &page.Next})
	if err != nil || len(page.Events) != 2 || page.Next != 4 {
		t.Errorf("on from there: %d events, next %d: %v", len(page.Events), page.Next, err)
	}
}

// TestLogPageShowsNothingErased checks that an erased event appears without its bytes.
func TestLogPageShowsNothingErased(t *testing.T) {
	r := start(t, config(t.TempDir()))
	at := r.append(t, "psql -c "+secret)[0].Position
	q := api.LogRequest{Topic: at.Topic, Partition: at.Partition, From: &at.Offset, Raw: true}
	page, err := r.Client.LogPage(t.Context(), q)
	if err != nil || len(page.Events) != 1 || !bytes.Contains(page.Events[0].Raw, []byte(secret)) {
		t.Fatalf("before: %+v %v", page, err)
	}
	if _, err := r.Client.Forget(t.Context(), api.ForgetRequest{Events: []string{at.String()}}, nil); err != nil {
		t.Fatal(err)
	}
	page, err = r.Client.LogPage(t.Context(), q)
	if err != nil || len(page.Events) != 1 || page.Events[0].Erased == nil {
		t.Fatalf("after: %+v %v", page, err)
	}
	if b, err := json.Marshal(page); err != nil || bytes.Contains(b, []byte(secret)) || bytes.Contains(page.Events[0].Raw, []byte(secret)) {
		t.Errorf("the page shows what was erased: %s %v", b, err)
	}
}

// TestEvent reads single events over HTTP: of any kind, none beyond the end, and not an erased one.
func TestEvent(t *testing.T) {
	r := start(t, config(t.TempDir()))
	at := r.append(t, "make build")[0].Position
	agents, err := r.Client.Append(t.Context(), []schemas.Event{{Type: "user_message", Topic: schemas.TopicAgents, Payload: []byte(`{"agent":"claude","workspace":"/a","text":"hello"}`)}})
	if err != nil {
		t.Fatal(err)
	}
	for position, want := range map[schemas.Position]string{at: "make build", agents[0].Position: "hello"} {
		e, err := r.Client.Event(t.Context(), position)
		if err != nil || e.Position != position || !strings.Contains(string(e.Payload), want) || e.Headers["ce_type"] != e.Type {
			t.Errorf("%s: %+v, %v", position, e, err)
		}
	}
	var nf *query.NotFoundError
	for _, none := range []schemas.Position{{Topic: at.Topic, Partition: at.Partition, Offset: at.Offset + 1}, {Topic: at.Topic, Partition: 99}} {
		if _, err := r.Client.Event(t.Context(), none); !errors.As(err, &nf) {
			t.Errorf("%s: %v", none, err)
		}
	}
	if _, err := r.Client.Forget(t.Context(), api.ForgetRequest{Events: []string{at.String()}, Wait: true}, func(api.Progress) {}); err != nil {
		t.Fatal(err)
	}
	var gone *query.ErasedError
	if _, err := r.Client.Event(t.Context(), at); !errors.As(err, &gone) {
		t.Errorf("an erased event: %v", err)
	}
}
