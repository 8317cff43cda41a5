package sealed

import "sync"

// Guard keeps a projection's mapped files until the last call that uses them has returned. The zero
// value is open. All methods may be called from any goroutine.
type Guard struct {
	mu     sync.Mutex
	users  int // calls in progress
	closed bool
}

// Enter registers a call that uses the files and reports whether they are open. If they are, the
// caller must call Leave.
func (g *Guard) Enter() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.closed {
		g.users++
	}
	return !g.closed
}

// Leave ends a call. After Close the last one calls release, which unmaps the files.
func (g *Guard) Leave(release func()) {
	g.mu.Lock()
	g.users--
	last := g.closed && g.users == 0
	g.mu.Unlock()
	if last {
		release()
	}
}

// Close refuses further calls. It calls release if no call is in progress; otherwise the last Leave
// does. A second Close does nothing.
func (g *Guard) Close(release func()) {
	g.mu.Lock()
	last := !g.closed && g.users == 0
	g.closed = true
	g.mu.Unlock()
	if last {
		release()
	}
}
