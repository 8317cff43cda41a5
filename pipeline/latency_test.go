package pipeline_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/recountdb/recount/configs"
	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/streams"
	"github.com/recountdb/recount/processors/adapter"
	"github.com/recountdb/recount/schemas"
)

// BenchmarkLive appends commands durably, one after the other, and waits until each is applied
// through the default stream. It measures the latency from produce to applied.
func BenchmarkLive(b *testing.B) {
	ctx, l, m := testContext(b), embedded(b), newMemory()
	yaml, err := configs.Read(configs.Commands)
	if err != nil {
		b.Fatal(err)
	}
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		done <- streams.Run(running, streams.Options{YAML: yaml, Log: l, Target: m, Processors: adapter.Register})
	}()
	one := func(i int) time.Duration {
		begin := time.Now()
		at, err := l.Append(ctx, schemas.TopicCommands, schemas.Event{
			Payload: fmt.Appendf(nil, `{"command":"make target%d","workspace":"/src/%d"}`, i, i%8),
		})
		if err != nil {
			b.Fatal(err)
		}
		for m.Next(at[0].TP()) <= at[0].Offset {
			select {
			case <-m.moved:
			case <-ctx.Done():
				b.Fatal("not applied")
			}
		}
		return time.Since(begin)
	}
	one(0) // wait until the stream runs
	var took []time.Duration
	for i := 1; b.Loop(); i++ {
		took = append(took, one(i))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Microseconds()), "p50-µs")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds()), "p99-µs")
	stop()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkStream measures the cost of a command from the log to the projections, without that of
// the projections.
func BenchmarkStream(b *testing.B) {
	ctx, l, m := testContext(b), embedded(b), newMemory()
	for i := 0; i < b.N; i += 1000 {
		appendCommands(ctx, b, l, i, min(1000, b.N-i))
	}
	yaml, err := configs.Read(configs.Commands)
	if err != nil {
		b.Fatal(err)
	}
	until := ends(ctx, b, l, schemas.TopicCommands)
	running, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	b.ResetTimer()
	go func() {
		done <- streams.Run(running, streams.Options{YAML: yaml, Log: l, Target: m, Processors: adapter.Register})
	}()
	for !m.Watermark().Covers(until) {
		select {
		case <-m.moved:
		case <-ctx.Done():
			b.Fatal("not applied")
		}
	}
	b.StopTimer()
	stop()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkAppend appends one event at a time durably; BenchmarkAppendBatch appends 1,000 per call.
func BenchmarkAppend(b *testing.B) { benchmarkAppend(b, 1) }

func BenchmarkAppendBatch(b *testing.B) { benchmarkAppend(b, 1000) }

func benchmarkAppend(b *testing.B, batch int) {
	ctx, l := testContext(b), embedded(b)
	appendCommands(ctx, b, l, 0, 1)
	n := 0
	for b.Loop() {
		appendCommands(ctx, b, l, n, batch)
		n += batch
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkFollow reads the log as a rebuild does.
func BenchmarkFollow(b *testing.B) {
	ctx, l := testContext(b), embedded(b)
	for i := 0; i < b.N; i += 1000 {
		appendCommands(ctx, b, l, i, min(1000, b.N-i))
	}
	until := ends(ctx, b, l, schemas.TopicCommands)
	b.ResetTimer()
	err := l.Follow(ctx, pipeline.FollowOptions{Topics: []string{schemas.TopicCommands}, Until: until},
		func(context.Context, schemas.TopicPartition, []schemas.LogRecord, int64) error { return nil })
	if err != nil {
		b.Fatal(err)
	}
}
