package node_test

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
)

// history is what an import would append: commands with outcomes, or agents' messages.
func history(topic string, from, n int) []schemas.Event {
	var all []schemas.Event
	at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for i := from; i < from+n; i++ {
		then := at.Add(time.Duration(i) * time.Minute)
		id := schemas.ProducerID("history", fmt.Sprint(topic, i))
		if topic == schemas.TopicAgents {
			all = append(all, schemas.Event{ID: id, Type: schemas.TypeUserMessage, Time: then, Payload: fmt.Appendf(nil, `{"tenant":"t%d","workspace":"w","agent":"ada","text":"message %d"}`, i%2, i)})
			continue
		}
		all = append(
			all,
			schemas.Event{ID: id, Type: schemas.TypeCommandExecuted, Time: then, Payload: fmt.Appendf(nil, `{"command":"make part%d","cwd":"/src/%d","session":"s","started_at":%q}`, i, i%3, then.Format(time.RFC3339))},
			schemas.Event{ID: schemas.ProducerID("history", fmt.Sprint("outcome", i)), Type: schemas.TypeOutcomeObserved, Time: then.Add(time.Second), Key: fmt.Appendf(nil, "/src/%d", i%3), Payload: fmt.Appendf(nil, `{"command_event_id":%q,"exit_code":%d}`, id, i%2)},
		)
	}
	return all
}

// agedHistory puts a history onto the log as it was put there so long ago.
func agedHistory(t *testing.T, r *running, topic string, from, n int, ago time.Duration) {
	t.Helper()
	var recs []schemas.LogRecord
	for _, e := range history(topic, from, n) {
		e.Source, e.ContentType = schemas.DefaultSource, schemas.ContentJSON
		if e.Key == nil {
			e.Key = e.DeriveKey()
		}
		recs = append(recs, schemas.LogRecord{
			Position: schemas.Position{Topic: r.Log().Topic(topic), Partition: -1}, Timestamp: time.Now().Add(-ago),
			Headers: e.Headers(), Key: e.Key, Value: e.Payload,
		})
	}
	if _, err := r.Log().Produce(t.Context(), recs...); err != nil {
		t.Fatal(err)
	}
}

// again appends a history and says how many events were new, and how many retention removed.
// Outcomes that stay are not counted: no projection knows their ids, and a second copy changes
// nothing.
func again(t *testing.T, r *running, topic string, from, n int) (fresh, retired int) {
	t.Helper()
	all := history(topic, from, n)
	done, err := r.Client.Append(t.Context(), all)
	if err != nil {
		t.Fatal(err)
	}
	for i, d := range done {
		switch {
		case d.Retired && d.Duplicate && d.Position.Topic == r.Log().Topic(topic):
			retired++
		case d.Retired:
			t.Errorf("a retired event: %+v", d)
		case !d.Duplicate && all[i].Type != schemas.TypeOutcomeObserved:
			fresh++
		}
	}
	return fresh, retired
}

// TestRetainedStayAway: what retention removed of commands and of agents' events does not come
// back with the next import of the same history, also after a restart, after the file of ids is
// lost, and after a second retention; the state is what a rebuild makes of the rest.
func TestRetainedStayAway(t *testing.T) {
	for topic, each := range map[string]int{schemas.TopicCommands: 2, schemas.TopicAgents: 1} {
		t.Run(topic, func(t *testing.T) {
			cfg := config(t.TempDir())
			r := start(t, cfg)
			agedHistory(t, r, topic, 0, 40, 72*time.Hour)
			agedHistory(t, r, topic, 40, 20, 30*time.Hour)
			agedHistory(t, r, topic, 60, 5, time.Hour)
			did, err := r.Client.Retain(t.Context(), api.RetainRequest{Topic: topic, AgeSeconds: 48 * 3600}, nil)
			if err != nil || did.Events != int64(40*each) || did.Event == nil {
				t.Fatalf("retain: %+v, %v", did, err)
			}
			look := func(r *running, gone int) {
				t.Helper()
				if fresh, retired := again(t, r, topic, 0, 65); fresh != 0 || retired != gone*each {
					t.Errorf("imported again: %d new, %d retired, want 0 and %d", fresh, retired, gone*each)
				}
				sameAsRebuilt(t, r)
			}
			look(r, 40)
			look(r, 40) // also those that were asked for a moment ago
			r.stop()
			if err := os.Remove(filepath.Join(cfg.DataDir, "retired-ids")); err != nil {
				t.Fatal(err)
			}
			r = start(t, cfg)
			look(r, 40)
			if did, err = r.Client.Retain(t.Context(), api.RetainRequest{Topic: topic, AgeSeconds: 24 * 3600}, nil); err != nil || did.Events != int64(20*each) {
				t.Fatalf("a second retention: %+v, %v", did, err)
			}
			r.stop()
			r = start(t, cfg)
			look(r, 60)
			known(t, r, topic)
			if fresh, retired := again(t, r, topic, 100, 1); fresh != 1 || retired != 0 {
				t.Errorf("a new event: %d new, %d retired", fresh, retired)
			}
		})
	}
}

// TestRetiredIDsDamaged checks that a damaged file of retired ids is made again from the log,
// and lets no event back.
func TestRetiredIDsDamaged(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	agedHistory(t, r, schemas.TopicCommands, 0, 40, 72*time.Hour)
	if _, err := r.Client.Retain(t.Context(), api.RetainRequest{Topic: schemas.TopicCommands, AgeSeconds: 48 * 3600}, nil); err != nil {
		t.Fatal(err)
	}
	_, want := again(t, r, schemas.TopicCommands, 0, 40)
	file := filepath.Join(cfg.DataDir, "retired-ids")
	for name, damage := range map[string]func([]byte) []byte{
		"cut short":      func(b []byte) []byte { return b[:len(b)-len(b)/32*16] },
		"a key too many": func(b []byte) []byte { return append(b, make([]byte, 16)...) },
		"flipped bits": func(b []byte) []byte {
			for i := 40; i < len(b); i += 16 {
				b[i] ^= 1
			}
			return b
		},
		"part of the header": func(b []byte) []byte { return b[:20] },
	} {
		r.stop()
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, damage(b), 0o600); err != nil {
			t.Fatal(err)
		}
		r = start(t, cfg)
		if fresh, retired := again(t, r, schemas.TopicCommands, 0, 40); fresh != 0 || retired != want {
			t.Errorf("%s: %d new, %d retired, want 0 and %d", name, fresh, retired, want)
		}
	}
}

// known checks that answers and status say since when a topic is known.
func known(t *testing.T, r *running, topic string) {
	t.Helper()
	st, err := r.Client.Status(t.Context(), api.StatusRequest{})
	if err != nil {
		t.Fatal(err)
	}
	hints := map[string]string{}
	if topic == schemas.TopicAgents {
		if st.Log.AgentsSince == nil || st.Log.CommandsSince != nil || st.Log.SpansSince != nil {
			t.Errorf("status: %+v", st.Log)
		}
		resp, err := evidence.Question.Ask(t.Context(), r.Client, evidence.Request{Text: "message 3"})
		if err != nil {
			t.Fatal(err)
		}
		hints["ask"] = resp.Hint
	} else {
		if st.Log.CommandsSince == nil || st.Log.AgentsSince != nil || st.Log.SpansSince != nil {
			t.Errorf("status: %+v", st.Log)
		}
		found := r.find(t, commands.FindRequest{Text: "make part63"})
		if len(found.Hits) != 1 && len(found.Hits) != 5 || found.Hits[0].ExitCode == nil {
			t.Fatalf("of 5 commands that stay: %+v", found.Hits)
		}
		hints["find"] = found.Hint
		id := found.Hits[0].ID.String()
		why, err := commands.WhyQuestion.Ask(t.Context(), r.Client, commands.WhyRequest{Ref: id})
		if err != nil {
			t.Fatal(err)
		}
		stitch, err := commands.StitchQuestion.Ask(t.Context(), r.Client, commands.StitchRequest{Ref: id})
		if err != nil {
			t.Fatal(err)
		}
		insights, err := commands.InsightsQuestion.Ask(t.Context(), r.Client, commands.InsightsRequest{})
		if err != nil {
			t.Fatal(err)
		}
		hints["why"], hints["stitch"], hints["insights"] = why.Hint, stitch.Hint, insights.Hint
		_, err = r.Client.Show(t.Context(), history(topic, 1, 1)[0].ID.String())
		hints["show"] = fmt.Sprint(err)
		if late := r.find(t, commands.FindRequest{Text: "make", Filters: commands.Filters{Since: time.Now()}}); strings.Contains(late.Hint, "retention") {
			t.Errorf("a question about what is known: %q", late.Hint)
		}
	}
	for question, hint := range hints {
		if !strings.Contains(hint, "are known since ") || !strings.Contains(hint, "retention removed") {
			t.Errorf("%s: %q", question, hint)
		}
	}
}

// TestRetainIDsCutShort: ids that no records.retired names, as a crash between the two leaves
// them, count for nothing; a process that ended after records.retired finishes it.
func TestRetainIDsCutShort(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	agedHistory(t, r, schemas.TopicCommands, 0, 10, 72*time.Hour)
	agedHistory(t, r, schemas.TopicCommands, 10, 2, time.Hour)
	day := api.RetainRequest{Topic: schemas.TopicCommands, AgeSeconds: 24 * 3600}
	other := history(schemas.TopicCommands, 500, 1)[0]
	for i := range 2 { // the crash happens twice
		payload := fmt.Appendf(nil, `{"topic":"recount.commands","ids":%q}`, base64.StdEncoding.EncodeToString(other.ID[:]))
		e := schemas.Event{ID: schemas.EventID{byte(i + 1)}, Type: schemas.TypeIDsRetired, Source: "test", Time: time.Now(), ContentType: schemas.ContentJSON, Payload: payload}
		if _, err := r.Log().Append(t.Context(), schemas.TopicFacts, e); err != nil {
			t.Fatal(err)
		}
		r.stop()
		r = start(t, cfg)
	}
	did, err := r.Client.Retain(t.Context(), day, nil)
	if err != nil || did.Events != 20 {
		t.Fatalf("retain: %+v, %v", did, err)
	}
	if fresh, retired := again(t, r, schemas.TopicCommands, 500, 1); fresh != 1 || retired != 0 {
		t.Errorf("ids that nothing names: %d new, %d retired", fresh, retired)
	}
	for range 2 {
		r.stop()
		// As if nothing of it had been noted.
		for _, name := range []string{"erased", "retired-ids"} {
			if err := os.RemoveAll(filepath.Join(cfg.DataDir, name)); err != nil {
				t.Fatal(err)
			}
		}
		r = start(t, cfg)
		if fresh, retired := again(t, r, schemas.TopicCommands, 0, 12); fresh != 0 || retired != 20 {
			t.Errorf("after a crash: %d new, %d retired", fresh, retired)
		}
		sameAsRebuilt(t, r)
	}
	// Forgetting everything that is like anything leaves the ids.
	if _, err := r.Client.Forget(t.Context(), api.ForgetRequest{Pattern: "(?s).+", Topics: []string{schemas.TopicFacts}}, nil); err != nil {
		t.Fatal(err)
	}
	r.stop()
	if err := os.RemoveAll(filepath.Join(cfg.DataDir, "retired-ids")); err != nil {
		t.Fatal(err)
	}
	r = start(t, cfg)
	if fresh, retired := again(t, r, schemas.TopicCommands, 0, 12); fresh != 0 || retired != 20 {
		t.Errorf("after forget: %d new, %d retired", fresh, retired)
	}
}

// TestRetainRefusesTopics: what others rest on is refused, and the answer says why.
func TestRetainRefusesTopics(t *testing.T) {
	r := start(t, config(t.TempDir()))
	for topic, want := range map[string]string{
		schemas.TopicCommits: "recount gc", schemas.TopicErasures: "what was removed", schemas.TopicFacts: "ids of removed events", schemas.TopicRejected: "could not be applied",
	} {
		_, err := r.Client.Retain(t.Context(), api.RetainRequest{Topic: topic, AgeSeconds: 3600}, nil)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", topic, err, want)
		}
	}
}
