package pipeline_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/recountdb/recount/configs"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/schemas"
)

// flushing simulates projections that lose unflushed state in a crash.
type flushing struct {
	*memory
	flushed *memory
}

func newFlushing() *flushing { return &flushing{newMemory(), newMemory()} }

func (f *flushing) Flush() error {
	f.memory.mu.Lock()
	defer f.memory.mu.Unlock()
	f.flushed = f.memory.copy()
	return nil
}

// copy must be called with mu held.
func (m *memory) copy() *memory {
	n := newMemory()
	for tp, next := range m.next {
		n.next[tp] = next
		n.offsets[tp] = append([]int64(nil), m.offsets[tp]...)
		n.commands[tp] = append([]string(nil), m.commands[tp]...)
	}
	for id := range m.ids {
		n.ids[id] = true
	}
	return n
}

func builtin(t *testing.T, name string) string {
	t.Helper()
	y, err := configs.Read(name)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// eachLog runs a test over kfake and over the embedded broker.
func eachLog(t *testing.T, f func(t *testing.T, open func() *pipeline.Log)) {
	t.Run("outside", func(t *testing.T) {
		t.Parallel()
		addrs := outside(t).ListenAddrs()
		f(t, func() *pipeline.Log { return openLog(t, pipeline.Config{Brokers: addrs}) })
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		l := embedded(t)
		f(t, func() *pipeline.Log { return l })
	})
}

// TestSplit runs processing and projecting separately, kills and restarts both, and makes the
// projections lose what they had not flushed.
func TestSplit(t *testing.T) {
	t.Parallel()
	eachLog(t, func(t *testing.T, open func() *pipeline.Log) { split(testContext(t), t, open, 4) })
}

func split(ctx context.Context, t *testing.T, open func() *pipeline.Log, rounds int) {
	dir, m := t.TempDir(), newFlushing()
	for round := range rounds {
		l := open()
		appendCommands(ctx, t, l, round*150, 150)
		process := runStream(t, streams.Options{YAML: builtin(t, configs.Process), Log: l})
		project := runStream(t, streams.Options{
			YAML: builtin(t, configs.Project), Log: l, Target: m, CheckpointDir: dir,
		})
		if round == rounds-1 {
			m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
		} else {
			select {
			case <-m.moved:
			case <-ctx.Done():
				t.Fatal("nothing moves")
			}
		}
		process.end()
		project.end()
		select {
		case <-m.moved:
		default:
		}
		if round < rounds-1 && round%2 == 0 { // otherwise it was a clean stop
			m = &flushing{m.flushed.copy(), m.flushed}
		}
	}
	l := open()
	if diff := cmp.Diff(inLog(ctx, t, l), m.commands); diff != "" {
		t.Errorf("applied (-want +got):\n%s", diff)
	}
	// The position of an event is its position in the log, not the position of its record in the
	// derived topic.
	if diff := cmp.Diff(trim(ends(ctx, t, l, schemas.TopicCommands)), trim(m.Watermark())); diff != "" {
		t.Errorf("watermark (-want +got):\n%s", diff)
	}
	from, err := l.TopicPartitions(ctx, schemas.TopicCommands)
	if err != nil {
		t.Fatal(err)
	}
	to, err := l.TopicPartitions(ctx, "recount.records.commands")
	if err != nil || len(from) != len(to) {
		t.Errorf("the derived topic has %d partitions, %v; want %d", len(to), err, len(from))
	}
}

// trim removes partitions without events.
func trim(w schemas.Watermark) schemas.Watermark {
	for tp, n := range w {
		if n == 0 {
			delete(w, tp)
		}
	}
	return w
}

// TestGroupRebalance adds and removes members while events arrive: every event is applied, and the
// projections see every partition in order.
func TestGroupRebalance(t *testing.T) {
	t.Parallel()
	eachLog(t, func(t *testing.T, open func() *pipeline.Log) {
		ctx, dir, m := testContext(t), t.TempDir(), newFlushing()
		l := open()
		appendCommands(ctx, t, l, 0, 200)
		project := runStream(t, streams.Options{YAML: builtin(t, configs.Project), Log: l, Target: m, CheckpointDir: dir})
		first := runStream(t, streams.Options{YAML: builtin(t, configs.Process), Log: l})
		m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))

		second := runStream(t, streams.Options{YAML: builtin(t, configs.Process), Log: open()})
		appendCommands(ctx, t, l, 200, 200)
		m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))

		first.end()
		appendCommands(ctx, t, l, 400, 200)
		m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
		second.end()
		project.end()
		if diff := cmp.Diff(inLog(ctx, t, l), m.commands); diff != "" {
			t.Errorf("applied (-want +got):\n%s", diff)
		}
	})
}

// TestTopicToCome checks that a stream whose topic does not exist yet waits for it and logs that
// once, not as an error.
func TestTopicToCome(t *testing.T) {
	t.Parallel()
	ctx, l, m := testContext(t), embedded(t), newFlushing()
	appendCommands(ctx, t, l, 0, 10)
	lines := make(chan string, 1000)
	project := runStream(t, streams.Options{
		YAML: builtin(t, configs.Project), Log: l, Target: m, CheckpointDir: t.TempDir(), Logger: linesTo(lines),
	})
	told := 0
	read := func(line string) {
		if contains(line, "does not exist yet", "recount.records.commands") {
			told++
		}
		if contains(line, "level=ERROR") || contains(line, "level=WARN") {
			t.Error(line)
		}
	}
	for told == 0 {
		select {
		case line := <-lines:
			read(line)
		case <-ctx.Done():
			t.Fatal("nothing was said")
		}
	}
	process := runStream(t, streams.Options{YAML: builtin(t, configs.Process), Log: l})
	m.waitFor(ctx, t, ends(ctx, t, l, schemas.TopicCommands))
	process.end()
	project.end()
	for len(lines) > 0 {
		read(<-lines)
	}
	if told != 1 {
		t.Errorf("said %d times", told)
	}
}

// TestCheckpointDamaged checks that an unreadable checkpoint is an error that names the file, and
// that reading does not start.
func TestCheckpointDamaged(t *testing.T) {
	t.Parallel()
	ctx, l, dir := testContext(t), embedded(t), t.TempDir()
	if err := l.CreateTopic(ctx, "recount.records.commands"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "recount.records.commands.json"), []byte(`{"partitions":"x`), 0o600); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_ = streams.Run(ctx, streams.Options{
			YAML: builtin(t, configs.Project), Log: l, Target: newMemory(), CheckpointDir: dir, Logger: linesTo(lines),
		})
	}()
	for {
		select {
		case line := <-lines:
			if contains(line, "recount.records.commands.json", "remove the file to read from the start") {
				return
			}
		case <-ctx.Done():
			t.Fatal("nothing was said")
		}
	}
}
