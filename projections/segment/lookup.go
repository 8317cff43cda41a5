package segment

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// ViewID calls fn with the intent of an event, in place; it does not call fn if there is none.
func (p *Projection) ViewID(ctx context.Context, id schemas.EventID, fn func(*View) error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	for _, s := range p.all() {
		if err := ctx.Err(); err != nil {
			return err
		}
		v, at, hot := s.snapshotID(id)
		if hot {
			return fn(&View{c: &v.hot, row: at, tp: s.tp})
		}
		for _, f := range slices.Backward(v.files) {
			at, err := f.find(id)
			if err != nil {
				return err
			}
			if at >= 0 {
				return fn(&View{c: &f.cols, row: at, tp: s.tp, f: f})
			}
		}
	}
	return nil
}

// snapshotID returns a snapshot and the hot row of an id in it.
func (s *shard) snapshotID(id schemas.EventID) (view, int, bool) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	row := s.view.ids.find(s.view.hot.id, id)
	return s.view, row, row >= 0 && row < s.view.hot.n
}

// Match is an event whose id begins with a given prefix.
type Match struct {
	ID       schemas.EventID
	Position schemas.Position
}

// MinPrefix is the minimum number of hexadecimal digits of an abbreviated id.
const MinPrefix = 4

// Find lists, in order of id, the events whose id begins with prefix: MinPrefix or more hexadecimal
// digits, with hyphens anywhere. It returns at most limit events, so a caller that needs a unique
// one passes 2.
func (p *Projection) Find(ctx context.Context, prefix string, limit int) ([]Match, error) {
	digits := strings.ToLower(strings.ReplaceAll(prefix, "-", ""))
	var lo, hi schemas.EventID
	for i := range hi {
		hi[i] = 0xff
	}
	if len(digits) < MinPrefix || len(digits) > 32 {
		return nil, fmt.Errorf("id %q: want %d to 32 hexadecimal digits", prefix, MinPrefix)
	}
	if _, err := hex.Decode(lo[:], []byte(digits+strings.Repeat("0", 32-len(digits)))); err != nil {
		return nil, fmt.Errorf("id %q: not hexadecimal", prefix)
	}
	if _, err := hex.Decode(hi[:], []byte(digits+strings.Repeat("f", 32-len(digits)))); err != nil {
		return nil, fmt.Errorf("id %q: not hexadecimal", prefix)
	}
	if err := p.enter(); err != nil {
		return nil, err
	}
	defer p.leave()
	var found []Match
	for _, s := range p.all() {
		v := s.snapshot()
		add := func(c *columns, row int) {
			found = append(found, Match{c.id[row], (&View{c: c, row: row, tp: s.tp}).Position()})
		}
		for row, id := range v.hot.id {
			if bytes.Compare(id[:], lo[:]) >= 0 && bytes.Compare(id[:], hi[:]) <= 0 {
				add(&v.hot, row)
			}
		}
		for _, f := range v.files {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			c, x, err := f.rows()
			if err != nil {
				return nil, err
			}
			i, _ := slices.BinarySearchFunc(x.idOrder, lo, func(row uint32, id schemas.EventID) int {
				return bytes.Compare(c.id[row][:], id[:])
			})
			// Matches of one file beyond limit can never be among the first limit.
			for taken := 0; i < len(x.idOrder) && taken < limit; i, taken = i+1, taken+1 {
				row := int(x.idOrder[i])
				if bytes.Compare(c.id[row][:], hi[:]) > 0 {
					break
				}
				add(c, row)
			}
		}
	}
	slices.SortFunc(found, func(a, b Match) int {
		return cmp.Or(bytes.Compare(a.ID[:], b.ID[:]), a.Position.TP().Compare(b.Position.TP()))
	})
	return found[:min(len(found), max(limit, 0))], nil
}

// ViewAt calls fn with the intents at the positions, in place and in their order, each with its
// index in positions; a position without an intent is skipped. All are read from one state of their
// shard. An error of fn ends the call.
func (p *Projection) ViewAt(ctx context.Context, positions []schemas.Position, fn func(i int, v *View) error) error {
	return p.Read(func(r *Reader) error {
		for i, pos := range positions {
			if i&255 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			v, err := r.At(pos.TP(), pos.Offset)
			if err == nil && v != nil {
				err = fn(i, v)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Reader reads single rows, all from one state of their shard. It may be used by one goroutine
// only.
type Reader struct {
	p     *Projection
	views map[schemas.TopicPartition]*view
	// last is the shard that was read last, which in most cases is the next one too.
	last   schemas.TopicPartition
	lastOK bool
	view   *view
	at     View
}

// Read calls fn with a Reader that is valid until fn returns.
func (p *Projection) Read(fn func(*Reader) error) error {
	if err := p.enter(); err != nil {
		return err
	}
	defer p.leave()
	return fn(&Reader{p: p, views: map[schemas.TopicPartition]*view{}})
}

// At returns the intent at a position, or nil if there is none. It is valid until the next call.
func (r *Reader) At(tp schemas.TopicPartition, offset int64) (*View, error) {
	if !r.lastOK || r.last != tp {
		v, ok := r.views[tp]
		if !ok {
			if s := r.p.shard(tp); s != nil {
				snap := s.snapshot()
				v = &snap
			}
			r.views[tp] = v
		}
		r.last, r.lastOK, r.view = tp, true, v
	}
	v := r.view
	if v == nil {
		return nil, nil
	}
	r.at = View{tp: tp, room: r.at.room}
	if offset >= v.base {
		r.at.c = &v.hot
	} else {
		k, _ := slices.BinarySearchFunc(v.files, offset, func(f *file, off int64) int {
			return cmp.Compare(f.h.Next-1, off)
		})
		if k == len(v.files) {
			return nil, nil
		}
		r.at.f = v.files[k]
		c, _, err := r.at.f.rows()
		if err != nil {
			return nil, err
		}
		r.at.c = c
	}
	row, ok := rowAt(r.at.c.offset[:r.at.c.n], offset)
	if !ok {
		return nil, nil
	}
	r.at.row = row
	return &r.at, nil
}

// rowAt finds an offset among ascending ones. If every event of a partition is a command, the
// distance of a row from the first equals that of its offset; if other events lie between, the row
// is nearer than that.
func rowAt(offsets []int64, offset int64) (int, bool) {
	if len(offsets) == 0 || offset < offsets[0] {
		return 0, false
	}
	guess := int(min(offset-offsets[0], int64(len(offsets)-1)))
	if offsets[guess] == offset {
		return guess, true
	}
	return slices.BinarySearch(offsets[:guess+1], offset)
}
