package lexical

import (
	"encoding/binary"
	"fmt"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// writer appends to one shard; it appends commands itself and objects by objectWriter. Between
// batches it caches what the next batch will probably append to. The cache equals what is stored
// and may be dropped at any time.
type writer struct {
	damaged func(error) error
	runs    *runs
	loaded  bool
	stats   shardStats
	lists   map[string]*list
	dirty   []string
	ids     map[fieldID]uint32
	known   *store.IDFilter
	texts   *termCache // most new documents have a text that was seen before
	key     []byte
	value   []byte
	objects *objectWriter
}

// fieldID is the identity of a document within a shard.
type fieldID struct {
	field Field
	id    schemas.EventID
}

// maxLists and maxIDs are how many of each a writer keeps before it drops them all. Most of the
// lists are of terms that never occur again.
const (
	maxLists = 1 << 14
	maxIDs   = 1 << 16
)

func newWriter(damaged func(error) error, r *runs, objects *objectWriter) *writer {
	return &writer{damaged: damaged, runs: r, objects: objects, lists: map[string]*list{}, ids: map[fieldID]uint32{}, texts: newTermCache()}
}

func (w *writer) apply(t *store.Txn) error {
	if len(t.New) == 0 {
		return t.Commit()
	}
	err := t.Do(func() error {
		if err := w.objects.append(t); err != nil {
			return err
		}
		return w.append(t)
	})
	if err != nil {
		t.Discard()
		return err
	}
	return t.Commit()
}

// append stores the commands of a batch.
func (w *writer) append(t *store.Txn) error {
	commands := uint64(0)
	for _, r := range t.New {
		if r.GetIntent() != nil {
			commands++
		}
	}
	if commands == 0 {
		return nil
	}
	if !w.loaded {
		if err := w.load(t); err != nil {
			return err
		}
	}
	if len(w.lists) > maxLists {
		clear(w.lists)
	}
	if len(w.ids) > maxIDs {
		clear(w.ids)
	}
	before := w.stats
	if before.runs+commands > tooMany {
		return schemas.Fatalf("lexical: %d commands in one partition, and %d more: it can hold %d; spread them over more partitions", before.runs, commands, uint64(tooMany))
	}
	for _, r := range t.New {
		if in := r.GetIntent(); in != nil {
			if err := w.run(t, r.Origin.Offset, in); err != nil {
				return err
			}
		}
	}
	for _, name := range w.dirty {
		l := w.lists[name]
		l.dirty = false
		w.key = append(append(append(w.key[:0], kindTerm), t.Shard()...), name...)
		w.value = l.encode(w.value[:0])
		if err := t.Set(w.key, w.value); err != nil {
			return fmt.Errorf("set list: %w", err)
		}
	}
	w.dirty = w.dirty[:0]
	words := Words.index()
	if err := w.setBlocks(t, kindRuns, before.runs, w.stats.runs, w.runs.encodeRuns); err != nil {
		return err
	}
	if err := w.setBlocks(t, kindContent, before.docs[words], w.stats.docs[words], w.runs.encodeContents); err != nil {
		return err
	}
	w.value = w.stats.encode(w.value[:0])
	return t.Set(append([]byte{kindStats}, t.Shard()...), w.value)
}

func (w *writer) load(t *store.Txn) error {
	v, ok, err := t.Get(append([]byte{kindStats}, t.Shard()...))
	if err != nil {
		return err
	}
	if ok {
		if w.stats, err = decodeStats(v); err != nil {
			return w.damaged(err)
		}
	}
	if !ok {
		w.known = &store.IDFilter{} // this writer sets all ids that there will be
	}
	w.loaded = true
	return nil
}

// run adds a command, and its documents if they are new.
func (w *writer) run(t *store.Txn, offset int64, in *recountv1.Intent) error {
	var doc [fields]uint32
	var isNew [fields]bool
	for _, f := range [...]Field{Words, Concepts} {
		var err error
		if doc[f.index()], isNew[f.index()], err = w.document(t, fieldID{f, identity(f, in)}); err != nil {
			return err
		}
	}
	w.runs.add(offset, doc)
	w.stats.runs++
	for _, f := range [...]Field{Words, Concepts} {
		if !isNew[f.index()] {
			continue
		}
		if f == Words {
			*w.runs.content(doc[f.index()]) = in.ContentHash
		}
		text := analyse(f, in, w.texts)
		for _, term := range text.terms {
			if err := w.add(t, f, term.term, posting{uint64(doc[f.index()]), term.weight, text.length}); err != nil {
				return err
			}
		}
		w.stats.docs[f.index()]++
		w.stats.length[f.index()] += uint64(text.length)
	}
	return nil
}

// document returns the number of a document, and whether it is new.
func (w *writer) document(t *store.Txn, id fieldID) (doc uint32, isNew bool, err error) {
	if doc, ok := w.ids[id]; ok {
		return doc, false, nil
	}
	w.key = append(append(append(append(w.key[:0], kindID), t.Shard()...), byte(id.field)), id.id[:]...)
	v, ok, err := w.get(t, id.id)
	if err != nil {
		return 0, false, err
	}
	n := w.runs.docs[id.field.index()].n
	if ok {
		r := reader{b: v}
		number := r.uvarint()
		if err := r.end("number of a document"); err != nil || number >= uint64(n) {
			return 0, false, w.damaged(fmt.Errorf("document %s is %x, of %d", id.id, v, n))
		}
		doc = uint32(number)
	} else {
		doc = n
		if err := t.Set(w.key, binary.AppendUvarint(w.value[:0], uint64(n))); err != nil {
			return 0, false, fmt.Errorf("set document: %w", err)
		}
	}
	w.ids[id] = doc
	return doc, !ok, nil
}

// get reads what the store has under w.key, of which id is a hash. If the store has nothing, the
// caller must set it.
func (w *writer) get(t *store.Txn, id schemas.EventID) (value []byte, ok bool, err error) {
	if w.known.First(id) {
		return nil, false, nil
	}
	return t.Get(w.key)
}

// add appends a posting to a list, and seals the list's tail when it is full.
func (w *writer) add(t *store.Txn, f Field, term string, p posting) error {
	w.key = append(append(w.key[:0], byte(f)), term...)
	l := w.lists[string(w.key)]
	if l == nil {
		name, id := string(w.key), schemas.EventID(xxh3.Hash128(w.key).Bytes())
		l = &list{}
		w.key = append(append(append(w.key[:0], kindTerm), t.Shard()...), name...)
		v, ok, err := w.get(t, id)
		if err != nil {
			return err
		}
		if ok {
			if *l, err = decodeList(v); err != nil {
				return w.damaged(fmt.Errorf("list of %q: %w", name[1:], err))
			}
		}
		l.name = name
		w.lists[name] = l
	}
	if !l.dirty {
		l.dirty = true
		w.dirty = append(w.dirty, l.name)
	}
	l.df++
	l.tail.add(p)
	if l.tail.count < blockSize {
		return nil
	}
	w.key = append(append(append(append(w.key[:0], kindBlock), t.Shard()...), l.name...), 0)
	w.key = binary.BigEndian.AppendUint64(w.key, l.tail.first)
	w.value = l.tail.encode(w.value[:0])
	if err := t.Set(w.key, w.value); err != nil {
		return fmt.Errorf("set block: %w", err)
	}
	l.seal()
	return nil
}

// setBlocks stores the blocks that changed when their elements grew from before to now.
func (w *writer) setBlocks(t *store.Txn, kind byte, before, now uint64, encode func([]byte, uint32) []byte) error {
	if now == before {
		return nil
	}
	for n := before / perBlock; n*perBlock < now; n++ {
		w.key = blockKey(w.key[:0], kind, t.Shard(), uint32(n))
		w.value = encode(w.value[:0], uint32(n))
		if err := t.Set(w.key, w.value); err != nil {
			return fmt.Errorf("set block %d of kind %#x: %w", n, kind, err)
		}
	}
	return nil
}
