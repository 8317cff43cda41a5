package runtime

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/recountdb/recount/projections/cache"
	"github.com/recountdb/recount/projections/store"
	"github.com/recountdb/recount/schemas"
)

// View is one state: later batches do not show in it. Its methods may be called from any goroutine
// until Close.
type View struct {
	r     *Runtime
	s     *store.View
	times times
	mark  schemas.Watermark
	// counts limits what is read of rows to counts and times.
	counts bool
}

// View opens a view of the currently applied state. The caller closes it.
func (r *Runtime) View() (*View, error) {
	s, err := r.DB.View()
	if err != nil {
		return nil, err
	}
	v := &View{r: r, s: s}
	if v.mark, err = s.Watermark(); err != nil {
		s.Close()
		return nil, err
	}
	_, err = s.Get(timesKey, func(value []byte) (err error) {
		if v.times, err = decodeTimes(value); err != nil {
			err = s.Damaged(err)
		}
		return err
	})
	if err != nil {
		s.Close()
		return nil, err
	}
	return v, nil
}

// Close releases the view.
func (v *View) Close() { v.s.Close() }

// Counts returns a view whose sums have only counts and times, without durations and examples,
// which make up most of a row. It is valid until v is closed.
func (v *View) Counts() *View {
	c := *v
	c.counts = true
	return &c
}

// Watermark returns the next offset of every partition in this state.
func (v *View) Watermark() schemas.Watermark { return maps.Clone(v.mark) }

// Bounds returns the earliest and the latest start of all spans, in nanoseconds since 1970, or 0
// and 0 if there are none.
func (v *View) Bounds() (first, last int64) { return v.times.first, v.times.last }

// ServerSums returns the requests that a service handled in the range, or all services for "",
// ordered by service, kind and operation.
func (v *View) ServerSums(ctx context.Context, r Range, service string) ([]ServerSum, error) {
	return summed(ctx, v, kindServed, r, service, func(x, _ *site, s Sum) ServerSum {
		return ServerSum{x.service, x.kind, x.operation, x.templated, x.system, s}
	}, func(a, b ServerSum) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Operation, b.Operation),
			compareBools(a.Templated, b.Templated), cmp.Compare(a.System, b.System))
	})
}

// ClientSums returns the requests that a service made in the range, or all services for "", ordered
// by service, peer, kind and operation.
func (v *View) ClientSums(ctx context.Context, r Range, service string) ([]ClientSum, error) {
	return summed(ctx, v, kindAsked, r, service, func(x, _ *site, s Sum) ClientSum {
		return ClientSum{x.service, x.peer, x.kind, x.operation, x.templated, x.system, s}
	}, func(a, b ClientSum) int {
		return cmp.Or(cmp.Compare(a.Service, b.Service), cmp.Compare(a.Peer, b.Peer), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Operation, b.Operation),
			compareBools(a.Templated, b.Templated), cmp.Compare(a.System, b.System))
	})
}

// Calls returns the calls of the range from or to a service, or all for "", ordered by caller,
// callee, kind, operation and the caller's names.
func (v *View) Calls(ctx context.Context, r Range, service string) ([]Call, error) {
	return summed(ctx, v, kindCalls, r, service, func(by, to *site, s Sum) Call {
		return Call{
			by.service, to.service, to.kind, to.operation, to.templated, to.system,
			by.kind, by.operation, by.system, by.peer, s,
		}
	}, func(a, b Call) int {
		return cmp.Or(cmp.Compare(a.Caller, b.Caller), cmp.Compare(a.Callee, b.Callee), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Operation, b.Operation),
			compareBools(a.Templated, b.Templated), cmp.Compare(a.System, b.System),
			cmp.Compare(a.AskedKind, b.AskedKind), cmp.Compare(a.AskedOperation, b.AskedOperation), cmp.Compare(a.AskedSystem, b.AskedSystem), cmp.Compare(a.Peer, b.Peer))
	})
}

// summed returns the rows of a kind that are about a service, or all for "", in the order of
// compare. row makes one from its site, from the callee's of a call, and from its sum.
func summed[T any](ctx context.Context, v *View, kind byte, r Range, service string, row func(x, callee *site, s Sum) T, compare func(a, b T) int) ([]T, error) {
	sums, in, err := v.sums(ctx, kind, r)
	if err != nil {
		return nil, err
	}
	all := make([]T, 0, len(sums))
	for k, s := range sums {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		x, err := v.site(k.a)
		if err != nil {
			return nil, err
		}
		callee := x
		if kind == kindCalls {
			if callee, err = v.site(k.b); err != nil {
				return nil, err
			}
		}
		if service == "" || x.service == service || callee.service == service {
			all = append(all, row(x, callee, s.sum(in)))
		}
	}
	slices.SortFunc(all, compare)
	return all, nil
}

func compareBools(a, b bool) int { return index(a) - index(b) }

// sums returns the sums of the rows of a range by site. It omits empty sums, which remain if a
// call's caller changed.
func (v *View) sums(ctx context.Context, kind byte, r Range) (map[sumKey]*sum, shards, error) {
	totals := map[sumKey]*total{}
	var in shards
	row, decode := newSum(), decodeSum
	if v.counts {
		decode = decodeCounts
	}
	r, err := v.hours(r.within(v.times))
	if err != nil {
		return nil, nil, err
	}
	for _, run := range cover(r) {
		from := sumKey{kind: kind, level: run.level, bucket: run.from}
		to := sumKey{kind: kind, level: run.level, bucket: run.to, a: 1<<64 - 1, b: 1<<64 - 1}
		err := v.each(ctx, from.append(nil), append(to.append(nil), 0), func(key, value []byte) error {
			k, ok := cutSumKey(key)
			if !ok || int(k.level) >= len(levels) {
				return fmt.Errorf("sum: key %x", key)
			}
			if err := decode(row, k, value, &in); err != nil {
				return err
			}
			k.level, k.bucket = 0, 0
			t := totals[k]
			if t == nil {
				t = newTotal()
				totals[k] = t
			}
			t.merge(row)
			return nil
		})
		if err != nil {
			return nil, nil, err
		}
	}
	all := make(map[sumKey]*sum, len(totals))
	for k, t := range totals {
		if s := t.end(); s.count != 0 {
			all[k] = s
		}
	}
	return all, in, nil
}

// each calls f with the rows from lower (inclusive) to upper (exclusive). An error of f means that
// the rows are damaged.
func (v *View) each(ctx context.Context, lower, upper []byte, f func(key, value []byte) error) error {
	it, err := v.s.Iter(lower, upper)
	if err != nil {
		return err
	}
	defer it.Close()
	return v.walk(ctx, it, f)
}

func (v *View) walk(ctx context.Context, it store.Iterator, f func(key, value []byte) error) error {
	n := 0
	for ok := it.First(); ok; ok = it.Next() {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		n++
		value, err := it.ValueAndErr()
		if err != nil {
			return v.s.Explain(err)
		}
		if err := f(it.Key(), value); err != nil {
			return v.s.Damaged(err)
		}
	}
	return v.s.Explain(it.Error())
}

// sum converts a sum to the form of answers.
func (s *sum) sum(in shards) Sum {
	out := Sum{Count: uint64(s.count), Errors: uint64(s.errors), First: s.first, Last: s.last, durations: s.durations}
	for _, failed := range []bool{true, false} {
		for _, e := range s.examples[index(failed)] {
			tp := in[e.shard]
			x := Example{Trace: e.trace, Position: schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: e.offset}, Failed: failed, Duration: e.duration}
			binary.BigEndian.PutUint64(x.Span[:], e.span)
			out.Examples = append(out.Examples, x)
		}
	}
	return out
}

// names caches the sites that views have read, by their hashes; a site never changes.
type names struct {
	mu  sync.Mutex
	all *cache.Map[uint64, *site]
}

func (v *View) site(hash uint64) (*site, error) {
	n := &v.r.names
	n.mu.Lock()
	defer n.mu.Unlock()
	if s, ok := n.all.Get(hash); ok {
		return s, nil
	}
	var s *site
	ok, err := v.s.Get(hashKey(nil, kindSite, hash), func(value []byte) (err error) {
		if s, err = decodeSite(value); err != nil {
			err = v.s.Damaged(fmt.Errorf("site %016x: %w", hash, err))
		}
		return err
	})
	if err == nil && !ok {
		err = v.s.Damaged(fmt.Errorf("no site %016x", hash))
	}
	if err != nil {
		return nil, err
	}
	n.all.Put(hash, s, s.size())
	n.all.Trim()
	return s, nil
}

// Services returns all services that reported spans, ordered by name.
func (v *View) Services(ctx context.Context) ([]Service, error) {
	byName := map[string]*Service{}
	err := v.each(ctx, []byte{kindObserver}, []byte{kindObserver + 1}, func(_, value []byte) error {
		_, one, err := decodeObserver(value)
		if err != nil {
			return err
		}
		o := one.Observers[0]
		if o.Spans == 0 {
			return nil // a summary attributes them to others
		}
		s := byName[one.Name]
		if s == nil {
			one.First, one.Last, one.Spans = o.First, o.Last, o.Spans
			byName[one.Name] = &one
			return nil
		}
		s.First, s.Last, s.Spans = min(s.First, o.First), max(s.Last, o.Last), s.Spans+o.Spans
		s.Observers = append(s.Observers, o)
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]Service, 0, len(byName))
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		s := byName[name]
		slices.SortFunc(s.Observers, func(a, b Observer) int {
			return cmp.Or(-cmp.Compare(a.Last, b.Last), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Version, b.Version), cmp.Compare(a.Instance, b.Instance),
				cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Repository, b.Repository), cmp.Compare(a.Revision, b.Revision))
		})
		all = append(all, *s)
	}
	return all, nil
}

// Trace returns the positions, in order, of the events that contain the spans of a trace, or none
// if it is unknown.
func (v *View) Trace(ctx context.Context, id [16]byte) ([]schemas.Position, error) {
	prefix := append([]byte{kindTrace}, id[:]...)
	var all []schemas.Position
	err := v.each(ctx, prefix, store.PrefixEnd(prefix), func(key, value []byte) error {
		tp, _, err := cutTraceKey(key)
		if err != nil {
			return err
		}
		var w writer
		return w.entries(value, nil, func(s *span) {
			all = append(all, schemas.Position{Topic: tp.Topic, Partition: tp.Partition, Offset: s.offset})
		}, func(*link) {})
	})
	slices.SortFunc(all, schemas.Position.Compare)
	return slices.Compact(all), err
}

// TraceSpan is a span of a trace as it is kept for joining.
type TraceSpan struct {
	Service, Operation string
	// Start is in nanoseconds since 1970, and Duration in nanoseconds.
	Start, Duration int64
	Failed          bool
}

// TraceSpans calls each with the spans of a trace that are kept for joining, in no particular order: the
// first maxEntries of each partition, none if the trace is unknown.
func (v *View) TraceSpans(ctx context.Context, id [16]byte, each func(TraceSpan)) error {
	prefix := append([]byte{kindTrace}, id[:]...)
	return v.each(ctx, prefix, store.PrefixEnd(prefix), func(_, value []byte) error {
		var at *site
		var w writer
		return w.entries(value, func(hash uint64) (_ *site, err error) {
			at, err = v.site(hash)
			return at, err
		}, func(s *span) {
			each(TraceSpan{Service: at.service, Operation: at.operation, Start: s.start, Duration: s.duration, Failed: s.failed})
		}, func(*link) {})
	})
}

// TraceOf returns the traces in which a span with this id failed.
func (v *View) TraceOf(ctx context.Context, span [8]byte) ([][16]byte, error) {
	prefix := append([]byte{kindFailed}, span[:]...)
	var all [][16]byte
	err := v.each(ctx, prefix, store.PrefixEnd(prefix), func(key, _ []byte) error {
		id, ok := bytes.CutPrefix(key, prefix)
		if !ok || len(id) != 16 {
			return fmt.Errorf("failed span: key %x", key)
		}
		all = append(all, [16]byte(id))
		return nil
	})
	return all, err
}
