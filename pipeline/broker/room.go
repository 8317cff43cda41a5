package broker

import "sync"

// room bounds the memory that the answers to all clients take together, and those to
// one address half of that: a client that asks and does not read costs others some of
// the size of their answers, and never the machine.
type room struct {
	max int64
	// soft lets every answer have least, and whatever its first batch takes: for
	// connections in memory, which are the process's own.
	soft bool

	mu   sync.Mutex
	held int64
	by   map[string]int64 // by who
}

func newRoom(limit int64, soft bool) *room {
	return &room{max: limit, soft: soft, by: map[string]int64{}}
}

// grant takes up to want bytes: a quarter of what is left, but least where there is so
// much. It returns how many.
func (r *room) grant(who string, want, least int64) int64 {
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

// more takes n bytes beside what who has been granted for the same answer, has, and
// reports whether there is room for them. An answer that is the only one has.
func (r *room) more(who string, has, n int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n > r.left(who) && r.held > has && !r.soft {
		return false
	}
	r.add(who, n)
	return true
}

// give returns n bytes.
func (r *room) give(who string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.add(who, -n)
}

func (r *room) left(who string) int64 { return min(r.max-r.held, r.max/2-r.by[who]) }

func (r *room) add(who string, n int64) {
	r.held += n
	if r.by[who] += n; r.by[who] == 0 {
		delete(r.by, who)
	}
}
