package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/configs"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/schemas"
)

// load appends commands until it is stopped: by their keys, as Recount does, and to each partition
// in turn, as any other Kafka client may.
type load struct {
	t    *testing.T
	l    *pipeline.Log
	stop chan struct{}
	done sync.WaitGroup

	mu    sync.Mutex
	homes map[string]map[int32]bool // by workspace
	sent  int
}

func startLoad(ctx context.Context, t *testing.T, l *pipeline.Log) *load {
	o := &load{t: t, l: l, stop: make(chan struct{}), homes: map[string]map[int32]bool{}}
	o.done.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-o.stop:
				return
			case <-time.After(5 * time.Millisecond):
			}
			o.send(ctx, n)
		}
	})
	return o
}

func (o *load) send(ctx context.Context, n int) {
	workspace := fmt.Sprintf("/src/%d", n%16)
	payload := fmt.Appendf(nil, `{"command":"make by-key-%d","workspace":%q,"cwd":%q}`, n, workspace, workspace)
	at, err := o.l.Append(ctx, schemas.TopicCommands, schemas.Event{Time: time.Date(2026, 11, 20, 12, 0, 0, n, time.UTC), Payload: payload})
	if err != nil {
		o.t.Error(err)
		return
	}
	tps, err := o.l.TopicPartitions(ctx, schemas.TopicCommands)
	if err != nil {
		o.t.Error(err)
		return
	}
	_, err = o.l.Produce(ctx, schemas.LogRecord{
		Position: schemas.Position{Topic: schemas.TopicCommands, Partition: int32(n % len(tps))},
		Value:    fmt.Appendf(nil, `{"command":"make in-turn-%d","cwd":"/src"}`, n),
	})
	if err != nil {
		o.t.Error(err)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent++
	if o.homes[workspace] == nil {
		o.homes[workspace] = map[int32]bool{}
	}
	o.homes[workspace][at[0].Partition] = true
}

func (o *load) end() int {
	close(o.stop)
	o.check()
	return o.sent
}

// check waits for the end and checks that keys stayed in their partitions.
func (o *load) check() {
	o.done.Wait()
	for workspace, home := range o.homes {
		if len(home) != 1 {
			o.t.Errorf("the key %s has been in partitions %v", workspace, home)
		}
	}
}

// grow gives the topic 8 and then 24 partitions, and each time waits until an event of the last
// partition was applied.
func grow(ctx context.Context, t *testing.T, l *pipeline.Log, applied interface {
	waitFor(context.Context, *testing.T, schemas.Watermark)
},
) {
	t.Helper()
	for _, n := range []int{8, 24} {
		began := time.Now()
		if err := l.Grow(ctx, schemas.TopicCommands, n); err != nil {
			t.Fatal(err)
		}
		applied.waitFor(ctx, t, schemas.Watermark{{Topic: l.Topic(schemas.TopicCommands), Partition: int32(n - 1)}: 1})
		t.Logf("the first event in partition %d is applied after %s", n-1, time.Since(began))
	}
}

// TestGrowth checks that partitions added while streams run are read from their start, without a
// restart, in one process and in split roles.
func TestGrowth(t *testing.T) {
	t.Parallel()
	eachLog(t, func(t *testing.T, open func() *pipeline.Log) { growth(t, open) })
}

func growth(t *testing.T, open func() *pipeline.Log) {
	ctx, l, m := testContext(t), open(), newMemory()
	stream := runStream(t, streams.Options{Log: l, Target: m})
	o := startLoad(ctx, t, l)
	grow(ctx, t, l, m)
	sent, homes := o.end(), o.homes
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	if unread, err := l.Unread(ctx); err != nil || len(unread) > 0 {
		t.Errorf("nobody reads %v, %v", unread, err)
	}
	stream.end()
	if diff := cmp.Diff(inLog(ctx, t, l), m.commands); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	t.Logf("%d rounds of two events, %d partitions", sent, len(m.Watermark()))
	if err := l.Grow(ctx, schemas.TopicCommands, 4); !errors.Is(err, schemas.ErrPoison) {
		t.Errorf("fewer partitions: %v", err)
	}

	// A log that is opened now places keys as before.
	again := open()
	o = &load{t: t, l: again, homes: homes}
	for n := range 32 {
		o.send(ctx, n)
	}
	o.check()
}

func TestGrowthSplit(t *testing.T) {
	t.Parallel()
	eachLog(t, func(t *testing.T, open func() *pipeline.Log) { growthSplit(t, open) })
}

func growthSplit(t *testing.T, open func() *pipeline.Log) {
	ctx, l, m := testContext(t), open(), newFlushing()
	o := startLoad(ctx, t, l)
	project := runStream(t, streams.Options{YAML: builtin(t, configs.Project), Log: open(), Target: m, CheckpointDir: t.TempDir()})
	one := runStream(t, streams.Options{YAML: builtin(t, configs.Process), Log: open()})
	two := runStream(t, streams.Options{YAML: builtin(t, configs.Process), Log: open()})
	grow(ctx, t, l, m)
	sent := o.end()
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	one.end()
	two.end()
	project.end()
	if diff := cmp.Diff(inLog(ctx, t, l), m.commands); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	t.Logf("%d rounds of two events, %d partitions", sent, len(m.Watermark()))
}

// TestGrowthByOthers checks that the embedded broker refuses clients that add partitions to
// Recount's topics, with the way to do it, and allows it for other topics.
func TestGrowthByOthers(t *testing.T) {
	t.Parallel()
	ctx := testContext(t)
	server := openLog(t, pipeline.Config{DataDir: t.TempDir(), Listen: "127.0.0.1:0"})
	client := openLog(t, pipeline.Config{Brokers: []string{server.Addr()}})
	err := client.Grow(ctx, schemas.TopicCommands, 8)
	if !errors.Is(err, schemas.ErrPoison) || !contains(err.Error(), "recount log partitions") {
		t.Errorf("got %v", err)
	}
	if err := client.CreateTopic(ctx, "records.commands"); err != nil {
		t.Fatal(err)
	}
	if err := client.Grow(ctx, "records.commands", 8); err != nil {
		t.Error(err)
	}
	if err := server.Grow(ctx, schemas.TopicCommands, 8); err != nil {
		t.Error(err)
	}
	for _, l := range []*pipeline.Log{server, client} {
		if tps, err := l.TopicPartitions(ctx, schemas.TopicCommands); err != nil || len(tps) != 8 {
			t.Errorf("%d partitions, %v", len(tps), err)
		}
	}
}

// TestUnread checks that partitions are reported that are in no input and not in the topic derived
// from theirs.
func TestUnread(t *testing.T) {
	t.Parallel()
	ctx, l := testContext(t), embedded(t)
	if err := l.CreateTopic(ctx, "recount.records.commands"); err != nil {
		t.Fatal(err)
	}
	project := runStream(t, streams.Options{YAML: builtin(t, configs.Project), Log: l, Target: newMemory(), CheckpointDir: t.TempDir()})
	if err := l.Grow(ctx, schemas.TopicCommands, 6); err != nil {
		t.Fatal(err)
	}
	want := []schemas.TopicPartition{{Topic: "recount.commands", Partition: 4}, {Topic: "recount.commands", Partition: 5}}
	for {
		unread, err := l.Unread(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if cmp.Equal(unread, want) {
			break // nobody processes, so nobody adds partitions to the derived topic
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("unread %v, want %v", unread, want)
		}
	}
	project.end()
}
