package lexical

import (
	"fmt"

	"github.com/recountdb/recount/projections"
	"github.com/recountdb/recount/projections/lexical/bm25"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// objectWriter appends the objects of one shard. It reads nothing: it appends to lists and entries
// without reading them, and uses the audiences in memory.
type objectWriter struct {
	all      *audiences
	postings *bm25.Writer
	analyser *analyser
	ids      map[schemas.Audience]schemas.AudienceID

	// Of the current batch: the audiences that change, and how many of them are new.
	changed map[schemas.AudienceID]*changedAudience
	begun   uint32
	calls   map[callID]string // of this batch and earlier ones, equal to what is stored
	key     []byte            // a buffer
}

// changedAudience is the state of an audience after a batch, and the entries that the batch adds.
type changedAudience struct {
	audience
	before  uint32 // number of documents before the batch
	entries []byte
}

// maxAudienceIDs is how many hashes of audiences a writer keeps.
const maxAudienceIDs = 1 << 12

func newObjectWriter(all *audiences, postings *bm25.Writer) *objectWriter {
	return &objectWriter{
		all: all, postings: postings, analyser: newAnalyser(true), ids: map[schemas.Audience]schemas.AudienceID{},
		changed: map[schemas.AudienceID]*changedAudience{}, calls: map[callID]string{},
	}
}

// append stores the objects of a batch.
func (w *objectWriter) append(t *store.Txn) error {
	clear(w.changed)
	w.begun = 0
	if len(w.calls) > maxKeptCalls {
		clear(w.calls)
	}
	var at []byte
	for _, r := range t.New {
		at = at[:0]
		for i, o := range r.GetObjects().GetObjects() {
			if len(o.Parts) == 0 {
				continue
			}
			p, err := w.object(t, r, uint32(i), o)
			if err != nil {
				return err
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
	for id, a := range w.changed {
		if err := w.appendEntries(t, a); err != nil {
			return err
		}
		w.key = appendAudienceKey(w.key[:0], t.Shard(), id)
		if err := t.Set(w.key, a.encode(nil)); err != nil {
			return fmt.Errorf("set audience: %w", err)
		}
	}
	w.all.set(w.changed)
	return nil
}

// appendEntries appends the entries of an audience to its blocks.
func (w *objectWriter) appendEntries(t *store.Txn, a *changedAudience) error {
	for doc, all := a.before, a.entries; len(all) > 0; {
		n := min(len(all), int(entriesPerBlock-doc%entriesPerBlock)*entryBytes)
		w.key = appendEntriesKey(w.key[:0], t.Shard(), a.number, doc/entriesPerBlock)
		if err := t.Append(w.key, all[:n]); err != nil {
			return fmt.Errorf("append entries: %w", err)
		}
		doc, all = doc+uint32(n/entryBytes), all[n:]
	}
	return nil
}

// object adds the parts of an object.
func (w *objectWriter) object(t *store.Txn, r *recountv1.Record, index uint32, o *recountv1.Object) (placed, error) {
	a := w.audience(o)
	p := placed{index, a.number, a.docs, uint32(len(o.Parts))}
	if uint64(a.docs)+uint64(len(o.Parts)) >= tooMany {
		return p, aboutRecord(r, schemas.Fatalf("lexical: an audience has %d parts of objects in one partition: it can have no more", a.docs))
	}
	a.last = r.Origin.Offset
	who := speakerOf(r.EventType, o)
	call, err := "", error(nil)
	switch {
	case o.Type == recountv1.ObjectType_OBJECT_TYPE_TOOL_CALL:
		err = w.keepCall(t, a.number, o)
	case r.EventType == schemas.TypeToolResult:
		call, err = w.callOf(t, a.number, o)
	}
	if err != nil {
		return p, err
	}
	for i, part := range o.Parts {
		if part.Start > part.End || uint64(part.End) > uint64(len(o.Text)) {
			return p, aboutRecord(r, schemas.Poisonf("object %d: part %d is bytes %d to %d of %d", index, i, part.Start, part.End, len(o.Text)))
		}
		text := w.analyser.part(who, o.Title, call, o.Text[part.Start:part.End])
		length := min(text.length, bm25.MaxLength)
		for _, term := range text.terms {
			w.postings.Add(collectionOf(a.number), a.docs, term.term, term.weight, length)
		}
		a.length += uint64(length)
		a.entries = partEntry{r.Origin.Offset, a.length, part.ContentHash, index, uint32(i), uint32(len(o.Parts))}.append(a.entries)
		a.docs++
	}
	return p, nil
}

// aboutRecord returns an error that is about a record, not the store.
func aboutRecord(r *recountv1.Record, err error) error {
	return &projections.RecordError{Position: schemas.PositionOf(r.Origin), Err: err}
}

// audience returns the audience of an object, as the batch leaves it.
func (w *objectWriter) audience(o *recountv1.Object) *changedAudience {
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
	a = &changedAudience{audience: known, before: known.docs}
	w.changed[id] = a
	return a
}
