package storage

import (
	"errors"
	"log/slog"
	"runtime"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// TestGroupAfterAFailure passes the finisher a group that was queued when the store failed, and
// checks that it is neither acknowledged nor shown to readers, whichever of the two callers notice
// first.
func TestGroupAfterAFailure(t *testing.T) {
	s := &store{failed: make(chan struct{}), log: slog.New(slog.DiscardHandler)}
	c := newCommitter(s)
	s.fail(errors.New("no space left on device"))

	p := &Partition{topic: &Topic{Name: "log"}}
	o := &funcOp{write: func(*pebble.Batch) error { return nil }, out: make(chan error, 1)}
	c.groups <- &group{ops: []op{o}, errs: make([]error, 1), moved: []moved{{p, State{End: 1}}}}
	close(c.groups)
	c.finish()

	if err := <-o.out; !errors.Is(err, ErrFailed) {
		t.Errorf("the operation was answered with %v", err)
	}
	if end := p.View().End; end != 0 {
		t.Errorf("readers see the log up to %d", end)
	}
}

// together submits the ops of the functions as one group, in their order.
func together(t *testing.T, b *Log, do ...func()) {
	t.Helper()
	c := b.store.commit
	reached, open := make(chan struct{}), make(chan struct{})
	gate := &funcOp{write: func(*pebble.Batch) error { close(reached); <-open; return nil }, out: make(chan error, 1)}
	if err := c.submit(gate); err != nil {
		t.Fatal(err)
	}
	<-reached // alone in its group; the others are queued for the next
	var wg sync.WaitGroup
	for i, f := range do {
		wg.Go(f)
		for queued := 0; queued <= i; runtime.Gosched() {
			c.mu.Lock()
			queued = len(c.queue)
			c.mu.Unlock()
		}
	}
	close(open)
	wg.Wait()
}

// TestAppendInTheCommitThatDeletes checks that an append to a topic in the same commit that deletes
// it leaves nothing behind.
func TestAppendInTheCommitThatDeletes(t *testing.T) {
	b := memLog(t, Options{})
	topic, refused := b.CreateTopic(t.Context(), "log", 2, nil, false)
	if refused != nil {
		t.Fatal(refused)
	}
	together(t, b,
		func() {
			if _, err := b.Append(t.Context(), "log", 0, wire.Record{Value: []byte("v")}); err != nil {
				t.Error(err)
			}
		},
		func() {
			if refused := b.DeleteTopic(t.Context(), topic); refused != nil {
				t.Error(refused)
			}
		})
	for _, kind := range []byte{keyPartition, keyBatch, keyTime, keyWindow, keyGap, keyLineage} {
		lo, hi := topicSpan(kind, topic.num)
		err := b.store.scan(lo, hi, func(k, _ []byte) error {
			t.Errorf("the deleted topic left the key %x", k)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
