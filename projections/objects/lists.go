package objects

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// walk visits a list, the newest first, until use returns false. A short list is cached in the
// memo, if m is not nil.
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

// head returns the beginning of a list. It may contain rows that are newer than the view.
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
		if h.whole = len(h.all) < maxHead; h.whole {
			h.all = append(h.all, w)
		}
		return h.whole, nil
	})
	if err == nil && !m.note(&l.key, h, v.batches) {
		v.x.heads.put(l.key, h, v.batches)
	}
	return h, err
}

// rows visits the rows of a list, starting at key from. The first prefix bytes of from are the
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

// list returns the rows of a list within a bound, the newest first.
func (v *View) list(l list, b Bound) (all []when, err error) {
	err = v.walk(context.Background(), l, nil, b, func(w when) (bool, error) {
		all = append(all, w)
		return !b.full(len(all)), nil
	})
	return all, err
}

// compare orders from the newest to the oldest, as keys do.
func (w when) compare(o when) int {
	return cmp.Or(cmp.Compare(o.time, w.time), compareShards(w.ref.TP(), o.ref.TP()), cmp.Compare(o.ref.Offset, w.ref.Offset), cmp.Compare(w.ref.Index, o.ref.Index))
}

// Versions returns the versions of an object, the newest by event time first.
func (v *View) Versions(id schemas.ObjectID, b Bound) ([]*Stored, error) {
	all, err := v.list(listTo(kindVersion, id), b)
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

// own returns the row of a part whose object's id is id and is derived from its event's.
func (v *View) own(p *shardView, id schemas.ObjectID) (uint32, bool, error) {
	offset, ok, err := v.s.Seen(p.tp, id)
	if err != nil || !ok {
		return 0, false, err
	}
	row, found := p.rowOf(p.n, offset, 0)
	return row, found && p.at(row).own(), nil
}

// ByEvent returns the objects of the events with an id, in the order of their positions. An id has
// several events if producers that do not know each other used the same one.
func (v *View) ByEvent(id schemas.EventID, b Bound) (all []*Stored, err error) {
	events := b
	events.Visible, events.Limit, events.Time = nil, 0, 0 // these apply to the objects
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

// To returns the edges that lead to an event or an object, whether that is known or not, the newest
// first. Edges that record the use of an event are in Uses.
func (v *View) To(id schemas.EventID, b Bound) ([]Edge, error) {
	return v.edges(listTo(kindTo, id), b, func(e *recountv1.ObjectEdge) bool {
		return string(e.EventId) == string(id[:]) && !uses(e) || string(e.ObjectId) == string(id[:])
	})
}

// Uses returns the objects that record that they used the event of s, the newest first.
func (v *View) Uses(s *Stored, b Bound) ([]schemas.ObjectRef, error) {
	return v.refs(listTo(kindUse, s.EventID), &s.uses, b)
}

// Entity returns the edges from objects of some audiences to a named entity, such as
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

// membership returns the edges from objects to their own session or agent.
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
		most *= 8 // some of them are hidden, or have no such edge
	}
}

// when returns the time and position of an object that the view contains.
func (v *View) when(ref schemas.ObjectRef) when {
	if _, r := v.row(ref); r != nil {
		return when{r.time, ref}
	}
	return when{ref: ref}
}

// edges returns those edges of the objects in a list for which leads returns true.
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

// edgesAt appends those edges of a listed object for which leads returns true.
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

// Same returns the objects of an audience with a content hash, the newest first.
func (v *View) Same(a schemas.AudienceID, contentHash uint64, b Bound) ([]schemas.ObjectRef, error) {
	if contentHash == 0 || v.saying(&a, contentHash) == 0 {
		return nil, nil
	}
	return v.refs(listOf(a, listSame, contentHash), nil, b)
}

// SameAs returns the objects with the same content as s in its audience. For nearly all objects
// that is the object alone.
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

// refs returns the objects of a list within a bound, the newest first.
func (v *View) refs(l list, m *memo, b Bound) (all []schemas.ObjectRef, err error) {
	err = v.walk(context.Background(), l, m, b, func(w when) (bool, error) {
		all = append(all, w.ref)
		return !b.full(len(all)), nil
	})
	return all, err
}

// Claims returns the objects of an audience with claims of a subject and predicate, both folded as
// in Claim, the newest first.
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
