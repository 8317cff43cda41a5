package storage

import (
	"testing"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// TestWatchCountsWhatArrived checks that bytes that arrive between reading and waiting count by
// their size: a fetch does not read everything again for each of them.
func TestWatchCountsWhatArrived(t *testing.T) {
	l := memLog(t, Options{})
	log, refused := l.CreateTopic(t.Context(), "log", 1, nil, false)
	if refused != nil {
		t.Fatal(refused)
	}
	p := log.Partition(0)
	seen := p.View()
	if _, err := l.Append(t.Context(), "log", 0, wire.Record{Value: make([]byte, 100)}); err != nil {
		t.Fatal(err)
	}
	woken := func(w *Waiter) bool {
		p.Watch(w, seen)
		defer p.Unwatch(w)
		select {
		case <-w.Ready:
			return true
		default:
			return false
		}
	}
	if grown := p.View().Bytes - seen.Bytes; !woken(NewWaiter(grown)) || woken(NewWaiter(grown+1)) {
		t.Errorf("after %d bytes", grown)
	}
	// A topic deleted before the wait began.
	seen = p.View()
	if err := l.DeleteTopic(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	if !woken(NewWaiter(1)) {
		t.Error("a fetch waits for a topic that is deleted")
	}
}
