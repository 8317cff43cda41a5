package node_test

import (
	"context"
	"fmt"
	"os"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/recountdb/recount/internal/cputime"
	"github.com/recountdb/recount/query/evidence"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TestSoakLongSession checks that every message of a long session is found by its time and by its
// words. RECOUNT_SOAK=1 appends 100,000 messages, for at most twenty minutes, and reports the speed
// of each tenth.
func TestSoakLongSession(t *testing.T) {
	const clients, aRequest = 4, 100
	messages, asked, most := 500, 5, patience
	if os.Getenv("RECOUNT_SOAK") != "" {
		messages, asked, most = 100_000, 500, 20*time.Minute
	}
	ctx, cancel := context.WithTimeout(t.Context(), most)
	defer cancel()
	r := start(t, config(t.TempDir()))
	began := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	id := func(n int) schemas.EventID { return schemas.NewCanon("long").Int(int64(n)).ID() }
	// word returns a word that only one message has.
	word := func(n int) string { return fmt.Sprintf("ticket%06d", n) }
	message := func(n int) schemas.Event {
		m := &recountv1.AgentEvent{Workspace: "acme/shop", Agent: "claude", Session: "long", Text: fmt.Sprintf(
			"Step %d of %s: the build of service-%d fails in test %d, and so I look at file%d.go.", n%97, word(n), n%13, n%29, n%61)}
		if n > 0 {
			m.ParentEventId = id(n - 1).String()
		}
		payload, err := schemas.EncodePayload(m)
		if err != nil {
			t.Error(err)
		}
		return schemas.Event{ID: id(n), Type: schemas.TypeAssistantMessage, Source: "test", Time: began.Add(time.Duration(n) * time.Second), Payload: payload}
	}

	for tenth := range 10 {
		start, used, part := time.Now(), cputime.Used(), messages/10
		g, running := errgroup.WithContext(ctx)
		g.SetLimit(clients)
		for from := tenth * part; from < (tenth+1)*part; from += aRequest {
			g.Go(func() error {
				var batch []schemas.Event
				for n := from; n < min(from+aRequest, (tenth+1)*part); n++ {
					batch = append(batch, message(n))
				}
				_, err := r.Client.Append(running, batch)
				return err
			})
		}
		if err := g.Wait(); err != nil {
			t.Fatalf("after %d messages: %v", tenth*part, err)
		}
		ends, err := r.Node.Log().Ends(ctx, r.Node.Log().Topic(schemas.TopicAgents))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Node.Projections().Wait(ctx, ends); err != nil {
			t.Fatalf("after %d messages: not visible: %v", (tenth+1)*part, err)
		}
		took := time.Since(start)
		t.Logf("up to message %d: %.0f/s until in every projection, %.0f µs CPU each", (tenth+1)*part,
			float64(part)/took.Seconds(), float64((cputime.Used()-used).Microseconds())/float64(part))
	}

	ask := func(q evidence.Request) []evidence.Object {
		t.Helper()
		q.Mode, q.Scope.Session = evidence.ModeObjects, "long"
		got, err := evidence.Question.Ask(ctx, r.Client, q)
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		return got.Objects
	}
	// By time: all of them, each once.
	for from := 0; from < messages; from += evidence.MaxLimit {
		until := min(from+evidence.MaxLimit, messages)
		got := ask(evidence.Request{Since: began.Add(time.Duration(from) * time.Second), Until: began.Add(time.Duration(until) * time.Second), Limit: evidence.MaxLimit})
		if len(got) != until-from {
			t.Fatalf("messages %d to %d: %d of them", from, until, len(got))
		}
		seen := map[string]bool{}
		for _, o := range got {
			seen[o.EventID] = true
		}
		for n := from; n < until; n++ {
			if !seen[id(n).String()] {
				t.Fatalf("message %d is not among those of its time", n)
			}
		}
	}
	// By a word that only one message has.
	for i := range asked {
		n := i * (messages - 1) / (asked - 1)
		if got := ask(evidence.Request{Text: word(n), Limit: 1}); len(got) != 1 || got[0].EventID != id(n).String() {
			t.Errorf("message %d by its word: %+v", n, got)
		}
	}
}
