package runtime

import (
	"encoding/binary"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// span is the part of a span that joining needs. It has no pointers, since there are many.
type span struct {
	id, parent uint64
	// site and service are hashes, of the site and of the service's name.
	site, service uint64
	start         int64
	duration      int64
	offset        int64
	shard         uint16 // index in shards
	side          recountv1.Side
	hasParent     bool
	failed        bool
}

// setSite sets the span's site.
func (s *span) setSite(at *site) { s.site, s.service, s.side = at.hash, at.named, at.side }

// link is a link from a span, of this trace or another, to a span of the trace that stores the
// link.
type link struct {
	target uint64
	trace  [16]byte
	from   span
}

// These flags form the first byte of an entry and determine what follows.
const (
	entryLink   = 1 << iota // a link; else a span
	entryParent             // it has a parent
	entryFailed
	entrySame // from the same event as the previous entry
)

// writer appends entries to a chunk.
type writer struct {
	b      []byte
	n      int
	start  int64
	offset int64
}

// span appends a span: a byte of flags, the id, the parent's id if it has one, the site's hash (8
// bytes each), the difference between its start and that of the previous entry (varint), its
// duration, and the difference between the offset of its event and the previous one (uvarints; the
// last is omitted if it is zero).
func (w *writer) span(s *span) {
	flags := w.flags(s)
	if s.hasParent {
		flags |= entryParent
	}
	w.b = append(w.b, flags)
	w.b = binary.BigEndian.AppendUint64(w.b, s.id)
	if s.hasParent {
		w.b = binary.BigEndian.AppendUint64(w.b, s.parent)
	}
	w.rest(s)
}

// link appends a link: a byte of flags, the id that it links to (8 bytes), the trace (16) and id
// (8) of the span that links, and the rest as for a span.
func (w *writer) link(l *link) {
	w.b = append(w.b, w.flags(&l.from)|entryLink)
	w.b = binary.BigEndian.AppendUint64(w.b, l.target)
	w.b = append(w.b, l.trace[:]...)
	w.b = binary.BigEndian.AppendUint64(w.b, l.from.id)
	w.rest(&l.from)
}

func (w *writer) flags(s *span) (flags byte) {
	if s.failed {
		flags |= entryFailed
	}
	if w.n > 0 && s.offset == w.offset {
		flags |= entrySame
	}
	return flags
}

func (w *writer) rest(s *span) {
	w.b = binary.BigEndian.AppendUint64(w.b, s.site)
	w.b = binary.AppendVarint(w.b, s.start-w.start) // may wrap around; decoding wraps back
	w.b = binary.AppendUvarint(w.b, uint64(s.duration))
	if w.n == 0 || s.offset != w.offset {
		w.b = binary.AppendUvarint(w.b, uint64(s.offset-w.offset))
	}
	w.n++
	w.start, w.offset = s.start, s.offset
}

// entries decodes the entries of a chunk, and leaves w as if it had appended them. find looks up
// the sites; nil skips that.
func (w *writer) entries(value []byte, find func(hash uint64) (*site, error), aSpan func(*span), aLink func(*link)) error {
	r := reader{b: value}
	w.b, w.n, w.start, w.offset = append(w.b[:0], value...), 0, 0, 0
	for len(r.b) > 0 {
		var l link
		s := &l.from
		flags := r.byte()
		if flags&entryLink != 0 {
			l.target = r.uint64()
			l.trace = [16]byte(r.bytes(16))
		}
		s.id = r.uint64()
		if flags&entryParent != 0 {
			s.hasParent, s.parent = true, r.uint64()
		}
		s.failed = flags&entryFailed != 0
		hash := r.uint64()
		s.start = w.start + r.varint()
		s.duration = int64(r.uvarint())
		s.offset = w.offset
		if flags&entrySame == 0 {
			s.offset += int64(r.uvarint())
		}
		if r.err != nil {
			break
		}
		w.n++
		w.start, w.offset = s.start, s.offset
		if find != nil {
			at, err := find(hash)
			if err != nil {
				return err
			}
			s.setSite(at)
		}
		if flags&entryLink != 0 {
			aLink(&l)
		} else {
			aSpan(s)
		}
	}
	return r.end()
}
