package vector

import (
	"sync/atomic"
	"time"
)

const (
	// bulk is the average number of passages of a batch above which input counts as bulk, on any
	// machine: more arrives than is applied at once. During bulk input linking pauses, so that the
	// input keeps its initial rate; linking resumes when it ends.
	bulk = 64
	// mayWait is the maximum number of rows of a space that may wait for the end of bulk input.
	mayWait = 1 << 17

	throttleWindow = 250 * time.Millisecond
	pause          = 5 * time.Millisecond
)

// throttle decides from the rate of input whether the linker pauses in favour of Apply.
type throttle struct {
	passages, batches atomic.Uint64 // counts of what Apply applied

	// Fields of the linker's goroutine.
	ends         time.Time // end of the current window
	before, then uint64    // passages and batches when it began
	busy         bool      // whether the last window had bulk input
}

// took counts a batch.
func (t *throttle) took(passages int) {
	if passages > 0 {
		t.passages.Add(uint64(passages))
		t.batches.Add(1)
	}
}

// pauses reports whether linking must pause because of recent bulk input.
func (t *throttle) pauses() bool {
	if now := time.Now(); !now.Before(t.ends) {
		passages, batches := t.passages.Load(), t.batches.Load()
		t.busy = passages-t.before > bulk*(batches-t.then)
		t.before, t.then, t.ends = passages, batches, now.Add(throttleWindow)
	}
	return t.busy
}
