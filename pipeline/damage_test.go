package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/recountdb/recount/pipeline"
	"github.com/recountdb/recount/pipeline/broker"
	"github.com/recountdb/recount/schemas"
)

// damagedLog returns the data directory of a log of one partition whose sealed records cannot be
// read from some offset on.
func damagedLog(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cfg := pipeline.Config{DataDir: dir, Partitions: 1, Logger: testLog(t)}
	l, err := pipeline.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 100 {
		text := make([]byte, 1000) // cannot be compressed by clients
		rand.NewChaCha8([32]byte{byte(i)}).Read(text)
		payload := fmt.Appendf(nil, `{"command":"%x"}`, text)
		if _, err := l.Append(t.Context(), schemas.TopicCommands, schemas.Event{Payload: payload}); err != nil {
			t.Fatal(err)
		}
	}
	// Closing leaves the records in the write-ahead log; opening seals them.
	for range 2 {
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		if l, err = pipeline.Open(t.Context(), cfg); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	flipped := 0
	err = filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".blob" {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		flipped++
		b[len(b)/3] ^= 1
		return os.WriteFile(path, b, 0o600)
	})
	if err != nil || flipped == 0 {
		t.Fatalf("%d files flipped: %v", flipped, err)
	}
	return dir
}

// TestDamagedRecord checks that a permanently unreadable record ends every reader of the log with
// an error that names the position and the fix.
func TestDamagedRecord(t *testing.T) {
	dir := damagedLog(t)
	lines := make(chan string, 1000)
	l, err := pipeline.Open(t.Context(), pipeline.Config{DataDir: dir, Partitions: 1, Logger: linesTo(lines)})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx := testContext(t)
	ends, err := l.Ends(ctx, schemas.TopicCommands)
	if err != nil {
		t.Fatal(err)
	}
	tp := ends.Partitions()[0]
	nothing := func(context.Context, schemas.TopicPartition, []schemas.LogRecord, int64) error { return nil }
	for name, read := range map[string]func() error{
		"follow to the end": func() error {
			return l.Follow(ctx, pipeline.FollowOptions{Partitions: ends.Partitions(), Until: ends}, nothing)
		},
		"follow for ever": func() error {
			return l.Follow(ctx, pipeline.FollowOptions{Partitions: ends.Partitions()}, nothing)
		},
		"tail": func() error {
			return l.Tail(ctx, pipeline.TailOptions{Topics: []string{tp.Topic}, Last: -1}, func(schemas.LogRecord) error { return nil })
		},
		"read": func() error {
			for at := range ends[tp] {
				if _, err := l.Read(ctx, schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: at}); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		err := read()
		if !errors.Is(err, schemas.ErrFatal) || !errors.Is(err, broker.ErrDamaged) || !contains(err.Error(), tp.String()+"/", filepath.Join(dir, "log")) {
			t.Errorf("%s: %v, want where the log is damaged", name, err)
		}
	}
	said := 0
	for len(lines) > 0 {
		if contains(<-lines, "cannot read the log", "offset=") {
			said++
		}
	}
	if said == 0 || said > 3 {
		t.Errorf("the broker says %d times that it cannot read", said)
	}
}
