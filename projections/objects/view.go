package objects

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// View is one state: later batches do not show in it. Its methods may be called from any goroutine
// until Close.
type View struct {
	x       *Objects
	s       *store.View
	mark    schemas.Watermark
	parts   []shardView
	batches uint64 // the number of the last batch that it contains: see headCache

	mu sync.Mutex // guards it
	it store.Iterator
}

// View opens a view of the currently applied state. The caller closes it.
func (x *Objects) View() (*View, error) {
	v := &View{x: x, batches: x.heads.settled()}
	s, err := x.DB.View()
	if err != nil {
		return nil, err
	}
	v.s = s
	if v.mark, err = s.Watermark(); err != nil {
		s.Close()
		return nil, err
	}
	for _, tp := range v.mark.Partitions() {
		t, err := x.table(tp)
		if err != nil {
			s.Close()
			return nil, err
		}
		v.parts = append(v.parts, shardView{t, t.below(v.mark[tp]), v.mark[tp]})
	}
	return v, nil
}

// Close releases the view.
func (v *View) Close() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	var err error
	if v.it != nil {
		err = v.s.Explain(v.it.Close())
	}
	v.s.Close()
	return err
}

// Watermark returns the next offset of every partition in this state.
func (v *View) Watermark() schemas.Watermark { return maps.Clone(v.mark) }

// Stored is one version of an object. Readers share it and must not change it.
type Stored struct {
	// Object has no embeddings. Its Text is complete except for the last Rest bytes, which
	// View.Text also reads.
	*recountv1.Object
	Rest int

	Ref       schemas.ObjectRef
	EventID   schemas.EventID
	EventType string
	Audience  schemas.Audience
	// AudienceID is that of Audience. IDText and At are the object's id and the position of its
	// event as answers print them; they are shared by all readers.
	AudienceID schemas.AudienceID
	IDText, At string
	// Edges are those that lead from it.
	Edges []*recountv1.ObjectEdge

	// uses and same cache the objects that used its event, and those of its audience with the same
	// content.
	uses, same memo
}

// ObjectID returns the id of the object.
func (s *Stored) ObjectID() schemas.ObjectID { return schemas.ObjectID(s.Id) }

// Edge is an edge as stated in its event.
type Edge struct {
	*recountv1.ObjectEdge
	// Ref is the version of the object that it leads from, and Audience is the audience of that
	// object.
	Ref      schemas.ObjectRef
	Audience schemas.AudienceID
}

// Bound limits the results of a query.
type Bound struct {
	At
	// Visible, if not nil, reports whether an object is visible, such as the result of View.Filter.
	// Other objects are treated as if they did not exist.
	Visible func(schemas.ObjectRef) bool
	// Limit is the maximum number of results; 0 is no limit.
	Limit int
}

func (b *Bound) knows(w when) bool {
	return (b.Below == nil || w.ref.Offset < b.Below[w.ref.TP()]) && (b.Time == 0 || w.time <= b.Time) &&
		(b.Visible == nil || b.Visible(w.ref))
}

func (b *Bound) full(n int) bool { return b.Limit > 0 && n >= b.Limit }

// event calls use with the decoded row of an event, and reports whether there is one.
func (v *View) event(at schemas.Position, use func(*event) error) (bool, error) {
	return v.s.Get(eventKey(nil, appendShard(nil, at.TP()), at.Offset), func(value []byte) error {
		e, err := decodeEvent(value)
		if err == nil {
			err = use(e)
		}
		if err != nil {
			return v.s.Damaged(fmt.Errorf("event at %s: %w", at, err))
		}
		return nil
	})
}

// Get returns the version of an object at a position, or nil if there is none.
func (v *View) Get(ref schemas.ObjectRef) (*Stored, error) {
	if !v.has(ref.Position) {
		return nil, nil
	}
	all := v.x.rows.get(ref.Position)
	var one *Stored
	if all == nil {
		there, err := v.event(ref.Position, func(e *event) (err error) {
			switch {
			case len(e.objects) <= maxKept:
				all, err = e.readAll(ref.Position)
			case int64(ref.Index) < int64(len(e.objects)):
				one, err = e.read(ref)
			}
			return err
		})
		if _, r := v.row(ref); err == nil && !there && r != nil {
			err = v.s.Damaged(fmt.Errorf("event at %s is not there", ref.Position))
		}
		if err != nil || all == nil {
			return one, err
		}
		v.x.rows.put(ref.Position, all)
	}
	if int64(ref.Index) < int64(len(all)) {
		one = all[ref.Index]
	}
	return one, nil
}

// has reports whether the state includes the offset of an event.
func (v *View) has(at schemas.Position) bool {
	p := v.part(at.TP())
	return p != nil && at.Offset < p.next
}

func (e *event) read(ref schemas.ObjectRef) (*Stored, error) {
	o, rest, err := e.object(ref.Index)
	if err != nil {
		return nil, err
	}
	s := &Stored{Object: o, Rest: rest, Ref: ref, EventID: e.id, EventType: e.typ, Audience: audienceOf(o), At: ref.Position.String()}
	s.AudienceID, s.IDText = s.Audience.ID(), s.ObjectID().String()
	s.Edges, err = e.edgesFrom(ref.Index)
	return s, err
}

func (e *event) readAll(at schemas.Position) ([]*Stored, error) {
	all := make([]*Stored, len(e.objects))
	for i := range e.objects {
		var err error
		if all[i], err = e.read(schemas.ObjectRef{Position: at, Index: uint32(i)}); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// At returns the objects of the event at a position, in order.
func (v *View) At(p schemas.Position) ([]*Stored, error) {
	all, err := v.made(p)
	return slices.Clone(all), err
}

// made returns the objects of the event at a position. The caller must not change the slice.
func (v *View) made(p schemas.Position) ([]*Stored, error) {
	if !v.has(p) {
		return nil, nil
	}
	if all := v.x.rows.get(p); all != nil {
		return all, nil
	}
	var all []*Stored
	_, err := v.event(p, func(e *event) (err error) {
		all, err = e.readAll(p)
		return err
	})
	if err == nil && len(all) > 0 && len(all) <= maxKept {
		v.x.rows.put(p, all)
	}
	return all, err
}

// Text returns the whole text of an object.
func (v *View) Text(s *Stored) (string, error) { return v.Passage(s, 0, len(s.Text)+s.Rest) }

// Passage returns the bytes from (inclusive) to (exclusive) of an object's text. The range is
// clipped to the text.
func (v *View) Passage(s *Stored, from, to int) (string, error) {
	head := len(s.Text)
	from, to = max(from, 0), min(to, head+s.Rest)
	if from >= to {
		return "", nil
	}
	if to <= head {
		return s.Text[from:to], nil
	}
	var b strings.Builder
	if from < head {
		b.WriteString(s.Text[from:])
		from = head
	}
	shard := appendShard(nil, s.Ref.TP())
	for n := (from - head) / pieceBytes; n*pieceBytes < to-head; n++ {
		start := head + n*pieceBytes
		want := min(pieceBytes, s.Rest-n*pieceBytes)
		ok, err := v.s.Get(pieceKey(nil, shard, s.Ref.Offset, s.Ref.Index, n), func(value []byte) error {
			if len(value) != want {
				return v.s.Damaged(fmt.Errorf("piece %d of the text of %s: %d bytes, want %d", n, s.Ref, len(value), want))
			}
			b.Write(value[max(from-start, 0):min(to-start, len(value))])
			return nil
		})
		if err != nil {
			return "", err
		}
		if !ok {
			return "", v.s.Damaged(fmt.Errorf("piece %d of the text of %s is not there", n, s.Ref))
		}
	}
	return b.String(), nil
}
