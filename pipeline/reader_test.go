package pipeline_test

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/schemas"
)

// TestReaderPassesGaps checks that projections move over offsets that were removed before they were
// read, without a record behind them: a wait for the projections to reach that offset ends.
func TestReaderPassesGaps(t *testing.T) {
	l := openLog(t, pipeline.Config{DataDir: t.TempDir(), Partitions: 1})
	topic := l.Topic(schemas.TopicCommands)
	tp := schemas.TopicPartition{Topic: topic}
	at, err := l.Append(t.Context(), schemas.TopicCommands, schemas.Event{Payload: []byte(`{"command":"make"}`)}, schemas.Event{Payload: []byte(`{"command":"make test"}`)})
	if err != nil {
		t.Fatal(err)
	}
	end := at[len(at)-1].Offset + 1
	if err := l.Retire(t.Context(), map[schemas.TopicPartition]pipeline.Cut{tp: {First: end}}); err != nil {
		t.Fatal(err)
	}
	target := newMemory()
	r, err := pipeline.NewReader(pipeline.ReaderOptions{
		Own:    func(context.Context) (*pipeline.Log, error) { return l, nil },
		Topics: []string{topic}, Start: pipeline.StartProjections, MaxRecords: 10, MaxBytes: 1 << 20, CheckpointEvery: time.Hour,
		Target: func(context.Context) (pipeline.Target, error) { return target, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	read := make(chan error, 1)
	go func() {
		_, err := r.Next(ctx)
		read <- err
	}()
	for target.Next(tp) != end {
		select {
		case <-target.moved:
		case err := <-read:
			t.Fatalf("read a batch of a partition without records, or %v; the projections are at %d, want %d", err, target.Next(tp), end)
		}
	}
	if err := r.Close(t.Context()); err != nil {
		t.Error(err)
	}
	if err := <-read; !errors.Is(err, io.EOF) {
		t.Errorf("after Close: %v", err)
	}
}
