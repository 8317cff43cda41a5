// Package history keeps the distinct commands of the projection segment in memory, to answer a
// search while somebody types it. What it holds follows from the projection and is read again after
// a start: some 24 bytes for each run, and twice the text for each distinct command.
//
// An Index is safe for concurrent use. Whoever finds it behind reads what is new, in pieces: a
// question that is given up loses nothing, and others are answered between two pieces.
package history

import (
	"context"
	"maps"
	"strings"
	"sync"

	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query/commands/match"
	"github.com/recountdb/recount/schemas"
)

// Index holds the distinct commands of a log. The zero value is empty and ready.
type Index struct {
	// reading is held by whoever reads what is new, and taken before mu.
	reading sync.Mutex

	mu sync.RWMutex // guards state
	state

	// choosing guards chosen, the newest selection: keystrokes share their filters. It is taken
	// after mu.
	choosing sync.Mutex
	chosen   *selection
}

// state is what was read.
type state struct {
	// of is the generation of the projection: another one is read from zero.
	of   *segment.Projection
	next schemas.Watermark
	// version changes with each piece that is read.
	version uint64
	texts   []text
	byHash  map[uint64]int32
	runs    map[schemas.TopicPartition][]run
	total   int64
	newest  int64
	authors map[string]int
}

// text is a distinct command: runs whose texts differ only in white space have one.
type text struct {
	match.Text
	hash uint64
	last Run
	runs int32
}

// run is one time that a command ran.
type run struct {
	offset, time int64
	text         int32
}

// Run is where and when a command ran.
type Run struct {
	UnixNano int64
	TP       schemas.TopicPartition
	Offset   int64
}

// Position returns the position of the run's event.
func (r Run) Position() schemas.Position {
	return schemas.Position{Topic: r.TP.Topic, Partition: r.TP.Partition, Offset: r.Offset}
}

// later reports whether a run comes after another one.
func (r Run) later(than Run) bool {
	switch {
	case r.UnixNano != than.UnixNano:
		return r.UnixNano > than.UnixNano
	case r.TP == than.TP:
		return r.Offset > than.Offset
	}
	return r.TP.Compare(than.TP) > 0
}

// piece is the number of offsets that are read at a time.
const piece = 4096

// CatchUp reads what is visible and not in the index yet.
func (x *Index) CatchUp(ctx context.Context, of *segment.Projection, visible schemas.Watermark) error {
	x.mu.RLock()
	done := x.has(of, visible)
	x.mu.RUnlock()
	if done {
		return nil
	}
	x.reading.Lock()
	defer x.reading.Unlock()
	if x.of != of {
		x.mu.Lock()
		x.state = state{
			of: of, version: x.version + 1, next: schemas.Watermark{}, byHash: map[uint64]int32{},
			runs: map[schemas.TopicPartition][]run{}, authors: map[string]int{},
		}
		x.mu.Unlock()
	}
	return of.Read(func(rows *segment.Reader) error {
		for _, tp := range visible.Partitions() {
			for x.next[tp] < visible[tp] {
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := x.read(rows, tp, min(x.next[tp]+piece, visible[tp])); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// has reports whether everything visible was read.
func (s *state) has(of *segment.Projection, visible schemas.Watermark) bool {
	if s.of != of {
		return false
	}
	for tp, next := range visible {
		if s.next[tp] < next {
			return false
		}
	}
	return true
}

// read reads the rows of a partition below an offset. Reading is held.
func (x *Index) read(rows *segment.Reader, tp schemas.TopicPartition, below int64) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	for offset := x.next[tp]; offset < below; offset++ {
		v, err := rows.At(tp, offset)
		if err != nil {
			return err
		}
		if v != nil { // otherwise an outcome, or rejected
			x.add(v, tp, offset)
		}
		x.next[tp] = offset + 1
	}
	x.version++
	return nil
}

func (s *state) add(v *segment.View, tp schemas.TopicPartition, offset int64) {
	r := Run{UnixNano: v.UnixNano(), TP: tp, Offset: offset}
	i, known := s.byHash[v.ContentHash()]
	if !known {
		i = int32(len(s.texts))
		s.byHash[v.ContentHash()] = i
		s.texts = append(s.texts, text{Text: match.NewText(strings.Clone(v.Command())), hash: v.ContentHash(), last: r})
	}
	t := &s.texts[i]
	t.runs++
	if r.later(t.last) {
		t.last = r
	}
	s.runs[tp] = append(s.runs[tp], run{offset: offset, time: r.UnixNano, text: i})
	s.total++
	s.newest = max(s.newest, r.UnixNano)
	if a := v.Author(); a != "" {
		if _, known := s.authors[a]; !known {
			a = strings.Clone(a)
		}
		s.authors[a]++
	}
}

// watermark returns what was read.
func (s *state) watermark() schemas.Watermark { return maps.Clone(s.next) }
