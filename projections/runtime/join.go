package runtime

import (
	"encoding/binary"
	"fmt"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxLinks is the maximum number of links followed per span. It is the default limit of the SDKs.
const maxLinks = 128

// join adds a span to its trace, and the resulting calls to the sums: the one from its own caller,
// and those from it to spans that arrived earlier. again reports that the span was already known.
func (f *fold) join(id [16]byte, x *span, kind recountv1.RuntimeKind, links []*recountv1.SpanLink) (again bool, err error) {
	t, err := f.trace(id)
	if err != nil {
		return false, err
	}
	namesakes := 0
	t.named(x.id, func(o *span) {
		again = again || same(o, x)
		if o.shard == x.shard {
			namesakes++
		}
	})
	p := t.part(f.shard)
	if again || namesakes >= maxNamesakes || p.entries() >= maxEntries {
		return again, nil
	}

	// affected are the spans whose caller the new span may be; before are their callers without it.
	f.affected, f.before = f.affected[:0], f.before[:0]
	affect := func(y callee) {
		f.affected, f.before = append(f.affected, y), append(f.before, f.m.caller(t, y))
	}
	t.children(x.id, func(y *span) {
		if y.id != y.parent {
			affect(childOf(t, y))
		}
	})
	t.linked(x.id, func(l *link) { affect(linkOf(l)) })
	if x.side == recountv1.Side_SIDE_CALLER {
		t.named(x.id, func(y *span) {
			if sharesID(x, y) {
				affect(childOf(t, y))
			}
		})
	}
	t.insert(x)
	p = f.change(t)
	p.last.span(x)
	if err := f.fill(t, p); err != nil {
		return false, err
	}
	for i, y := range f.affected {
		if mayCall(x, y.span) {
			if err := f.pair(x, y, 0); err != nil {
				return false, err
			}
		}
		before, after := f.before[i], f.m.caller(t, y)
		if before == after || before != nil && after != nil && same(before, after) {
			continue
		}
		if before != nil {
			if err := f.pair(before, y, -1); err != nil {
				return false, err
			}
		}
		if after != nil {
			if err := f.pair(after, y, 1); err != nil {
				return false, err
			}
		}
	}
	if err := f.called(t, childOf(t, x)); err != nil {
		return false, err
	}
	if x.side != recountv1.Side_SIDE_CALLED || kind != recountv1.RuntimeKind_RUNTIME_KIND_CONSUMES {
		return false, nil
	}
	return false, f.links(id, x, links)
}

// called adds the call whose later end is a new span or link.
func (f *fold) called(t *trace, y callee) (err error) {
	t.candidates(y, func(x *span) {
		if err == nil {
			err = f.pair(x, y, 0)
		}
	})
	if x := f.m.caller(t, y); x != nil && err == nil {
		err = f.pair(x, y, 1)
	}
	return err
}

// links adds the links of a consumer to the traces that they lead to.
func (f *fold) links(id [16]byte, x *span, links []*recountv1.SpanLink) error {
	type end struct {
		trace [16]byte
		span  uint64
	}
	seen := make(map[end]bool, min(len(links), maxLinks))
	for _, sl := range links[:min(len(links), maxLinks)] {
		to := end{[16]byte(sl.TraceId), binary.BigEndian.Uint64(sl.SpanId)}
		if to.trace == id && (to.span == x.id || x.hasParent && to.span == x.parent) {
			continue // the call from the parent is already counted
		}
		if seen[to] {
			continue
		}
		seen[to] = true
		t, err := f.trace(to.trace)
		if err != nil {
			return err
		}
		if t.part(f.shard).entries() >= maxEntries {
			continue
		}
		l := link{target: to.span, trace: id, from: *x}
		t.insertLink(&l)
		p := f.change(t)
		p.last.link(&l)
		if err := f.fill(t, p); err != nil {
			return err
		}
		if err := f.called(t, linkOf(&l)); err != nil {
			return err
		}
	}
	return nil
}

// pair adds n calls from x to y. With n = 0 it only records the times and the example of a pair
// that may be a call.
func (f *fold) pair(x *span, y callee, n int64) error {
	ends, err := f.ends(x.site, y.site)
	if err != nil {
		return err
	}
	start, failed := y.start, y.failed
	if x.side == recountv1.Side_SIDE_CALLER {
		start, failed = x.start, failed || x.failed
	}
	s := f.sum(sumKey{kind: kindCalls, bucket: bucketOf(0, start), a: ends[0], b: ends[1]})
	if n != 0 {
		s.add(n, failed, binOf(y.duration))
		return nil
	}
	e := f.m.shards.example(y.trace, y.span)
	s.see(start, failed, &e)
	return nil
}

// ends returns the sites under which the calls from one site to another are summed.
func (f *fold) ends(x, y uint64) (*[2]uint64, error) {
	k := [2]uint64{x, y}
	if e, ok := f.m.ends.Get(k); ok {
		return e, nil
	}
	from, err := f.m.site(f.t, x)
	if err != nil {
		return nil, err
	}
	to, err := f.m.site(f.t, y)
	if err != nil {
		return nil, err
	}
	caller, called := from.caller(), to.called(from)
	a, err := f.storeSite(&caller)
	if err != nil {
		return nil, err
	}
	b, err := f.storeSite(&called)
	if err != nil {
		return nil, err
	}
	e := &[2]uint64{a.hash, b.hash}
	f.m.ends.Put(k, e, endsSize)
	return e, nil
}

// trace returns a trace with everything known so far, including entries of this batch.
func (f *fold) trace(id [16]byte) (*trace, error) {
	if t, ok := f.m.traces.Get(id); ok {
		return t, nil
	}
	t := &trace{id: id, spans: make([]span, 0, 8), parts: make([]tracePart, 0, 2)}
	if f.m.known.First(id) {
		f.m.traces.Put(id, t, t.size())
		return t, nil
	}
	f.k = append(append(f.k[:0], kindTrace), id[:]...)
	for ok := f.it.SeekPrefixGE(f.k); ok; ok = f.it.Next() {
		value, err := f.it.ValueAndErr()
		if err != nil {
			return nil, f.t.Explain(err)
		}
		if err := f.read(t, f.it.Key(), value); err != nil {
			return nil, err
		}
	}
	f.m.traces.Put(id, t, t.size())
	return t, f.t.Explain(f.it.Error())
}

// read decodes a chunk of a trace. The chunks of a partition come in order.
func (f *fold) read(t *trace, key, value []byte) error {
	tp, chunk, err := cutTraceKey(key)
	if err != nil {
		return damage{err}
	}
	p := t.part(f.m.shards.number(tp))
	if chunk != p.full || p.last.n > 0 {
		return damage{fmt.Errorf("trace %x: chunk %d of %s after %d of %d entries", t.id, chunk, tp, p.full, p.last.n)}
	}
	shard := p.shard
	err = p.last.entries(value, func(hash uint64) (*site, error) { return f.m.site(f.t, hash) },
		func(s *span) {
			s.shard = shard
			t.insert(s)
		},
		func(l *link) {
			l.from.shard = shard
			t.insertLink(l)
		})
	if err != nil {
		return damage{fmt.Errorf("trace %x: %w", t.id, err)}
	}
	if p.last.n == chunkEntries {
		p.full, p.last = p.full+1, writer{}
	}
	return nil
}

// change returns the partition's part of a trace, and marks it as changed.
func (f *fold) change(t *trace) *tracePart {
	p := t.part(f.shard)
	if !p.changed {
		p.changed = true
		f.changed = append(f.changed, t)
	}
	return p
}

// fill stores the last chunk if it is full.
func (f *fold) fill(t *trace, p *tracePart) error {
	if p.last.n < chunkEntries {
		return nil
	}
	f.k = traceKey(f.k[:0], t.id, f.key, p.full)
	err := f.t.Set(f.k, p.last.b)
	p.full, p.last = p.full+1, writer{b: p.last.b[:0]}
	return err
}
