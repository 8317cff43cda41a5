package broker

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// TestGroupAfterAFailure hands the finisher a group that was queued when the store failed:
// it is neither acknowledged nor shown to readers, whichever of the two the callers see first.
func TestGroupAfterAFailure(t *testing.T) {
	s := &store{failed: make(chan struct{}), log: slog.New(slog.DiscardHandler)}
	c := newCommitter(s)
	s.fail(errors.New("no space left on device"))

	p := &partition{topic: &topic{name: "log"}}
	o := &funcOp{write: func(*pebble.Batch) error { return nil }, out: make(chan error, 1)}
	c.groups <- &group{ops: []op{o}, errs: make([]error, 1), moved: []moved{{p, tail{end: 1}}}}
	close(c.groups)
	c.finish()

	if err := <-o.out; !errors.Is(err, errStoreFailed) {
		t.Errorf("the operation was answered with %v", err)
	}
	if end := p.now().end; end != 0 {
		t.Errorf("readers see the log up to %d", end)
	}
}
