package vector

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/recountdb/recount/projections/vector/flat"
	"github.com/recountdb/recount/projections/vector/index"
	"github.com/recountdb/recount/projections/vector/rows"
)

// linkStep is how many sealed rows a space needs before they are linked: below that, comparing all
// of them costs no more than a walk. Codes and links are stored in multiples of it.
const linkStep = 1 << 14

const codesSuffix = ".codes.vec"

func codesName(space uint32, seq int) string {
	return fmt.Sprintf("%08d-%08d%s", space, seq, codesSuffix)
}
func spaceLinksName(space uint32) string { return fmt.Sprintf("%08d%s", space, linksSuffix) }

// linker builds the graphs of large spaces outside Apply, since linking a row takes a hundred times
// as long as appending it. It runs at most one goroutine, and only while there is work.
//
// Graphs are not part of the state. The graph of a number of rows is a function of these rows, so
// two nodes that have linked the same number have the same graph. A stored graph is used if every
// byte of it is intact, and rebuilt otherwise.
type linker struct {
	// mu guards the fields below and the target of each space. Lock order: the locks of shards,
	// then mu; no lock is taken while mu is held.
	mu      sync.Mutex
	queue   []linkJob
	started bool
	stopped bool
	running sync.WaitGroup
	busy    bool // the goroutine is running

	pace pace
}

// linkJob is a space with rows to link.
type linkJob struct {
	shard *objectShard
	space *objectSpace
}

// linkState is the state of linking of a space.
type linkState struct {
	target uint32 // how many rows are to be linked; guarded by the linker's mu
	queued bool   // the space is in the queue; guarded by the linker's mu
	looked bool   // the stored graph was loaded or found missing
	stored uint32 // rows of the stored graph
	codes  []*file
}

// due queues a space if it has new sealed rows to link.
func (l *linker) due(s *objectShard, sp *objectSpace) {
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
func (l *linker) waiting(sp *objectSpace, linked uint32) uint32 {
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
		if err := j.load(target); err != nil {
			s.opts.Logger.Info("vector: links of objects not used, making them anew", "projection", Name, "position", s.tp.String(), "err", err)
		}
	}
	x := sp.graph.Load()
	if x == nil {
		var err error
		if x, err = flat.NewCodes(s.opts.objects(), sp.vector); err != nil {
			return 0, err
		}
		sp.graph.Store(x)
	}
	size := uint32(s.opts.linkRows)
	n := uint32(x.Len())
	for end := min(target, n-n%size+size); n < end; n++ {
		for l.pace.rests() && l.waiting(sp, n) < mayWait && !l.isStopped() {
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
	if err := j.storeCodes(x); err != nil {
		return n, err
	}
	// Store the links each time the graph has grown by an eighth, so that the bytes written in
	// total are a few times the final size.
	if n == sp.link.stored || n < sp.link.stored+max(size, sp.link.stored/8) {
		return n, nil
	}
	head := header{kind: kindObjectLinks, partition: s.tp.Partition, space: sp.number, next: int64(n)}
	links := region{tagLinks, sp.number, [][]byte{x.AppendLinks(nil)}}
	// The file is not synced: after a power cut it is checked before it is used.
	if err := s.store(spaceLinksName(sp.number), false, head, append(s.whose(), links)); err != nil {
		return n, err
	}
	sp.link.stored = n
	return n, nil
}

// storeCodes writes the codes of whole steps to files and maps them into the graph.
func (j linkJob) storeCodes(x *flat.Index) error {
	s, sp := j.shard, j.space
	for seq := len(sp.link.codes); (seq+1)*s.opts.linkRows <= x.Len(); seq++ {
		chunks := s.opts.linkRows / rows.PerChunk
		var parts [][]byte
		for i := range chunks {
			parts = append(parts, x.Chunk(seq*chunks+i))
		}
		head := header{kind: kindObjectCodes, partition: s.tp.Partition, space: sp.number, sequence: uint64(seq)}
		if err := s.store(codesName(sp.number, seq), false, head, append(s.whose(), region{tagCodes, sp.number, parts})); err != nil {
			return err
		}
		f, parts, err := j.openCodes(seq)
		if err != nil {
			return err
		}
		for i, chunk := range parts {
			if err := x.Map(seq*chunks+i, chunk); err != nil {
				f.close()
				return err
			}
		}
		j.keep(f)
	}
	return nil
}

// keep registers mapped files to be released with the shard.
func (j linkJob) keep(files ...*file) {
	l := j.shard.links
	l.mu.Lock()
	defer l.mu.Unlock()
	j.space.link.codes = append(j.space.link.codes, files...)
}

// openCodes opens the codes of a step and returns its chunks.
func (j linkJob) openCodes(seq int) (*file, [][]byte, error) {
	s, sp := j.shard, j.space
	f, err := s.open(filepath.Join(s.dir, codesName(sp.number, seq)), kindObjectCodes, uint64(seq))
	if err != nil {
		return nil, nil, err
	}
	b, err := f.get(tagCodes, sp.number)
	size := rows.CodesSize(dim)
	if err == nil && len(b) != s.opts.linkRows/rows.PerChunk*size {
		err = f.wrong(tagCodes, sp.number, "want %d bytes", s.opts.linkRows/rows.PerChunk*size)
	}
	if err != nil {
		f.close()
		return nil, nil, err
	}
	return f, slices.Collect(slices.Chunk(b, size)), nil
}

// load loads the stored graph, if there is one that has at most that many rows.
func (j linkJob) load(rows uint32) (err error) {
	s, sp := j.shard, j.space
	path := filepath.Join(s.dir, spaceLinksName(sp.number))
	if _, err := os.Stat(path); os.IsNotExist(err) {
		return nil
	}
	f, err := s.open(path, kindObjectLinks, 0)
	if err != nil {
		return err
	}
	defer f.close()
	if f.next <= 0 || f.next > int64(rows) || f.next%int64(s.opts.linkRows) != 0 {
		return f.wrong(tagLinks, sp.number, "of %d rows, there are %d", f.next, rows)
	}
	links, err := f.get(tagLinks, sp.number)
	if err != nil {
		return err
	}
	var files []*file
	defer func() {
		if err != nil {
			closeAll(files)
		}
	}()
	var chunks [][]byte
	for seq := range int(f.next) / s.opts.linkRows {
		cf, parts, err := j.openCodes(seq)
		if err != nil {
			return err
		}
		files, chunks = append(files, cf), append(chunks, parts...)
	}
	if err := sp.sameCodes(chunks); err != nil {
		return err
	}
	x, err := flat.LoadCodes(s.opts.objects(), links, chunks, sp.vector)
	if err != nil {
		return err
	}
	if x.Len() != int(f.next) {
		return f.wrong(tagLinks, sp.number, "of %d rows, want %d", x.Len(), f.next)
	}
	j.keep(files...)
	sp.link.stored = uint32(f.next)
	sp.graph.Store(x)
	return nil
}

// sameCodes checks that the first code of each chunk is that of the row there. This detects files
// that another state left.
func (sp *objectSpace) sameCodes(chunks [][]byte) error {
	for i, chunk := range chunks {
		var code [dim]int8
		rows.Encode(code[:], sp.vector(uint32(i*rows.PerChunk)))
		for at, c := range code {
			if byte(c) != chunk[at] {
				return fmt.Errorf("%w: the codes of row %d are of another vector", index.ErrCorrupt, i*rows.PerChunk)
			}
		}
	}
	return nil
}
