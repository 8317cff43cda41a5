package broker

import "sync"

// memoryLimiter limits the memory that the answers to all clients take together, with half of it for any one
// address. A client that requests and does not read makes others' answers smaller, but cannot
// exhaust the machine's memory.
type memoryLimiter struct {
	max int64
	// soft grants every answer the minimum, and what its first batch takes, beyond the limit: it is
	// for in-memory connections, which belong to the process itself.
	soft bool

	mu            sync.Mutex
	held          int64
	heldByAddress map[string]int64 // address to what it holds
}

func newMemoryLimiter(limit int64, soft bool) *memoryLimiter {
	return &memoryLimiter{max: limit, soft: soft, heldByAddress: map[string]int64{}}
}

// grant takes up to want bytes: a quarter of what is left, but least if that is more. It returns how
// many it took, 0 if less than least is left.
func (r *memoryLimiter) grant(who string, want, least int64) int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	left := r.left(who)
	n := min(want, max(left/4, least))
	if n > left && !r.soft {
		return 0
	}
	r.add(who, n)
	return n
}

// more takes n more bytes for an answer to who that already holds has bytes, and reports whether
// that was possible. It always is if no other answer holds memory.
func (r *memoryLimiter) more(who string, has, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > r.left(who) && r.held > has && !r.soft {
		return false
	}
	r.add(who, n)
	return true
}

// give returns n bytes.
func (r *memoryLimiter) give(who string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(who, -n)
}

func (r *memoryLimiter) left(who string) int64 {
	return min(r.max-r.held, r.max/2-r.heldByAddress[who])
}

func (r *memoryLimiter) add(who string, n int64) {
	r.held += n
	if r.heldByAddress[who] += n; r.heldByAddress[who] == 0 {
		delete(r.heldByAddress, who)
	}
}
