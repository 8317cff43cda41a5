package node_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/internal/racing"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// work is the day of one writer: sessions of editing, building, failing, fixing and building again,
// so that every kind of edge occurs. Each event has its own id, and the same seed gives the same
// events.
type work struct {
	rng     *rand.Rand
	writer  int
	n       int
	session int
	at      time.Time
	running schemas.EventID // a command without an outcome so far
}

func newWork(writer int) *work {
	return &work{rng: rand.New(rand.NewPCG(7, uint64(writer))), writer: writer, at: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)}
}

// batch returns the next few events.
func (w *work) batch() []schemas.Event {
	var out []schemas.Event
	if w.rng.IntN(4) == 0 {
		w.session++
	}
	dir := fmt.Sprintf("/src/service-%d", w.rng.IntN(5))
	file := fmt.Sprintf("pkg%d/file%d.go", w.rng.IntN(4), w.rng.IntN(30))
	if w.running != (schemas.EventID{}) {
		out = append(out, w.event(schemas.TypeOutcomeObserved, dir, fmt.Sprintf(`{"command_event_id":%q,"exit_code":%d,"duration":"3s"}`, w.running, w.rng.IntN(2))))
		w.running = schemas.EventID{}
	}
	run := func(command, rest string) {
		out = append(out, w.event(schemas.TypeCommandExecuted, dir,
			fmt.Sprintf(`{"command":%q,"cwd":%q,"workspace":%q,"session":"w%d-s%d","host":"laptop"%s}`, command, dir, dir, w.writer, w.session, rest)))
	}
	run("sed -i s/a/b/ "+file, `,"exit_code":0`)
	run("go test ./"+filepath.Dir(file), `,"exit_code":1,"output_tail":"FAIL: undefined: x"`)
	run(fmt.Sprintf("cp %s %s.%d", file, file, w.n), `,"exit_code":0`)
	run("cat "+file, `,"exit_code":0`)
	run("go test ./"+filepath.Dir(file), `,"exit_code":0`)
	if w.rng.IntN(3) == 0 {
		run("git commit -am 'mend "+file+"'", "")
		w.running = out[len(out)-1].ID
	}
	return out
}

func (w *work) event(kind, key, payload string) schemas.Event {
	w.n++
	w.at = w.at.Add(time.Duration(1+w.rng.IntN(20)) * time.Second)
	return schemas.Event{
		ID: schemas.NewCanon("work").String(fmt.Sprint(w.writer)).String(fmt.Sprint(w.n)).ID(), Type: kind, Key: []byte(key), Time: w.at, Payload: []byte(payload),
	}
}

// TestSoakAsked runs two writers and eight readers on a node at once, for some hundred questions,
// or with RECOUNT_SOAK=1 for ten minutes. It checks that nothing blocks for ever, every question is
// answered, everything acknowledged is found, and the live state equals a rebuild.
func TestSoakAsked(t *testing.T) {
	const writers, readers = 2, 8
	batches, atLeast, long := 30, 12, os.Getenv("RECOUNT_SOAK") != ""
	if racing.On {
		batches = 10
	}
	end := time.Now().Add(10 * time.Minute)
	cfg := config(t.TempDir())
	node.SealEarly(&cfg, 200)
	r := start(t, cfg)

	var mu sync.Mutex
	acked := map[schemas.EventID]schemas.Position{}
	var recent []api.Appended // commands, a few of the latest among them
	var writing, reading sync.WaitGroup
	written := make(chan struct{})
	for writer := range writers {
		writing.Go(func() {
			w := newWork(writer)
			for i := 0; long && time.Now().Before(end) || !long && i < batches; i++ {
				events := w.batch()
				ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
				out, err := r.Client.Append(ctx, events)
				if err == nil && i%20 == 19 { // so that what is visible keeps up
					_, err = commands.FindQuestion.Ask(ctx, r.Client, commands.FindRequest{AtLeast: visible(out[len(out)-1]), WaitMS: waitMS, Limit: 1})
				}
				cancel()
				if err != nil {
					t.Errorf("append: %v", err)
					return
				}
				mu.Lock()
				for k, a := range out {
					acked[a.ID] = a.Position
					if events[k].Type == schemas.TypeCommandExecuted {
						recent = append(recent, a)
					}
				}
				mu.Unlock()
			}
		})
	}
	drawn := func(rng *rand.Rand) (api.Appended, bool) {
		mu.Lock()
		defer mu.Unlock()
		if len(recent) == 0 {
			return api.Appended{}, false
		}
		if rng.IntN(2) == 0 {
			return recent[len(recent)-1-rng.IntN(min(20, len(recent)))], true // may be only just visible
		}
		return recent[rng.IntN(len(recent))], true
	}
	asked := make([]int, len(questions))
	for reader := range readers {
		reading.Go(func() {
			rng := rand.New(rand.NewPCG(9, uint64(reader)))
			for i := 0; i < atLeast || !isClosed(written); {
				of, ok := drawn(rng)
				if !ok {
					if isClosed(written) {
						return // the writers failed, which has been reported
					}
					time.Sleep(time.Millisecond)
					continue
				}
				which := (reader + i) % len(questions)
				ctx, cancel := context.WithTimeout(t.Context(), 2*patience)
				err := questions[which].ask(ctx, r, of, rng)
				cancel()
				if err != nil {
					t.Errorf("%s %s: %v", questions[which].name, of.ID, err)
					return
				}
				mu.Lock()
				asked[which]++
				mu.Unlock()
				i++
			}
		})
	}
	writing.Wait()
	close(written)
	reading.Wait()
	if t.Failed() {
		t.FailNow()
	}

	ends, err := r.Log().Ends(t.Context(), "recount.commands")
	if err != nil {
		t.Fatal(err)
	}
	r.waitFor(t, ends)
	for _, a := range recent {
		if got, err := r.Client.Show(t.Context(), a.ID.String()); err != nil || got.Position != a.Position {
			t.Fatalf("acknowledged at %s: %s %v", a.Position, got.Position, err)
		}
	}
	for id, at := range acked {
		if lr, err := r.Log().Read(t.Context(), at); err != nil || lr.Position != at {
			t.Fatalf("%s, acknowledged at %s: %v", id, at, err)
		}
	}
	total := int64(0)
	for _, end := range ends {
		total += end
	}
	if total != int64(len(acked)) {
		t.Errorf("%d events in the log, %d acknowledged", total, len(acked))
	}
	v, err := r.Client.Verify(t.Context(), api.VerifyRequest{}, nil)
	if err != nil || !v.OK {
		t.Errorf("verify: %+v %v", v, err)
	}
	for i, q := range questions {
		t.Logf("%-8s asked %d times", q.name, asked[i])
	}
	t.Logf("%d events acknowledged, %d commands", len(acked), len(recent))
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// questions are the readers' questions about a command in the log.
var questions = []struct {
	name string
	ask  func(ctx context.Context, r *running, of api.Appended, rng *rand.Rand) error
}{
	{"find", func(ctx context.Context, r *running, of api.Appended, rng *rand.Rand) error {
		got, err := commands.FindQuestion.Ask(ctx, r.Client, commands.FindRequest{
			Text: fmt.Sprintf("test of pkg%d file%d", rng.IntN(4), rng.IntN(30)), AtLeast: visible(of), WaitMS: waitMS, Limit: 1 + rng.IntN(50),
		})
		if err == nil && len(got.Hits) == 0 {
			err = fmt.Errorf("nothing found: %s", got.Hint)
		}
		return err
	}},
	{"why", func(ctx context.Context, r *running, of api.Appended, rng *rand.Rand) error {
		got, err := commands.Why(ctx, r.Sources(), commands.WhyRequest{Ref: of.ID.String(), Walk: commands.Walk{Depth: 1 + rng.IntN(6)}, Moment: moment(of)})
		if err == nil && got.Root.ID != of.ID {
			err = fmt.Errorf("the answer is about %s", got.Root.ID)
		}
		return err
	}},
	{"stitch", func(ctx context.Context, r *running, of api.Appended, rng *rand.Rand) error {
		got, err := commands.Stitch(ctx, r.Sources(), commands.StitchRequest{Ref: of.Position.String(), Walk: commands.Walk{Depth: 1 + rng.IntN(6), Nodes: 1 + rng.IntN(100)}, Moment: moment(of)})
		if err == nil && len(got.Nodes) == 0 {
			err = fmt.Errorf("no narrative around %s: %s", of.ID, got.Hint)
		}
		return err
	}},
	{"show", func(ctx context.Context, r *running, of api.Appended, _ *rand.Rand) error {
		if _, err := commands.FindQuestion.Ask(ctx, r.Client, commands.FindRequest{AtLeast: visible(of), WaitMS: waitMS, Limit: 1}); err != nil {
			return err
		}
		got, err := r.Client.Show(ctx, of.ID.String())
		if err == nil && got.Position != of.Position {
			err = fmt.Errorf("shown at %s, acknowledged at %s", got.Position, of.Position)
		}
		return err
	}},
	{"insights", func(ctx context.Context, r *running, of api.Appended, _ *rand.Rand) error {
		_, err := commands.Insights(ctx, r.Sources(), commands.InsightsRequest{Moment: moment(of)})
		return err
	}},
	{"scan", func(ctx context.Context, r *running, _ api.Appended, rng *rand.Rand) error {
		q := api.ScanRequest{Limit: 1 + rng.IntN(500)}
		if rng.IntN(2) == 0 {
			q = api.ScanRequest{Format: api.FormatArrow}
		}
		// A server that serves as many exports as it may refuses another one after a while, with
		// the advice to come again. A client does that until its own deadline.
		for {
			var out bytes.Buffer
			if err := r.Client.Scan(ctx, q, &out); !errors.Is(err, api.ErrUnavailable) || ctx.Err() != nil {
				return err
			}
		}
	}},
}

const waitMS = int(patience / time.Millisecond)

func visible(of api.Appended) schemas.Watermark {
	return schemas.Watermark{of.Position.TP(): of.Position.Offset + 1}
}

func moment(of api.Appended) query.Moment {
	return query.Moment{AtLeast: visible(of), WaitMS: waitMS}
}

// TestAnyBatchingGivesOneState folds one log into the projections of three nodes, in batches of
// different sizes and at different times, and checks that the roots are equal.
func TestAnyBatchingGivesOneState(t *testing.T) {
	var events []schemas.Event
	for writer := range 3 {
		w := newWork(writer)
		for range 30 {
			events = append(events, w.batch()...)
		}
	}
	fold := func(count, at int) map[string]string {
		cfg := config(t.TempDir())
		node.SealEarly(&cfg, 64)
		node.BatchRecords(&cfg, count)
		r := start(t, cfg)
		defer r.stop()
		for from := 0; from < len(events); from += at {
			if _, err := r.Client.Append(t.Context(), events[from:min(from+at, len(events))]); err != nil {
				t.Fatal(err)
			}
		}
		ends, err := r.Log().Ends(t.Context(), "recount.commands")
		if err != nil {
			t.Fatal(err)
		}
		r.waitFor(t, ends)
		st, err := r.Client.Status(t.Context(), api.StatusRequest{Roots: true})
		if err != nil {
			t.Fatal(err)
		}
		roots := map[string]string{"watermark": ends.String()}
		for _, p := range st.Projections {
			roots[p.Name] = p.Root.String()
		}
		return roots
	}
	want := fold(500, len(events))
	for _, sizes := range [][2]int{{1, 7}, {61, 40}} {
		if diff := cmp.Diff(want, fold(sizes[0], sizes[1])); diff != "" {
			t.Errorf("batches of %d, appended by %d (-want +got):\n%s", sizes[0], sizes[1], diff)
		}
	}
}
