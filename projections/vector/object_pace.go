package vector

import (
	"sync/atomic"
	"time"
)

const (
	// bulk is how many passages batches have on average where more comes in than is taken
	// in at once, whatever the machine takes: what is appended in bulk is taken in at the
	// rate at which it began, and linked when it has ended.
	bulk = 64
	// mayWait is how many rows of a space may wait for that.
	mayWait = 1 << 17

	paceWindow = 250 * time.Millisecond
	pause      = 5 * time.Millisecond
)

// pace is how the linker makes room for Apply, by how much comes in.
type pace struct {
	passages, batches atomic.Uint64 // that Apply took in

	// Of the linker's goroutine.
	ends         time.Time // of the window at hand
	before, then uint64    // passages and batches when it began
	busy         bool      // what the last window was
}

// took notes a batch.
func (p *pace) took(passages int) {
	if passages > 0 {
		p.passages.Add(uint64(passages))
		p.batches.Add(1)
	}
}

// rests reports whether what came in lately leaves no time for links.
func (p *pace) rests() bool {
	if now := time.Now(); !now.Before(p.ends) {
		passages, batches := p.passages.Load(), p.batches.Load()
		p.busy = passages-p.before > bulk*(batches-p.then)
		p.before, p.then, p.ends = passages, batches, now.Add(paceWindow)
	}
	return p.busy
}
