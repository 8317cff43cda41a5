package lexical

import (
	"encoding/binary"
	"fmt"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// objectWriter appends the objects of one shard. It reads nothing: lists and entries
// are appended to where they lie, and of audiences it goes by what is in memory.
type objectWriter struct {
	all      *audiences
	analyser *analyser
	ids      map[schemas.Audience]schemas.AudienceID

	// Of the batch at hand: the audiences that change, and what is appended to values,
	// by key. Keys that are new in it are in order.
	changed map[schemas.AudienceID]*audience
	begun   uint32 // audiences that are new
	parts   map[string]*[]byte
	keys    []string
	key     []byte
}

// maxAudienceIDs is how many hashes of audiences a writer keeps.
const maxAudienceIDs = 1 << 12

func newObjectWriter(all *audiences) *objectWriter {
	return &objectWriter{
		all: all, analyser: newAnalyser(), ids: map[schemas.Audience]schemas.AudienceID{},
		changed: map[schemas.AudienceID]*audience{}, parts: map[string]*[]byte{},
	}
}

// append stores the objects of a batch.
func (w *objectWriter) append(t *store.Txn) error {
	clear(w.changed)
	clear(w.parts)
	w.keys, w.begun = w.keys[:0], 0
	var at []byte
	for _, r := range t.New {
		at = at[:0]
		for i, o := range r.GetObjects().GetObjects() {
			if len(o.Parts) == 0 {
				continue
			}
			p, err := w.object(t.Shard(), r.Origin.Offset, uint32(i), o)
			if err != nil {
				return &projections.RecordError{Position: schemas.PositionOf(r.Origin), Err: err}
			}
			at = p.append(at)
		}
		if len(at) == 0 {
			continue
		}
		w.key = appendPlacedKey(w.key[:0], t.Shard(), r.Origin.Offset)
		if err := t.Set(w.key, at); err != nil {
			return fmt.Errorf("set objects of an event: %w", err)
		}
	}
	for _, key := range w.keys {
		if err := t.Append([]byte(key), *w.parts[key]); err != nil {
			return fmt.Errorf("append: %w", err)
		}
	}
	for id, a := range w.changed {
		w.key = appendAudienceKey(w.key[:0], t.Shard(), id)
		if err := t.Set(w.key, a.encode(nil)); err != nil {
			return fmt.Errorf("set audience: %w", err)
		}
	}
	w.all.set(w.changed)
	return nil
}

// object takes the parts of an object in. An error is about the object.
func (w *objectWriter) object(shard []byte, offset int64, index uint32, o *recountv1.Object) (placed, error) {
	a := w.audience(o)
	p := placed{index, a.number, a.docs, uint32(len(o.Parts))}
	if uint64(a.docs)+uint64(len(o.Parts)) >= tooMany {
		return p, schemas.Fatalf("lexical: an audience has %d parts of objects in one partition: it can have no more", a.docs)
	}
	a.last = offset
	for i, part := range o.Parts {
		if part.Start > part.End || uint64(part.End) > uint64(len(o.Text)) {
			return p, schemas.Poisonf("object %d: part %d is bytes %d to %d of %d", index, i, part.Start, part.End, len(o.Text))
		}
		text := w.analyser.part(o.Title, o.Text[part.Start:part.End])
		length := min(text.length, maxPartLength)
		for _, term := range text.terms {
			w.key = appendBlockNumber(appendList(w.key[:0], shard, term.term), a.number, a.docs/partsPerBlock)
			v := w.value()
			*v = binary.LittleEndian.AppendUint32(*v, uint32(newPartPosting(a.docs, term.weight, length)))
		}
		a.length += uint64(length)
		w.key = appendEntriesKey(w.key[:0], shard, a.number, a.docs/entriesPerBlock)
		v := w.value()
		*v = partEntry{offset, a.length, part.ContentHash, index, uint32(i), uint32(len(o.Parts))}.append(*v)
		a.docs++
	}
	return p, nil
}

// audience is that of an object, as the batch leaves it.
func (w *objectWriter) audience(o *recountv1.Object) *audience {
	of := schemas.AudienceOf(o.Tenant, o.Workspace, o.Session, o.Agent, o.Visibility)
	id, ok := w.ids[of]
	if !ok {
		if len(w.ids) >= maxAudienceIDs {
			clear(w.ids)
		}
		id = of.ID()
		w.ids[of] = id
	}
	a := w.changed[id]
	if a != nil {
		return a
	}
	known, ok := w.all.get(id)
	if !ok {
		known.number = w.all.count() + w.begun
		w.begun++
	}
	w.changed[id] = &known
	return &known
}

// value is what the batch appends to the value of w.key.
func (w *objectWriter) value() *[]byte {
	v := w.parts[string(w.key)]
	if v == nil {
		key := string(w.key)
		v = new([]byte)
		w.parts[key] = v
		w.keys = append(w.keys, key)
	}
	return v
}
