package objects

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// View is one state: what is applied later does not show in it. Its methods may be
// called from any goroutine until Close.
type View struct {
	x       *Objects
	s       *store.View
	mark    schemas.Watermark
	parts   []part
	batches uint64 // up to which it has all: see headCache

	mu sync.Mutex // guards it
	it *pebble.Iterator
}

// View opens a view of what is applied now; the caller closes it.
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
		v.parts = append(v.parts, part{t, t.below(v.mark[tp]), v.mark[tp]})
	}
	return v, nil
}

// Close ends the view.
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

// Watermark is the next offset of every partition in this state.
func (v *View) Watermark() schemas.Watermark { return maps.Clone(v.mark) }

// Stored is one version of an object. It is shared by all who read it: nobody changes it.
type Stored struct {
	// Object has no embeddings. Its Text is whole but for the last Rest bytes; View.Text
	// reads those too.
	*recountv1.Object
	Rest int

	Ref       schemas.ObjectRef
	EventID   schemas.EventID
	EventType string
	Audience  schemas.Audience
	// AudienceID is that of Audience, IDText and At the object's id and the position of its
	// event as answers have them: all who read it share them.
	AudienceID schemas.AudienceID
	IDText, At string
	// Edges are those that lead from it.
	Edges []*recountv1.ObjectEdge

	// What used its event, and what says the same in its audience.
	uses, same memo
}

// ObjectID is the id of the object.
func (s *Stored) ObjectID() schemas.ObjectID { return schemas.ObjectID(s.Id) }

// Edge is an edge as its event tells it.
type Edge struct {
	*recountv1.ObjectEdge
	// Ref is the version of the object that it leads from, and Audience who may see that.
	Ref      schemas.ObjectRef
	Audience schemas.AudienceID
}

// Bound says which of many are wanted.
type Bound struct {
	At
	// Visible, if not nil, says of an object whether it may be known of, such as what
	// View.Filter returns; the others are as if they were not there.
	Visible func(schemas.ObjectRef) bool
	// Limit is how many at most; 0 is all.
	Limit int
}

func (b *Bound) knows(w when) bool {
	return (b.Below == nil || w.ref.Offset < b.Below[w.ref.TP()]) && (b.Time == 0 || w.time <= b.Time) &&
		(b.Visible == nil || b.Visible(w.ref))
}

func (b *Bound) full(n int) bool { return b.Limit > 0 && n >= b.Limit }

// event reads the row of an event.
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

// Get is the version of an object at a place; nil where there is none.
func (v *View) Get(ref schemas.ObjectRef) (*Stored, error) {
	if !v.has(ref.Position) {
		return nil, nil
	}
	all := v.x.rows.get(ref.Position)
	var one *Stored
	if all == nil {
		there, err := v.event(ref.Position, func(e *event) (err error) {
			switch {
			case len(e.objects) <= mostKept:
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

// has says whether the state has the offset of an event.
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

// At are the objects that the event at a position made, in order.
func (v *View) At(p schemas.Position) ([]*Stored, error) {
	all, err := v.made(p)
	return slices.Clone(all), err
}

// made is what the event at a position made: it is not to be changed.
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
	if err == nil && len(all) > 0 && len(all) <= mostKept {
		v.x.rows.put(p, all)
	}
	return all, err
}

// Text is all that an object says.
func (v *View) Text(s *Stored) (string, error) { return v.Passage(s, 0, len(s.Text)+s.Rest) }

// Passage is what an object says from one byte up to another; what lies outside its text
// is left out.
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

// walk goes through a list from the newest on, until use says false. What is short of it
// is kept in the memo, if there is one.
func (v *View) walk(ctx context.Context, l list, m *memo, b Bound, use func(when) (bool, error)) error {
	h, err := v.head(&l, m)
	if err != nil {
		return err
	}
	for _, w := range h.all {
		if !v.has(w.ref.Position) || !b.knows(w) {
			continue
		}
		if more, err := use(w); err != nil || !more {
			return err
		}
	}
	if h.whole {
		return nil
	}
	last, prefix := h.all[len(h.all)-1], l.prefix()
	from := append(appendWhen(bytes.Clone(prefix), last.time, appendShard(nil, last.ref.TP()), last.ref.Offset, last.ref.Index), 0)
	if b.Time != 0 {
		if at := appendTime(bytes.Clone(prefix), b.Time); bytes.Compare(at, from) > 0 {
			from = at
		}
	}
	return v.rows(ctx, from, len(prefix), func(w when) (bool, error) {
		if !b.knows(w) {
			return true, nil
		}
		return use(w)
	})
}

// head is the beginning of a list, which may have rows that are newer than the view.
func (v *View) head(l *list, m *memo) (head, error) {
	h, ok := v.x.heads.recall(m)
	if ok {
		return h, nil
	}
	h, upTo, ok := v.x.heads.get(l.key)
	if ok {
		m.note(&l.key, h, upTo)
		return h, nil
	}
	h.whole = true
	err := v.rows(context.Background(), l.prefix(), l.n, func(w when) (bool, error) {
		if h.whole = len(h.all) < mostHead; h.whole {
			h.all = append(h.all, w)
		}
		return h.whole, nil
	})
	if err == nil && !m.note(&l.key, h, v.batches) {
		v.x.heads.put(l.key, h, v.batches)
	}
	return h, err
}

// rows goes through the rows of a list from a key on, of which so many bytes are the
// list's prefix.
func (v *View) rows(ctx context.Context, from []byte, prefix int, use func(when) (bool, error)) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.it == nil {
		it, err := v.s.Iter([]byte{kindByEvent}, []byte{kindUse + 1})
		if err != nil {
			return err
		}
		v.it = it
	}
	n := 0
	for ok := v.it.SeekPrefixGE(from); ok; ok = v.it.Next() {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		w, err := cutWhen(v.it.Key()[prefix:])
		if err != nil {
			return v.s.Damaged(fmt.Errorf("list: key %x: %w", v.it.Key(), err))
		}
		if more, err := use(w); err != nil || !more {
			return err
		}
	}
	return v.s.Explain(v.it.Error())
}

// list is what a list has within a bound, the newest first.
func (v *View) list(l list, m *memo, b Bound) (all []when, err error) {
	err = v.walk(context.Background(), l, m, b, func(w when) (bool, error) {
		all = append(all, w)
		return !b.full(len(all)), nil
	})
	return all, err
}

// compare orders from the newest to the oldest, as keys do.
func (w when) compare(o when) int {
	return cmp.Or(cmp.Compare(o.time, w.time), compareShards(w.ref.TP(), o.ref.TP()), cmp.Compare(o.ref.Offset, w.ref.Offset), cmp.Compare(w.ref.Index, o.ref.Index))
}

// Versions are the versions of an object, the newest by event time first.
func (v *View) Versions(id schemas.ObjectID, b Bound) ([]*Stored, error) {
	all, err := v.list(listTo(kindVersion, id), nil, b)
	if err != nil {
		return nil, err
	}
	for i := range v.parts {
		p := &v.parts[i]
		row, ok, err := v.own(p, id)
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		w := p.when(p.at(row))
		if b.knows(w) {
			all = append(all, w)
		}
	}
	slices.SortFunc(all, when.compare)
	var out []*Stored
	for _, w := range all {
		if b.full(len(out)) {
			break
		}
		s, err := v.Get(w.ref)
		if err != nil {
			return nil, err
		}
		if s != nil && s.ObjectID() == id {
			out = append(out, s)
		}
	}
	return out, nil
}

// own is the row of what an event of a part made by itself, by its id.
func (v *View) own(p *part, id schemas.ObjectID) (uint32, bool, error) {
	offset, ok, err := v.s.Seen(p.tp, id)
	if err != nil || !ok {
		return 0, false, err
	}
	row, found := p.rowOf(p.n, offset, 0)
	return row, found && p.at(row).own(), nil
}

// ByEvent are the objects that events of an id made, by their places. There are several
// events of one id where producers that know nothing of each other used it.
func (v *View) ByEvent(id schemas.EventID, b Bound) (all []*Stored, err error) {
	events := b
	events.Visible, events.Limit, events.Time = nil, 0, 0 // they are the objects'
	err = v.walk(context.Background(), listTo(kindByEvent, id), nil, events, func(w when) (bool, error) {
		made, err := v.made(w.ref.Position)
		for _, s := range made {
			if b.knows(when{s.TimeUnixNano, s.Ref}) {
				all = append(all, s)
			}
		}
		return true, err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(all, func(a, b *Stored) int { return a.Ref.Compare(b.Ref) })
	if b.full(len(all)) {
		all = all[:b.Limit]
	}
	return all, nil
}

// To are the edges that lead to an event or an object, whether that is known or not, the
// newest first; those that say that an event was of use are in Uses.
func (v *View) To(id schemas.EventID, b Bound) ([]Edge, error) {
	return v.edges(listTo(kindTo, id), b, func(e *recountv1.ObjectEdge) bool {
		return string(e.EventId) == string(id[:]) && !uses(e) || string(e.ObjectId) == string(id[:])
	})
}

// Uses are the objects that say that they used the event that made an object, the newest
// first.
func (v *View) Uses(s *Stored, b Bound) ([]schemas.ObjectRef, error) {
	return v.refs(listTo(kindUse, s.EventID), &s.uses, b)
}

// Entity are the edges from objects of some audiences to what is named, such as
// "commit:9fceb02", the newest first.
func (v *View) Entity(audiences []schemas.AudienceID, name string, b Bound) ([]Edge, error) {
	leads := func(e *recountv1.ObjectEdge) bool { return e.Entity == name }
	var all []Edge
	for _, a := range audiences {
		edges, err := v.edges(listOf(a, listEntity, entityHash(name)), b, leads)
		if err != nil {
			return nil, err
		}
		all = append(all, edges...)
	}
	edges, err := v.membership(audiences, name, b, leads)
	if err != nil {
		return nil, err
	}
	if all = append(all, edges...); len(audiences) > 1 || len(edges) > 0 {
		slices.SortStableFunc(all, func(a, b Edge) int { return v.when(a.Ref).compare(v.when(b.Ref)) })
	}
	if b.full(len(all)) {
		all = all[:b.Limit]
	}
	return all, nil
}

// membership are the edges that lead to the session or the agent that objects are of.
func (v *View) membership(audiences []schemas.AudienceID, name string, b Bound, leads func(*recountv1.ObjectEdge) bool) ([]Edge, error) {
	most := max(b.Limit, 1)
	if b.Limit == 0 {
		most = math.MaxInt
	}
	for {
		list, err := v.members(audiences, name, b, most)
		if err != nil {
			return nil, err
		}
		var all []Edge
		for _, w := range list {
			if !b.knows(w) {
				continue
			}
			if all, err = v.edgesAt(w, leads, all); err != nil || b.full(len(all)) {
				return all, err
			}
		}
		if len(list) < most {
			return all, nil
		}
		most *= 8 // some of them are hidden, or say nothing of it
	}
}

// when is the time and place of an object that the view has.
func (v *View) when(ref schemas.ObjectRef) when {
	if _, r := v.row(ref); r != nil {
		return when{r.time, ref}
	}
	return when{ref: ref}
}

// edges are those of the objects in a list that lead where they should.
func (v *View) edges(l list, b Bound, leads func(*recountv1.ObjectEdge) bool) (all []Edge, err error) {
	err = v.walk(context.Background(), l, nil, b, func(w when) (bool, error) {
		all, err = v.edgesAt(w, leads, all)
		return !b.full(len(all)), err
	})
	if b.full(len(all)) {
		all = all[:b.Limit]
	}
	return all, err
}

// edgesAt adds those of the edges of a listed object that lead where they should.
func (v *View) edgesAt(w when, leads func(*recountv1.ObjectEdge) bool, all []Edge) ([]Edge, error) {
	s, err := v.Get(w.ref)
	if err == nil && s == nil {
		err = v.s.Damaged(fmt.Errorf("object %s is in a list and not there", w.ref))
	}
	if err != nil {
		return all, err
	}
	for _, m := range s.Edges {
		if leads(m) {
			all = append(all, Edge{ObjectEdge: m, Ref: w.ref, Audience: s.AudienceID})
		}
	}
	return all, nil
}

// Same are the objects of an audience that say the same, the newest first.
func (v *View) Same(a schemas.AudienceID, contentHash uint64, b Bound) ([]schemas.ObjectRef, error) {
	if contentHash == 0 || v.saying(&a, contentHash) == 0 {
		return nil, nil
	}
	return v.refs(listOf(a, listSame, contentHash), nil, b)
}

// SameAs is Same of an object, in its own audience. Nearly all say it alone.
func (v *View) SameAs(s *Stored, b Bound) ([]schemas.ObjectRef, error) {
	if s.ContentHash == 0 {
		return nil, nil
	}
	if v.saying(&s.AudienceID, s.ContentHash) == 1 {
		if w := (when{s.TimeUnixNano, s.Ref}); !v.has(s.Ref.Position) || !b.knows(w) {
			return nil, nil
		}
		return []schemas.ObjectRef{s.Ref}, nil
	}
	return v.refs(listOf(s.AudienceID, listSame, s.ContentHash), &s.same, b)
}

// refs are the objects that a list has within a bound, the newest first.
func (v *View) refs(l list, m *memo, b Bound) (all []schemas.ObjectRef, err error) {
	err = v.walk(context.Background(), l, m, b, func(w when) (bool, error) {
		all = append(all, w.ref)
		return !b.full(len(all)), nil
	})
	return all, err
}

// Claims are the objects of an audience that claim something of a subject and predicate,
// folded as in Claim, the newest first.
func (v *View) Claims(a schemas.AudienceID, subject, predicate string, b Bound) (all []*Stored, err error) {
	err = v.walk(context.Background(), listOf(a, listClaim, claimHash(subject, predicate)), nil, b, func(w when) (bool, error) {
		s, err := v.Get(w.ref)
		if err == nil && s == nil {
			err = v.s.Damaged(fmt.Errorf("object %s is in a list and not there", w.ref))
		}
		if err == nil && s.GetClaim().GetSubject() == subject && s.GetClaim().GetPredicate() == predicate {
			all = append(all, s)
		}
		return !b.full(len(all)), err
	})
	return all, err
}
