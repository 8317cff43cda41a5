package node_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/query/runtime"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

// spansAt appends n spans of each of two services, of which the first calls the second, all with
// the same time.
func spansAt(t *testing.T, r *running, at time.Time, n int) schemas.Watermark {
	t.Helper()
	var recs []schemas.LogRecord
	for i := range n {
		for s, service := range []string{"web", "carts"} {
			e := exported(service, i, 1)
			x := e.ResourceSpans[0].ScopeSpans[0].Spans[0]
			x.TraceId = fmt.Appendf(nil, "%16d", int64(i)+at.Unix()*1000)[:16]
			x.StartTimeUnixNano, x.EndTimeUnixNano = uint64(at.UnixNano()), uint64(at.UnixNano()+int64(time.Millisecond))
			x.Kind = 3 // client
			if s == 1 {
				x.Kind, x.ParentSpanId, x.SpanId = 2, x.SpanId, fmt.Appendf(nil, "c%07d", i)
			}
			data, err := proto.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			ev := schemas.Event{
				ID: schemas.NewCanon("test").String(service).Int(at.Unix()).Int(int64(i)).ID(), Type: schemas.TypeSpansExported,
				Source: schemas.DefaultSource, Time: at, ContentType: schemas.ContentProto, Payload: data,
			}
			// They were appended at their own time.
			recs = append(recs, schemas.LogRecord{
				Position:  schemas.Position{Topic: "recount.spans", Partition: -1},
				Timestamp: at, Headers: ev.Headers(), Key: ev.DeriveKey(), Value: data,
			})
		}
	}
	if _, err := r.Log().Produce(t.Context(), recs...); err != nil {
		t.Fatal(err)
	}
	ends, err := r.Log().Ends(t.Context(), "recount.spans")
	if err != nil {
		t.Fatal(err)
	}
	return ends
}

func traffic(t *testing.T, r *running, ends schemas.Watermark) (requests int64, hint string) {
	t.Helper()
	resp, err := runtime.TrafficQuestion.Ask(t.Context(), r.Client, runtime.TrafficRequest{Window: runtime.Window{AtLeast: ends, WaitMS: int(patience.Milliseconds())}})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range resp.Operations {
		requests += int64(o.Count)
	}
	return requests, resp.Hint
}

func sameAsRebuilt(t *testing.T, r *running) {
	t.Helper()
	v, err := r.Client.Verify(t.Context(), api.VerifyRequest{}, nil)
	if err != nil || !v.OK {
		t.Errorf("verify: %+v, %v", v, err)
	}
}

// TestRetain checks that old spans are removed from the log, that the state equals a rebuild of the
// rest, that answers and status report since when spans are known, and that a restart keeps this.
func TestRetain(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	now := time.Now().UTC().Truncate(time.Second)
	spansAt(t, r, now.Add(-72*time.Hour), 20)
	r.append(t, "make test")
	ends := spansAt(t, r, now.Add(-time.Hour), 5)
	if n, hint := traffic(t, r, ends); n != 25 || strings.Contains(hint, "retention") {
		t.Fatalf("before: %d requests, %q", n, hint)
	}
	day := api.RetainRequest{AgeSeconds: 24 * 3600}
	dry := day
	dry.DryRun = true
	would, err := r.Client.Retain(t.Context(), dry, nil)
	if err != nil || would.Events != 40 || would.Event != nil {
		t.Fatalf("dry run: %+v, %v", would, err)
	}
	if n, _ := traffic(t, r, ends); n != 25 {
		t.Errorf("a dry run left %d requests", n)
	}
	did, err := r.Client.Retain(t.Context(), day, nil)
	if err != nil || did.Events != 40 || did.Event == nil || !slices.Equal(did.Rebuilt, []string{"runtime"}) {
		t.Fatalf("retain: %+v, %v", did, err)
	}
	if again, err := r.Client.Retain(t.Context(), day, nil); err != nil || again.Events != 0 || again.Event != nil {
		t.Errorf("again: %+v, %v", again, err)
	}
	look := func(r *running) {
		t.Helper()
		if n, hint := traffic(t, r, ends); n != 25 || !strings.Contains(hint, "known since "+now.Add(-72*time.Hour).Format(time.RFC3339)) {
			t.Errorf("%d requests, %q", n, hint)
		}
		st, err := r.Client.Status(t.Context(), api.StatusRequest{})
		if err != nil || st.Log.SpansSince == nil || !st.Log.SpansSince.Equal(now.Add(-72*time.Hour)) {
			t.Errorf("status: %v, %v", st.Log.SpansSince, err)
		}
		starts, err := r.Log().Starts(t.Context(), "recount.spans")
		for tp, first := range did.Starts {
			if starts[tp] != first || err != nil {
				t.Errorf("%s begins at %d, want %d; %v", tp, starts[tp], first, err)
			}
		}
		sameAsRebuilt(t, r)
	}
	look(r)
	r.stop()
	r = start(t, cfg)
	look(r)
	// Remove everything, including the last record of each partition.
	if all, err := r.Client.Retain(t.Context(), api.RetainRequest{AgeSeconds: 600}, nil); err != nil || all.Events != 10 {
		t.Fatalf("everything: %+v, %v", all, err)
	}
	if n, _ := traffic(t, r, ends); n != 25 {
		t.Errorf("the sums are of %d requests", n)
	}
	sameAsRebuilt(t, r)
	ends = spansAt(t, r, now, 3)
	if n, _ := traffic(t, r, ends); n != 28 {
		t.Errorf("%d requests came after", n)
	}
	sameAsRebuilt(t, r)
}

// TestRetainBySize checks that the oldest spans are removed until the rest has roughly the
// requested size.
func TestRetainBySize(t *testing.T) {
	r := start(t, config(t.TempDir()))
	var ends schemas.Watermark
	for i := range 8 {
		ends = spansAt(t, r, time.Now().Add(-time.Duration(8-i)*time.Hour), 50)
	}
	if n, _ := traffic(t, r, ends); n != 400 {
		t.Fatalf("%d requests", n)
	}
	all, err := r.Client.Retain(t.Context(), api.RetainRequest{Bytes: 1 << 40, DryRun: true}, nil)
	if err != nil || all.Events != 0 || all.Bytes == 0 {
		t.Fatalf("%+v, %v", all, err)
	}
	half, err := r.Client.Retain(t.Context(), api.RetainRequest{Bytes: all.Bytes / 2}, nil)
	if err != nil || half.Events < 390 || half.Events > 410 {
		t.Errorf("of 800 events %+v went, %v", half, err)
	}
	if left, err := r.Client.Retain(t.Context(), api.RetainRequest{Bytes: all.Bytes, DryRun: true}, nil); err != nil || left.Bytes > all.Bytes*6/10 {
		t.Errorf("%d of %d bytes are left, %v", left.Bytes, all.Bytes, err)
	}
	if n, _ := traffic(t, r, ends); n != 400 {
		t.Errorf("the sums are of %d requests", n)
	}
	sameAsRebuilt(t, r)
}

// TestRetainCutShort checks a process that ended after it appended the event.
func TestRetainCutShort(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	spansAt(t, r, time.Now().Add(-72*time.Hour), 20)
	ends := spansAt(t, r, time.Now(), 5)
	traffic(t, r, ends)
	r.stop()
	r = start(t, cfg)
	if _, err := r.Client.Retain(t.Context(), api.RetainRequest{AgeSeconds: 24 * 3600}, nil); err != nil {
		t.Fatal(err)
	}
	r.stop()
	// Make it look as if nothing had been recorded as done.
	if err := os.Remove(filepath.Join(cfg.DataDir, "erased")); err != nil {
		t.Fatal(err)
	}
	r = start(t, cfg)
	if n, _ := traffic(t, r, ends); n != 25 {
		t.Errorf("the sums are of %d requests", n)
	}
	sameAsRebuilt(t, r)
}

func TestRetainRefuses(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	if _, err := r.Client.Retain(t.Context(), api.RetainRequest{}, nil); err == nil || !strings.Contains(err.Error(), "retention.spans.age") {
		t.Errorf("without a bound: %v", err)
	}
	cfg.DataDir, cfg.Retention.Spans = t.TempDir(), node.KeepConfig{Age: time.Second}
	if _, err := node.Open(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "retention.spans.age: 1s") {
		t.Errorf("an age of a second: %v", err)
	}
	for text, want := range map[string]node.Size{"10GiB": 10 << 30, "1 MiB": 1 << 20, "77": 77} {
		if n, err := node.ParseSize(text); err != nil || n != want {
			t.Errorf("%q is %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "GiB", "-1", "10GB", "99999999999TiB", "1.5GiB"} {
		if _, err := node.ParseSize(text); err == nil || !strings.Contains(err.Error(), "10GiB") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRetainedOnce checks that summaries without a records.retired, as a crash leaves them, do not
// count, and neither does a records.retired whose summaries another one has counted.
func TestRetainedOnce(t *testing.T) {
	cfg := config(t.TempDir())
	r := start(t, cfg)
	now := time.Now().UTC().Truncate(time.Second)
	spansAt(t, r, now.Add(-72*time.Hour), 20)
	ends := spansAt(t, r, now.Add(-time.Hour), 5)
	did, err := r.Client.Retain(t.Context(), api.RetainRequest{AgeSeconds: 24 * 3600}, nil)
	if err != nil || did.Sums == 0 {
		t.Fatalf("retain: %+v, %v", did, err)
	}
	summaries, by := r.Log().Summaries()
	if len(summaries) == 0 || by != *did.Event {
		t.Fatalf("summaries %v by %s, want some by %s", summaries, by, did.Event)
	}
	for _, at := range append(slices.Clone(summaries), by) {
		lr, err := r.Log().Read(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		e, err := lr.Event()
		if err != nil {
			t.Fatal(err)
		}
		e.ID = schemas.EventID{1}
		again, err := r.Log().Append(t.Context(), schemas.TopicName(at.Topic), e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.Log().ReadErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
		if want := at == by; r.Log().Void(again[0]) != want {
			t.Errorf("a second %s: void %v, want %v", e.Type, !want, want)
		}
	}
	for range 2 {
		if n, hint := traffic(t, r, ends); n != 25 || !strings.Contains(hint, "kept hourly sums") {
			t.Errorf("%d requests, %q", n, hint)
		}
		sameAsRebuilt(t, r)
		r.stop()
		r = start(t, cfg)
	}
	// A question that ends within a removed hour is answered for the whole hour; the trace is gone.
	from := now.Add(-72 * time.Hour)
	resp, err := runtime.TrafficQuestion.Ask(t.Context(), r.Client, runtime.TrafficRequest{Window: runtime.Window{From: from.Truncate(time.Hour).Add(time.Minute * 59), To: from.Truncate(time.Hour).Add(time.Hour)}})
	if err != nil || len(resp.Operations) == 0 || resp.Operations[0].Count != 20 {
		t.Errorf("an hour that is known by its sums: %+v, %v", resp.Operations, err)
	}
	if next, err := r.Client.Retain(t.Context(), api.RetainRequest{AgeSeconds: 600}, nil); err != nil || next.Events != 10 {
		t.Fatalf("a second retention: %+v, %v", next, err)
	}
	if n, _ := traffic(t, r, ends); n != 25 {
		t.Errorf("%d requests after a second retention", n)
	}
	sameAsRebuilt(t, r)
}

// TestRetainOnBrokersOfOthers checks that a second process on the same brokers, and one that starts
// from nothing, have the same sums, and that a server applies its configured retention.
func TestRetainOnBrokersOfOthers(t *testing.T) {
	k, err := kfake.NewCluster(kfake.NumBrokers(1))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	on := func() node.Config {
		cfg := config(t.TempDir())
		cfg.Kafka = node.KafkaConfig{Brokers: k.ListenAddrs()}
		return cfg
	}
	first := on()
	r := start(t, first)
	now := time.Now().UTC().Truncate(time.Second)
	spansAt(t, r, now.Add(-72*time.Hour), 20)
	ends := spansAt(t, r, now.Add(-time.Hour), 5)
	if n, _ := traffic(t, r, ends); n != 25 {
		t.Fatalf("before: %d requests", n)
	}
	r.stop()
	first.Retention.Spans.Age = 24 * time.Hour
	r = start(t, first)
	for _, by := r.Log().Summaries(); by == (schemas.Position{}); _, by = r.Log().Summaries() {
		if t.Context().Err() != nil {
			t.Fatal("retention was not applied")
		}
		if _, err := r.Log().ReadErasures(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range []*running{r, start(t, on())} {
		if n, hint := traffic(t, n, ends); n != 25 || !strings.Contains(hint, "kept hourly sums") {
			t.Errorf("%d requests, %q", n, hint)
		}
	}
}
