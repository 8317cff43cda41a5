package evidence_test

import (
	"context"
	"errors"
	"testing"

	"golang.org/x/sync/semaphore"

	"github.com/recountdb/recount/query/evidence"
)

// TestTurns checks that a query waits for its turn no longer than its context allows, and releases
// it, even if the query is refused.
func TestTurns(t *testing.T) {
	w := newWorld(t)
	w.add(0, shop()...)
	w.src.Turns = semaphore.NewWeighted(1)
	free := func(after string) {
		t.Helper()
		if !w.src.Turns.TryAcquire(1) {
			t.Fatalf("%s the turn is not given back", after)
		}
		w.src.Turns.Release(1)
	}
	w.ask(operator, evidence.Request{Text: "checkout"})
	free("after an answer")

	ctx, cancel := context.WithCancel(t.Context())
	if err := w.src.Turns.Acquire(ctx, 1); err != nil {
		t.Fatal(err)
	}
	asked := make(chan error)
	go func() {
		_, err := evidence.Ask(ctx, w.src, operator, evidence.Request{Text: "checkout"})
		asked <- err
	}()
	cancel()
	if err := <-asked; !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled while it waits: %v", err)
	}
	w.src.Turns.Release(1)
	free("after a question was cancelled")

	if _, err := evidence.Ask(ctx, w.src, operator, evidence.Request{Text: "checkout"}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before it is asked: %v", err)
	}
	free("after a cancelled question")
}
