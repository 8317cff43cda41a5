package storage

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"github.com/recountdb/recount/pipeline/broker/wire"
)

// A record in the log can be replaced by another to erase its content. Its offset, its time and all
// other records stay.
//
//  1. The batches that hold such records are rebuilt with the same offsets, times, codec, producer and
//     sequences, but another length and checksum. One commit replaces each old batch and adds a note of what
//     is to be scrubbed (key e). From here on no new fetch returns the old record.
//  2. The old bytes are scrubbed from every file of the store (scrub.go).
//  3. The notes are removed.
//
// A crash before step 1 is durable leaves the batches unchanged; the caller asks again. After it,
// the next opening finds the notes and does the rest. Repeating any step changes nothing: a batch
// that is already replaced is left alone.
//
// Producers notice nothing: their windows are stored apart from the batches.

// Rewriting names the records of a partition to replace.
type Rewriting struct {
	Topic     string
	Partition int32
	// Records maps offsets to the new records. Their Timestamp is ignored: a record keeps its time.
	Records map[int64]wire.Record
}

// Rewritten is the result of a rewrite.
type Rewritten struct {
	Records int // replaced now or earlier
	Batches int // rebuilt
	Bytes   int64
	// Gone counts records that the log does not have any more: before its start, or in a gap.
	Gone int
}

// rewriteBytes is the maximum number of bytes that one commit replaces.
const rewriteBytes = 4 << 20

// Rewrite replaces records, and returns once their old bytes are in no file of the directory any
// more. Reads and produces continue meanwhile; a fetch that began earlier may still return the old
// records. If the context or the process ends after records were replaced, the next opening or the
// next call does the rest.
func (l *Log) Rewrite(ctx context.Context, all ...Rewriting) (done Rewritten, err error) {
	if !l.enter() {
		return done, ErrClosed
	}
	defer l.leave()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(l.ctx, cancel)()
	l.rewriting.Lock()
	defer l.rewriting.Unlock()
	for _, r := range all {
		t, e := l.topics.find(r.Topic, [16]byte{})
		if e != nil {
			return done, fmt.Errorf("rewrite %s/%d: %w", r.Topic, r.Partition, e)
		}
		p := t.Partition(r.Partition)
		if p == nil {
			return done, fmt.Errorf("rewrite %s/%d: no such partition", r.Topic, r.Partition)
		}
		if err := l.rewrite(ctx, p, r.Records, &done); err != nil {
			return done, fmt.Errorf("rewrite %s: %w", p, err)
		}
	}
	if err := l.scrub(ctx); err != nil {
		return done, fmt.Errorf("rewrite: remove replaced batches from the disk: %w", err)
	}
	return done, nil
}

// rewrite rebuilds the batches of p that hold records.
func (l *Log) rewrite(ctx context.Context, p *Partition, records map[int64]wire.Record, done *Rewritten) error {
	o := &rewriteOp{p: p, out: make(chan error, 1)}
	flush := func() error {
		if len(o.batches) == 0 {
			return nil
		}
		if err := l.store.commit.submit(o); err != nil {
			return err
		}
		select {
		case err := <-o.out:
			done.Batches += len(o.batches)
			o = &rewriteOp{p: p, out: make(chan error, 1)}
			return errors.Join(err, p.readers.renew())
		case <-l.store.failed:
			return ErrFailed
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	offsets := slices.Sorted(maps.Keys(records))
	for len(offsets) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		old, ref, err := p.batchAt(l.store, offsets[0])
		if err != nil {
			return err
		}
		if old == nil || old.BaseOffset() > offsets[0] {
			done.Gone++
			offsets = offsets[1:]
			continue
		}
		n := 0
		for n < len(offsets) && offsets[n] <= old.LastOffset() {
			n++
		}
		anew, found, err := old.ReplaceRecords(records)
		if err != nil {
			return fmt.Errorf("batch ending at offset %d: %w", old.LastOffset(), err)
		}
		done.Records += found
		done.Gone += n - found
		done.Bytes += int64(len(old))
		offsets = offsets[n:]
		if bytes.Equal(anew, old) {
			continue
		}
		o.batches = append(o.batches, anew)
		o.notes = append(o.notes, scrubNote{
			topic: p.topic.num, partition: p.Num, last: old.LastOffset(),
			base: old.BaseOffset(), crc: binary.BigEndian.Uint32(old[17:]), ref: ref,
		})
		if o.bytes += len(anew); o.bytes >= rewriteBytes {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

// batchAt reads the batch that holds an offset, or the next one after it; nil if there is none on
// disk. ref is its place in a segment file, if it is in one.
func (p *Partition) batchAt(s *store, offset int64) (b wire.Batch, ref *reference, err error) {
	view := p.View()
	if offset < view.Start || offset >= view.End {
		return nil, nil, nil
	}
	r, err := p.newReader(s, offset)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, r.it.Close()) }()
	if !r.it.Valid() {
		return nil, nil, r.it.Error()
	}
	if b, err = s.appendBatch(nil, r.it, p.topic.num); err != nil {
		return nil, nil, err
	}
	v, err := r.it.ValueAndErr()
	if err == nil && len(v) < wire.BatchHeaderSize {
		var at reference
		at, err = decodeReference(v)
		ref = &at
	}
	return b, ref, err
}

// rewriteOp replaces batches by rebuilt ones.
type rewriteOp struct {
	p       *Partition
	batches []wire.Batch
	notes   []scrubNote // parallel to batches
	bytes   int
	out     chan error
}

func (o *rewriteOp) build(w *pebble.Batch) error {
	if o.p.topic.deleted {
		return nil
	}
	for i, b := range o.batches {
		if b.LastOffset() < o.p.tail.Start {
			continue // deleted since it was read
		}
		if err := w.Set(batchKey(o.p.topic.num, o.p.Num, b.LastOffset()), b, nil); err != nil {
			return err
		}
		if err := w.Set(o.notes[i].key(), o.notes[i].value(), nil); err != nil {
			return err
		}
	}
	return nil
}

func (o *rewriteOp) done(err error) { o.out <- err }

func (o *rewriteOp) size() int { return o.bytes + 64*len(o.batches) }

// scrubNote records that a batch was replaced whose old bytes may still be in files. A batch that
// was replaced twice before it is scrubbed has two notes.
type scrubNote struct {
	topic     topicNum
	partition int32
	last      int64 // its last offset
	base      int64
	crc       uint32
	ref       *reference // its old place in a segment file, or nil
}

func (n scrubNote) key() []byte {
	k := batchKey(n.topic, n.partition, n.last)
	k[0] = keyScrub
	return binary.BigEndian.AppendUint32(k, n.crc)
}

func (n scrubNote) value() []byte {
	v := encodeUint64(uint64(n.base))
	if n.ref != nil {
		v = append(v, n.ref.encode()...)
	}
	return v
}

// scrubNotes reads the notes in the store.
func (s *store) scrubNotes() (notes []scrubNote, err error) {
	err = s.scan([]byte{keyScrub}, []byte{keyScrub + 1}, func(k, v []byte) error {
		if len(k) != 21 || len(v) != 8 && len(v) != 8+referenceSize {
			return damaged("a note of what is to be scrubbed: %x", k)
		}
		n := scrubNote{
			topic: topicNum(binary.BigEndian.Uint32(k[1:])), partition: int32(binary.BigEndian.Uint32(k[5:])),
			last: int64(binary.BigEndian.Uint64(k[9:])), crc: binary.BigEndian.Uint32(k[17:]),
			base: int64(binary.BigEndian.Uint64(v)),
		}
		if len(v) > 8 {
			ref, err := decodeReference(v[8:])
			if err != nil {
				return err
			}
			n.ref = &ref
		}
		notes = append(notes, n)
		return nil
	})
	return notes, err
}
