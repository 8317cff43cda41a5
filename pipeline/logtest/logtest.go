// Package logtest is the test suite for logs: it checks what every broker behind pipeline.Open must
// do, embedded or external. Each broker's test runs it.
package logtest

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
)

// Open opens a log whose topics are empty. If it is called twice with one name in one test, the
// second call returns the same log, provided that the first was closed.
type Open func(t *testing.T, change func(*pipeline.Config)) *pipeline.Log

// Run runs the suite.
func Run(t *testing.T, open Open) {
	t.Helper()
	for name, f := range map[string]func(*testing.T, Open){
		"AppendThenRead":      appendThenRead,
		"AppendFillsIn":       appendFillsIn,
		"AppendRefuses":       appendRefuses,
		"OrderWithinAKey":     orderWithinAKey,
		"FollowUntil":         followUntil,
		"FollowRetries":       followRetries,
		"FollowStops":         followStops,
		"FollowForEver":       followForEver,
		"BeyondTheEnd":        beyondTheEnd,
		"ReadRefuses":         readRefuses,
		"ExplicitPartition":   explicitPartition,
		"TailShowsTheLast":    tailShowsTheLast,
		"TopicsAreListed":     topicsAreListed,
		"ManyAppendersAtOnce": manyAppendersAtOnce,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f(t, open)
		})
	}
}

func plain(*pipeline.Config) {}

// ctxOf returns a context that ends a test that hangs. It is no performance requirement.
func ctxOf(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), 4*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func command(text, workspace string) schemas.Event {
	return schemas.Event{
		Time:    time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC),
		Payload: fmt.Appendf(nil, `{"command":%q,"workspace":%q}`, text, workspace),
	}
}

// mustAppend appends commands 1 to n in eight workspaces.
func mustAppend(ctx context.Context, t *testing.T, l *pipeline.Log, n int) []schemas.Position {
	t.Helper()
	var events []schemas.Event
	for i := range n {
		events = append(events, command(fmt.Sprintf("make %d", i), fmt.Sprintf("/src/%d", i%8)))
	}
	at, err := l.Append(ctx, schemas.TopicCommands, events...)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// collect records what a follower saw, by partition.
type collect struct {
	mu   sync.Mutex
	got  map[schemas.TopicPartition][]int64
	next schemas.Watermark
}

func newCollect() *collect {
	return &collect{got: map[schemas.TopicPartition][]int64{}, next: schemas.Watermark{}}
}

func (c *collect) take(_ context.Context, tp schemas.TopicPartition, recs []schemas.LogRecord, next int64) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range recs {
		c.got[tp] = append(c.got[tp], r.Position.Offset)
	}
	if next < c.next[tp] {
		return schemas.Fatalf("next went back: %s: %d after %d", tp, next, c.next[tp])
	}
	c.next[tp] = next
	return nil
}

// want returns the offsets from start up to end of each partition.
func want(start, end schemas.Watermark) map[schemas.TopicPartition][]int64 {
	m := map[schemas.TopicPartition][]int64{}
	for tp, e := range end {
		for o := start[tp]; o < e; o++ {
			m[tp] = append(m[tp], o)
		}
	}
	return m
}

func appendThenRead(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	at := mustAppend(ctx, t, l, 20)
	for i, p := range at {
		rec, err := l.Read(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		if rec.Position != p {
			t.Errorf("read %s: got %s", p, rec.Position)
		}
		if got, want := string(rec.Value), fmt.Sprintf(`{"command":"make %d","workspace":"/src/%d"}`, i, i%8); got != want {
			t.Errorf("read %s: got %s, want %s", p, got, want)
		}
	}
	readEach(ctx, t, l, at)
	ends, err := l.Ends(ctx)
	if err != nil {
		t.Fatal(err)
	}
	total := int64(0)
	for tp, end := range ends {
		if tp.Topic == l.Topic(schemas.TopicCommands) {
			total += end
		}
	}
	if total != 20 {
		t.Errorf("ends %s: sum %d, want 20", ends, total)
	}
}

// readEach reads records together: those at positions in any order, each once, without what is not there.
func readEach(ctx context.Context, t *testing.T, l *pipeline.Log, at []schemas.Position) {
	t.Helper()
	wanted := map[schemas.Position]bool{}
	positions := []schemas.Position{at[19], at[19], {Topic: at[0].Topic, Partition: at[0].Partition, Offset: 1 << 40}}
	for i := 0; i < len(at); i += 3 {
		positions = append(positions, at[i])
	}
	for _, p := range positions {
		wanted[p] = p.Offset < 1<<40
	}
	err := l.ReadEach(ctx, positions, func(rec schemas.LogRecord) error {
		if !wanted[rec.Position] {
			t.Errorf("read each: got %s, which is not wanted, or was there before", rec.Position)
		}
		delete(wanted, rec.Position)
		return nil
	})
	if err != nil || len(wanted) != 1 {
		t.Errorf("read each: %v, left %v, want what is not there", err, wanted)
	}
	failed := errors.New("enough")
	if err := l.ReadEach(ctx, at, func(schemas.LogRecord) error { return failed }); !errors.Is(err, failed) {
		t.Errorf("read each: %v, want the error of the function", err)
	}
}

func appendFillsIn(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	before := time.Now()
	at, err := l.Append(ctx, schemas.TopicCommands, schemas.Event{Payload: []byte(`{"command":"ls","workspace":"/w"}`)})
	if err != nil {
		t.Fatal(err)
	}
	rec, err := l.Read(ctx, at[0])
	if err != nil {
		t.Fatal(err)
	}
	e, err := rec.Event()
	if err != nil {
		t.Fatal(err)
	}
	if e.Type != schemas.TypeCommandExecuted || e.Source != schemas.DefaultSource || e.ContentType != schemas.ContentJSON || string(e.Key) != "/w" {
		t.Errorf("filled in: %+v", e)
	}
	if e.Time.Before(before.Truncate(time.Millisecond)) || e.Time.After(time.Now()) {
		t.Errorf("time %s is not now", e.Time)
	}
	if e.ID != e.DeriveID() {
		t.Errorf("id %s, want the derived %s", e.ID, e.DeriveID())
	}

	// The same event twice has the same id, which is how a repetition is recognised.
	at, err = l.Append(ctx, schemas.TopicCommands, command("ls", "/w"), command("ls", "/w"))
	if err != nil {
		t.Fatal(err)
	}
	var ids []schemas.EventID
	for _, p := range at {
		rec, err := l.Read(ctx, p)
		if err != nil {
			t.Fatal(err)
		}
		e, err := rec.Event()
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, e.ID)
	}
	if ids[0] != ids[1] {
		t.Errorf("ids of one event: %s and %s", ids[0], ids[1])
	}
}

func appendRefuses(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, func(c *pipeline.Config) { c.MaxEventBytes = 128 << 10 })
	big := command(strings.Repeat("x", 129<<10), "/w")
	at, err := l.Append(ctx, schemas.TopicCommands, command("ls", "/w"), big)
	if !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), "event 2 of 2") || !strings.Contains(err.Error(), "limit of 131072") {
		t.Errorf("too large: %v", err)
	}
	if diff := cmp.Diff([]schemas.Position{pipeline.NotAppended, pipeline.NotAppended}, at); diff != "" {
		t.Errorf("positions (-want +got):\n%s", diff)
	}
	_, err = l.Append(ctx, "nonesuch", command("ls", "/w"))
	if !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), "no such topic") {
		t.Errorf("no such topic: %v", err)
	}
	_, err = l.Produce(ctx, schemas.LogRecord{Position: schemas.Position{Topic: schemas.TopicCommands, Partition: 99}, Value: []byte("x")})
	if !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), "no such partition") {
		t.Errorf("no such partition: %v", err)
	}
	if ends, err := l.Ends(ctx, schemas.TopicCommands); err != nil || ends.String() != want0(l) {
		t.Errorf("something was appended: %s, %v", ends, err)
	}
	// An event of the maximum size is appended.
	if _, err := l.Append(ctx, schemas.TopicCommands, command(strings.Repeat("x", 127<<10), "/w")); err != nil {
		t.Errorf("127 KiB: %v", err)
	}
}

func want0(l *pipeline.Log) string {
	w := schemas.Watermark{}
	for p := range l.Config().Partitions {
		w[schemas.TopicPartition{Topic: l.Topic(schemas.TopicCommands), Partition: int32(p)}] = 0
	}
	return w.String()
}

func orderWithinAKey(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	at := mustAppend(ctx, t, l, 400)
	last := map[int]schemas.Position{}
	for i, p := range at {
		if before, ok := last[i%8]; ok && (before.TP() != p.TP() || before.Offset >= p.Offset) {
			t.Fatalf("event %d of key %d is at %s, the one before at %s", i, i%8, p, before)
		}
		last[i%8] = p
	}
}

func followUntil(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	mustAppend(ctx, t, l, 500)
	ends, err := l.Ends(ctx, schemas.TopicCommands)
	if err != nil {
		t.Fatal(err)
	}
	mustAppend(ctx, t, l, 100) // beyond Until: must not be read
	for _, batch := range []int{1, 7, 1000} {
		c := newCollect()
		err := l.Follow(ctx, pipeline.FollowOptions{Topics: []string{schemas.TopicCommands}, Until: ends, MaxRecords: batch}, c.take)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want(nil, ends), c.got); diff != "" {
			t.Errorf("batches of %d (-want +got):\n%s", batch, diff)
		}
		for tp, end := range ends {
			if end > 0 && c.next[tp] != end {
				t.Errorf("batches of %d: %s: next %d, want %d", batch, tp, c.next[tp], end)
			}
		}
	}
	// From the middle.
	middle := schemas.Watermark{}
	for tp, end := range ends {
		middle[tp] = end / 2
	}
	c := newCollect()
	err = l.Follow(ctx, pipeline.FollowOptions{
		Topics: []string{schemas.TopicCommands}, Until: ends,
		From: func(tp schemas.TopicPartition) int64 { return middle[tp] },
	}, c.take)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want(middle, ends), c.got); diff != "" {
		t.Errorf("from the middle (-want +got):\n%s", diff)
	}
}

func followRetries(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	mustAppend(ctx, t, l, 200)
	ends, err := l.Ends(ctx, schemas.TopicCommands)
	if err != nil {
		t.Fatal(err)
	}
	c := newCollect()
	var mu sync.Mutex
	failed := map[schemas.TopicPartition]int{}
	err = l.Follow(ctx, pipeline.FollowOptions{Topics: []string{schemas.TopicCommands}, Until: ends, MaxRecords: 30},
		func(ctx context.Context, tp schemas.TopicPartition, recs []schemas.LogRecord, next int64) error {
			mu.Lock()
			failed[tp]++
			n := failed[tp]
			mu.Unlock()
			if n%2 == 1 {
				return schemas.Transientf("the disk is full")
			}
			return c.take(ctx, tp, recs, next)
		})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want(nil, ends), c.got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func followStops(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	mustAppend(ctx, t, l, 200)
	for _, class := range []error{schemas.ErrFatal, schemas.ErrPoison} {
		err := l.Follow(ctx, pipeline.FollowOptions{Topics: []string{schemas.TopicCommands}},
			func(context.Context, schemas.TopicPartition, []schemas.LogRecord, int64) error { return class })
		if !errors.Is(err, class) {
			t.Errorf("got %v, want %v", err, class)
		}
	}
}

func followForEver(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	c := newCollect()
	seen := make(chan int, 1000)
	following, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- l.Follow(following, pipeline.FollowOptions{Topics: []string{schemas.TopicCommands}},
			func(ctx context.Context, tp schemas.TopicPartition, recs []schemas.LogRecord, next int64) error {
				defer func() { seen <- len(recs) }()
				return c.take(ctx, tp, recs, next)
			})
	}()
	for range 5 {
		mustAppend(ctx, t, l, 10)
	}
	for n := 0; n < 50; {
		select {
		case k := <-seen:
			n += k
		case <-ctx.Done():
			t.Fatalf("saw %d of 50", n)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("stopped: %v, want nil", err)
	}
	ends, err := l.Ends(ctx, schemas.TopicCommands)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want(nil, ends), c.got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func beyondTheEnd(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	mustAppend(ctx, t, l, 10)
	err := l.Follow(ctx, pipeline.FollowOptions{
		Topics: []string{schemas.TopicCommands},
		From:   func(schemas.TopicPartition) int64 { return 1000 },
	}, newCollect().take)
	if !errors.Is(err, schemas.ErrFatal) || !strings.Contains(err.Error(), "it lost events, or it is a different log") {
		t.Errorf("got %v", err)
	}
}

func readRefuses(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	for _, tc := range []struct {
		at   schemas.Position
		want string
	}{
		{schemas.Position{Topic: "nonesuch"}, "no such topic"},
		{schemas.Position{Topic: l.Topic(schemas.TopicCommands), Partition: 99}, "no such partition"},
		{schemas.Position{Topic: l.Topic(schemas.TopicCommands), Offset: 7}, "no such offset: the partition is empty"},
	} {
		_, err := l.Read(ctx, tc.at)
		if !errors.Is(err, schemas.ErrPoison) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("read %s: %v, want %q", tc.at, err, tc.want)
		}
	}
}

func explicitPartition(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	for p := range int32(l.Config().Partitions) {
		at, err := l.Produce(ctx, schemas.LogRecord{
			Position: schemas.Position{Topic: schemas.TopicCommands, Partition: p},
			Key:      []byte("one key"), Value: []byte("anything at all \xff"),
			Headers:   []schemas.Header{{Key: "h", Value: []byte{0, 255}}},
			Timestamp: time.UnixMilli(0),
		})
		if err != nil {
			t.Fatal(err)
		}
		rec, err := l.Read(ctx, at[0])
		if err != nil {
			t.Fatal(err)
		}
		wantRec := schemas.LogRecord{
			Position:  schemas.Position{Topic: l.Topic(schemas.TopicCommands), Partition: p},
			Timestamp: time.UnixMilli(0), Key: []byte("one key"), Value: []byte("anything at all \xff"),
			Headers: []schemas.Header{{Key: "h", Value: []byte{0, 255}}},
		}
		if diff := cmp.Diff(wantRec, rec); diff != "" {
			t.Errorf("partition %d (-want +got):\n%s", p, diff)
		}
	}
}

func tailShowsTheLast(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	mustAppend(ctx, t, l, 100)
	count := func(o pipeline.TailOptions) int {
		n := 0
		o.Topics = []string{schemas.TopicCommands}
		if err := l.Tail(ctx, o, func(schemas.LogRecord) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if got := count(pipeline.TailOptions{Last: -1}); got != 100 {
		t.Errorf("all: %d, want 100", got)
	}
	ends, err := l.Ends(ctx, schemas.TopicCommands)
	if err != nil {
		t.Fatal(err)
	}
	wantLast := 0
	for _, e := range ends {
		wantLast += int(min(e, 3))
	}
	if got := count(pipeline.TailOptions{Last: 3}); got != wantLast {
		t.Errorf("last 3 of each: %d, want %d", got, wantLast)
	}
	if got := count(pipeline.TailOptions{}); got != 0 {
		t.Errorf("last 0: %d", got)
	}
	stop := errors.New("enough")
	if err := l.Tail(ctx, pipeline.TailOptions{Last: -1}, func(schemas.LogRecord) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped by its function: %v", err)
	}
}

func topicsAreListed(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	mustAppend(ctx, t, l, 10)
	topics, err := l.Topics(ctx)
	if err != nil {
		t.Fatal(err)
	}
	byName := map[string]pipeline.TopicInfo{}
	for _, ti := range topics {
		byName[ti.Name] = ti
	}
	for _, name := range l.TopicNames() {
		if got := len(byName[name].Partitions); got != l.Config().Partitions {
			t.Errorf("%s: %d partitions, want %d", name, got, l.Config().Partitions)
		}
	}
	total := int64(0)
	for _, p := range byName[l.Topic(schemas.TopicCommands)].Partitions {
		total += p.End - p.Start
	}
	if total != 10 {
		t.Errorf("%d records listed, want 10", total)
	}
	if names := slices.Sorted(maps.Keys(byName)); !slices.IsSorted(names) || len(names) != len(topics) {
		t.Errorf("topics: %v", names)
	}
}

func manyAppendersAtOnce(t *testing.T, open Open) {
	ctx, l := ctxOf(t), open(t, plain)
	var wg sync.WaitGroup
	var mu sync.Mutex
	seen := map[schemas.Position]bool{}
	for w := range 8 {
		wg.Go(func() {
			for i := range 25 {
				at, err := l.Append(ctx, schemas.TopicCommands, command(fmt.Sprintf("%d-%d", w, i), fmt.Sprintf("/src/%d", w)))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if seen[at[0]] {
					t.Errorf("%s given twice", at[0])
				}
				seen[at[0]] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	if len(seen) != 200 {
		t.Errorf("%d positions, want 200", len(seen))
	}
}
