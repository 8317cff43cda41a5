package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/processors/adapter"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// memory is a set of projections in memory, which stores the applied commands of each partition and
// follows the contract: what is below next was applied and is skipped.
type memory struct {
	mu       sync.Mutex
	next     schemas.Watermark
	commands map[schemas.TopicPartition][]string
	offsets  map[schemas.TopicPartition][]int64
	ids      map[string]bool
	// refuse, if not nil, may fail an Apply before anything is changed.
	refuse func(b schemas.Batch) error
	moved  chan struct{} // gets a value after an Apply, if there is space
	busy   map[schemas.TopicPartition]bool
}

func newMemory() *memory {
	return &memory{
		next: schemas.Watermark{}, commands: map[schemas.TopicPartition][]string{}, offsets: map[schemas.TopicPartition][]int64{},
		ids: map[string]bool{}, moved: make(chan struct{}, 1), busy: map[schemas.TopicPartition]bool{},
	}
}

func (m *memory) Next(tp schemas.TopicPartition) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.next[tp]
}

func (m *memory) Watermark() schemas.Watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	w := schemas.Watermark{}
	for tp, n := range m.next {
		w[tp] = n
	}
	return w
}

func (m *memory) Apply(_ context.Context, b schemas.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy[b.TP()] {
		return schemas.Fatalf("two at once in %s", b.TP())
	}
	m.busy[b.TP()] = true
	defer delete(m.busy, b.TP())
	if m.refuse != nil {
		if err := m.refuse(b); err != nil {
			return err
		}
	}
	last := m.next[b.TP()] - 1
	for _, r := range b.Records {
		at := r.GetOrigin().GetOffset()
		if at < m.next[b.TP()] {
			continue
		}
		if at <= last {
			return schemas.Fatalf("%s: offset %d after %d", b.TP(), at, last)
		}
		last = at
		m.offsets[b.TP()] = append(m.offsets[b.TP()], at)
		if in := r.GetIntent(); in != nil && !m.ids[string(r.EventId)] {
			m.ids[string(r.EventId)] = true
			m.commands[b.TP()] = append(m.commands[b.TP()], in.GetCommand())
		}
	}
	m.next[b.TP()] = max(m.next[b.TP()], b.Next)
	select {
	case m.moved <- struct{}{}:
	default:
	}
	return nil
}

// waitFor waits until everything below w is applied.
func (m *memory) waitFor(ctx context.Context, t *testing.T, w schemas.Watermark) {
	t.Helper()
	for !m.Watermark().Covers(w) {
		select {
		case <-m.moved:
		case <-ctx.Done():
			t.Fatalf("applied %s, want %s", m.Watermark(), w)
		}
	}
}

// oneStream is log → processors → projections, with settings that could disturb the order at high
// values.
const oneStream = `
input:
  recount_log:
    topics: [recount.commands]
    start_from: projections
    batching: { count: ${BATCH:7} }
pipeline:
  threads: 8
  processors:
    - recount_records: {}
output:
  recount_project:
    max_in_flight: 16
error_handling: { strict: true }
`

// running is a stream that runs in a test, with the means to stop it.
type running struct {
	t    *testing.T
	stop context.CancelFunc
	done chan error
}

func runStream(t *testing.T, o streams.Options) *running {
	t.Helper()
	if o.YAML == "" {
		o.YAML = oneStream
	}
	o.Processors = adapter.Register
	if o.Logger == nil {
		o.Logger = testLog(t)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{t: t, stop: cancel, done: make(chan error, 1)}
	go func() { r.done <- streams.Run(ctx, o) }()
	t.Cleanup(func() { r.stop() })
	return r
}

func (r *running) end() {
	r.t.Helper()
	r.stop()
	if err := <-r.done; err != nil {
		r.t.Errorf("stream: %v", err)
	}
}

func embedded(t testing.TB) *pipeline.Log {
	return openLog(t, pipeline.Config{DataDir: t.TempDir()})
}

// testContext returns a context that ends a test that hangs. The limit is no performance
// requirement: a machine may be very slow.
func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// appendCommands appends n commands in eight workspaces, in one call.
func appendCommands(ctx context.Context, t testing.TB, l *pipeline.Log, from, n int) {
	t.Helper()
	var events []schemas.Event
	for i := from; i < from+n; i++ {
		events = append(events, schemas.Event{
			Time:    time.Date(2026, 11, 20, 12, 0, 0, i, time.UTC),
			Payload: fmt.Appendf(nil, `{"command":"make target%d","workspace":"/src/%d","cwd":"/src/%d"}`, i, i%8, i%8),
		})
	}
	if _, err := l.Append(ctx, schemas.TopicCommands, events...); err != nil {
		t.Fatal(err)
	}
}

func ends(ctx context.Context, t testing.TB, l *pipeline.Log, topics ...string) schemas.Watermark {
	t.Helper()
	w, err := l.Ends(ctx, topics...)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// inLog returns the commands that each partition must have: those of the log, in order.
func inLog(ctx context.Context, t *testing.T, l *pipeline.Log) map[schemas.TopicPartition][]string {
	t.Helper()
	want := map[schemas.TopicPartition][]string{}
	seen := map[string]bool{}
	err := l.Tail(ctx, pipeline.TailOptions{Topics: []string{schemas.TopicCommands}, Last: -1}, func(r schemas.LogRecord) error {
		e, err := r.Event()
		if err != nil {
			return nil
		}
		p, err := e.DecodePayload()
		if err != nil {
			return nil
		}
		if c, ok := p.(*recountv1.CommandExecuted); ok && !seen[e.ID.String()] {
			seen[e.ID.String()] = true
			want[r.Position.TP()] = append(want[r.Position.TP()], c.GetCommand())
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return want
}

// rejectedEvents reads the topic for rejected events, by position. An event that is there twice
// must be the same event.
func rejectedEvents(ctx context.Context, t *testing.T, l *pipeline.Log) map[string]*recountv1.Rejected {
	t.Helper()
	got := map[string]*recountv1.Rejected{}
	ids := map[string]schemas.EventID{}
	err := l.Tail(ctx, pipeline.TailOptions{Topics: []string{schemas.TopicRejected}, Last: -1}, func(r schemas.LogRecord) error {
		e, err := r.Event()
		if err != nil {
			return err
		}
		p, err := e.DecodePayload()
		if err != nil {
			return err
		}
		rej := p.(*recountv1.Rejected)
		at := schemas.PositionOf(rej.GetPosition()).String()
		if id, twice := ids[at]; twice && id != e.ID {
			return fmt.Errorf("%s rejected under two ids", at)
		}
		got[at], ids[at] = rej, e.ID
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestStreamAppliesInOrder(t *testing.T) {
	t.Parallel()
	ctx, l, m := testContext(t), embedded(t), newMemory()
	appendCommands(ctx, t, l, 0, 500)
	reg := prometheus.NewRegistry()
	s := runStream(t, streams.Options{Log: l, Target: m, Metrics: reg})
	appendCommands(ctx, t, l, 500, 500) // while it runs
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	s.end()
	if diff := cmp.Diff(inLog(ctx, t, l), m.commands); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	received := 0.0
	for _, f := range families {
		if f.GetName() == "recount_stream_input_received" {
			received = f.GetMetric()[0].GetCounter().GetValue()
		}
	}
	if received != 1000 {
		t.Errorf("recount_stream_input_received is %g, want 1000", received)
	}
}

// TestStreamKilled stops the stream at random moments and starts another one over projections that
// have lost what they had not flushed.
func TestStreamKilled(t *testing.T) {
	t.Parallel()
	streamKilled(testContext(t), t, 6)
}

// TestSoakStream runs TestStreamKilled and TestSplit for longer (make soak).
func TestSoakStream(t *testing.T) {
	if os.Getenv("RECOUNT_SOAK") == "" {
		t.Skip("RECOUNT_SOAK is not set")
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Minute)
	defer cancel()
	streamKilled(ctx, t, 200)
	eachLog(t, func(t *testing.T, open func() *pipeline.Log) { split(t.Context(), t, open, 60) })
}

func streamKilled(ctx context.Context, t *testing.T, rounds int) {
	l, m := embedded(t), newMemory()
	for round := range rounds {
		appendCommands(ctx, t, l, round*100, 100)
		s := runStream(t, streams.Options{Log: l, Target: m, StopWithin: time.Millisecond})
		select {
		case <-m.moved: // something was applied; the rest is in flight
		case <-ctx.Done():
			t.Fatal("nothing moves")
		}
		s.end()
		// A crash: the projections return to their last flush, consistently.
		m = m.crash(round)
	}
	s := runStream(t, streams.Options{Log: l, Target: m})
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	s.end()
	if diff := cmp.Diff(inLog(ctx, t, l), m.commands); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
}

// crash returns the state with some partitions set back by some records.
func (m *memory) crash(round int) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := newMemory()
	for tp, next := range m.next {
		keep := next
		if (int(tp.Partition)+round)%2 == 0 {
			keep = next / 2
		}
		n.next[tp] = keep
		for i, off := range m.offsets[tp] {
			if off < keep {
				n.offsets[tp] = append(n.offsets[tp], off)
				n.commands[tp] = append(n.commands[tp], m.commands[tp][i])
			}
		}
	}
	return n
}

func TestStreamSameEventTwice(t *testing.T) {
	t.Parallel()
	ctx, l, m := testContext(t), embedded(t), newMemory()
	appendCommands(ctx, t, l, 0, 50)
	appendCommands(ctx, t, l, 0, 50) // delivered a second time
	s := runStream(t, streams.Options{Log: l, Target: m})
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	s.end()
	if got := len(m.ids); got != 50 {
		t.Errorf("%d events, want 50: one event twice must be one id", got)
	}
}

func TestStreamOutage(t *testing.T) {
	t.Parallel()
	ctx, l, m := testContext(t), embedded(t), newMemory()
	appendCommands(ctx, t, l, 0, 200)
	failures := 0
	m.refuse = func(schemas.Batch) error {
		if failures++; failures <= 20 {
			return schemas.Transientf("no space left on device")
		}
		return nil
	}
	s := runStream(t, streams.Options{Log: l, Target: m})
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	s.end()
	if diff := cmp.Diff(inLog(ctx, t, l), m.commands); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	if got := rejectedEvents(ctx, t, l); len(got) != 0 {
		t.Errorf("an outage rejected events: %v", got)
	}
}

func TestStreamFatal(t *testing.T) {
	t.Parallel()
	ctx, l, m := testContext(t), embedded(t), newMemory()
	appendCommands(ctx, t, l, 0, 10)
	broken := errors.New("the checksum is wrong")
	m.refuse = func(schemas.Batch) error { return schemas.Fatalf("apply: %w", broken) }
	s := runStream(t, streams.Options{Log: l, Target: m})
	select {
	case err := <-s.done:
		if !errors.Is(err, schemas.ErrFatal) || !errors.Is(err, broken) {
			t.Errorf("got %v, want the fatal error", err)
		}
	case <-ctx.Done():
		t.Fatal("the stream goes on")
	}
}

func TestStreamBeyondTheEnd(t *testing.T) {
	t.Parallel()
	ctx, l, m := testContext(t), embedded(t), newMemory()
	m.next[schemas.TopicPartition{Topic: "recount.commands", Partition: 2}] = 77
	s := runStream(t, streams.Options{Log: l, Target: m})
	select {
	case err := <-s.done:
		if !errors.Is(err, schemas.ErrFatal) {
			t.Errorf("got %v, want a fatal error", err)
		}
	case <-ctx.Done():
		t.Fatal("the stream goes on")
	}
}

// TestStreamOfNoConcern checks that a topic without projections is ignored. Before, its position
// was beyond every log's end, and the stream ended with a fatal error.
func TestStreamOfNoConcern(t *testing.T) {
	t.Parallel()
	ctx, l, m := testContext(t), embedded(t), newMemory()
	appendCommands(ctx, t, l, 0, 10)
	for _, tp := range ends(ctx, t, l, schemas.TopicCommands).Partitions() {
		m.next[tp] = math.MaxInt64
	}
	seen := make(chan struct{}, 1)
	m.refuse = func(schemas.Batch) error {
		select {
		case seen <- struct{}{}:
		default:
		}
		return nil
	}
	s := runStream(t, streams.Options{Log: l, Target: m})
	for more := true; more; {
		appendCommands(ctx, t, l, 10, 10) // new events are ignored
		select {
		case <-seen:
			more = false
		case err := <-s.done:
			t.Fatalf("the stream ended: %v", err)
		default:
		}
	}
	s.end()
	if len(m.commands) != 0 {
		t.Errorf("applied %v", m.commands)
	}
}

// TestStreamDropsMessages checks that a config that loses messages gets an error, and that the
// position does not move over them, whether a batch loses some of its messages or all.
func TestStreamDropsMessages(t *testing.T) {
	t.Parallel()
	for _, batch := range []string{"1", "100"} {
		t.Run("batches of "+batch, func(t *testing.T) {
			t.Parallel()
			ctx, l, m := testContext(t), embedded(t), newMemory()
			appendCommands(ctx, t, l, 0, 100)
			lines := make(chan string, 10000)
			s := runStream(t, streams.Options{
				Log: l, Target: m, Vars: map[string]string{"BATCH": batch}, Logger: linesTo(lines), StopWithin: time.Second,
				YAML: strings.ReplaceAll(oneStream, "- recount_records: {}",
					"- recount_records: {}\n    - mapping: 'root = if metadata(\"kafka_offset\").number() == 2 { deleted() }'"),
			})
			for {
				select {
				case line := <-lines:
					if !strings.Contains(line, "drops") {
						continue
					}
				case <-ctx.Done():
					t.Fatal("nothing was said")
				}
				break
			}
			s.end()
			for tp, next := range m.Watermark() {
				if next > 2 {
					t.Errorf("%s: at %d, beyond an event that was dropped", tp, next)
				}
			}
			// With a config that drops nothing, everything arrives.
			s = runStream(t, streams.Options{Log: l, Target: m})
			m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
			s.end()
			if diff := cmp.Diff(inLog(ctx, t, l), m.commands); diff != "" {
				t.Errorf("applied (-want +got):\n%s", diff)
			}
		})
	}
}
