package vector

import (
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/recountdb/recount/projections/vector/flat"
)

// linkStep is how many sealed rows a space needs before they are linked: below that, comparing all
// of them costs no more than a walk. Codes and links are stored in multiples of it.
const linkStep = 1 << 14

// linker builds the graphs of large spaces of objects outside Apply, since linking a row takes a
// hundred times as long as appending it. It runs at most one goroutine, and only while there is
// work.
type linker struct {
	// mu guards the fields below and the target of each space. Lock order: the locks of shards,
	// then mu; no lock is taken while mu is held.
	mu      sync.Mutex
	queue   []linkJob
	started bool
	stopped bool
	running sync.WaitGroup
	busy    bool // the goroutine is running

	throttle throttle
}

// linkJob is a space with rows to link.
type linkJob struct {
	shard *shard
	space *space
}

// linkState is the state of linking of a space. The linker uses it, or if rows are linked as they
// are added, the holder of the shard's write.
type linkState struct {
	target uint32  // how many rows are to be linked; guarded by the linker's mu
	queued bool    // the space is in the queue; guarded by the linker's mu
	looked bool    // the stored graph was loaded or found missing
	stored uint32  // rows of the stored graph
	codes  []*file // appended to under the linker's mu
	from   *file   // the file of links whose chunks the graph uses in place, or nil
}

// due queues a space if it has new sealed rows to link.
func (l *linker) due(s *shard, sp *space) {
	if sp.n < uint32(s.opts.linkRows) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if sp.n > sp.link.target {
		sp.link.target = sp.n
		l.push(linkJob{s, sp})
	}
}

// push queues a space; mu is held.
func (l *linker) push(j linkJob) {
	if !j.space.link.queued {
		j.space.link.queued = true
		l.queue = append(l.queue, j)
	}
	l.run()
}

// run starts the goroutine if there is work; mu is held.
func (l *linker) run() {
	if l.started && !l.stopped && !l.busy && len(l.queue) > 0 {
		l.busy = true
		l.running.Go(l.work)
	}
}

// start allows linking to begin.
func (l *linker) start() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.started = true
	l.run()
}

// stop ends linking after the current row and waits for that.
func (l *linker) stop() {
	l.mu.Lock()
	l.stopped = true
	l.mu.Unlock()
	l.running.Wait()
}

func (l *linker) isStopped() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopped
}

// work links until nothing is due. It links one step of a space, then one of the next.
func (l *linker) work() {
	for {
		l.mu.Lock()
		if l.stopped || len(l.queue) == 0 {
			l.busy = false
			l.mu.Unlock()
			return
		}
		j := l.queue[0]
		l.queue = slices.Delete(l.queue, 0, 1)
		j.space.link.queued = false
		target := j.space.link.target
		l.mu.Unlock()
		linked, err := j.step(target)
		if err != nil {
			// Searches scan rows that are not linked, so no row is lost.
			j.shard.opts.Logger.Warn("vector: objects not linked", "projection", Name, "position", j.shard.tp.String(), "err", err)
			continue // retried when there are more rows
		}
		l.mu.Lock()
		if !l.stopped && linked < j.space.link.target {
			l.push(j)
		}
		l.mu.Unlock()
	}
}

// waiting returns how many of the space's rows remain to be linked after the first linked ones.
func (l *linker) waiting(sp *space, linked uint32) uint32 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return sp.link.target - linked
}

// step links up to the next multiple of linkRows, and stores the result, or up to the target. It
// returns how many rows are linked then.
func (j linkJob) step(target uint32) (uint32, error) {
	s, sp, l := j.shard, j.space, j.shard.links
	if !sp.link.looked {
		sp.link.looked = true
		s.loadGraph(sp, target)
	}
	x := sp.graph.Load()
	if x == nil {
		var err error
		if x, err = flat.New(s.graphOptions(), sp.vector); err != nil {
			return 0, err
		}
		sp.graph.Store(x)
	}
	size := uint32(s.opts.linkRows)
	n := uint32(x.Len())
	for end := min(target, n-n%size+size); n < end; n++ {
		for l.throttle.pauses() && l.waiting(sp, n) < mayWait && !l.isStopped() {
			time.Sleep(pause)
		}
		if l.isStopped() {
			return n, nil
		}
		if err := x.Add(sp.vector(n)); err != nil {
			return n, err
		}
		// Give way to all other work. A thread of low priority would not help: it would still
		// occupy one of the few threads that the Go runtime lets run.
		runtime.Gosched()
	}
	if n%size != 0 {
		return n, nil
	}
	return n, s.storeGraph(sp, size)
}
