package broker_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/recountdb/recount/pipeline/broker"
)

// TestLineage checks that two logs with a common past have the same openings up to where they
// diverge, and no further.
func TestLineage(t *testing.T) {
	dir, copied := filepath.Join(t.TempDir(), "log"), filepath.Join(t.TempDir(), "copy")
	const topic = "t"
	add := func(b *broker.Broker, from, to int) {
		t.Helper()
		appendRange(t, b, topic, 0, from, to)
	}
	at := func(b *broker.Broker, offset int64) string {
		t.Helper()
		id, ok, err := b.OpeningAt(topic, 0, offset)
		if err != nil || !ok {
			t.Fatalf("offset %d: %v %v", offset, ok, err)
		}
		return id
	}
	opened := func(dir string, fn func(b *broker.Broker)) {
		t.Helper()
		b, err := broker.Open(dir, broker.Options{})
		if err != nil {
			t.Fatal(err)
		}
		fn(b)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var first, second string
	opened(dir, func(b *broker.Broker) {
		createTopic(t, b, topic, 1)
		add(b, 0, 3)
		if first = at(b, 2); first != b.Opening() || at(b, 0) != first {
			t.Errorf("got %q, want %q", first, b.Opening())
		}
		for _, none := range []int64{-1, 3} {
			if id, ok, err := b.OpeningAt(topic, 0, none); ok || err != nil {
				t.Errorf("offset %d: %q %v", none, id, err)
			}
		}
	})
	if err := os.CopyFS(copied, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	opened(dir, func(b *broker.Broker) {
		if at(b, 2) != first {
			t.Error("an opening that appends nothing changed what is there")
		}
	})
	opened(dir, func(b *broker.Broker) {
		add(b, 3, 5)
		if second = at(b, 4); second != b.Opening() || at(b, 3) != second || at(b, 2) != first || second == first {
			t.Errorf("got %q %q %q", at(b, 2), at(b, 3), second)
		}
	})
	opened(copied, func(b *broker.Broker) {
		add(b, 3, 5)
		if at(b, 2) != first || at(b, 4) == second {
			t.Errorf("the copy names %q, the log %q", at(b, 4), second)
		}
	})
}
