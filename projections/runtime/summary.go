package runtime

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/recountdb/recount/projections/store"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Retention removes spans from the log but keeps their sums: the difference between the sums of all
// spans and those of the remaining ones. So a call whose caller is removed and whose callee stays
// still counts, and one that separate folds of both parts would count twice counts once. The
// differences are events `spans.summarised`, which a projection receives when it begins at zero
// (projections.Options.Seed). Adding them does not depend on the order either.
//
// Summaries are by the hour. The shorter buckets of such an hour contain only the remaining spans,
// so the ends of a range in it are widened to the hour (View.hours).

// hourLevel is the index in levels of the buckets that summaries use.
const hourLevel = 2

// summaryBytes is the approximate maximum size of a summary.
const summaryBytes = 256 << 10

// Summarise calls f with summaries that turn the sums of rest into those of all. The spans of rest
// are a subset of those of all.
func Summarise(ctx context.Context, all, rest *View, f func(*recountv1.SpansSummarised) error) error {
	s := summariser{all: all, rest: rest, f: f, m: &recountv1.SpansSummarised{}, sites: map[uint64]uint32{}}
	for _, kind := range []byte{kindServed, kindAsked, kindCalls} {
		if err := join(ctx, all, rest, []byte{kind, hourLevel}, s.hour); err != nil {
			return err
		}
	}
	if err := join(ctx, all, rest, []byte{kindObserver}, s.observer); err != nil {
		return err
	}
	return s.flush()
}

type summariser struct {
	all, rest *View
	f         func(*recountv1.SpansSummarised) error

	m     *recountv1.SpansSummarised
	sites map[uint64]uint32 // index in m
	bytes int
	in    shards
}

// join calls f with the values that two views have for each key with a prefix; nil means that a
// view has none.
func join(ctx context.Context, a, b *View, prefix []byte, f func(key, a, b []byte) error) (err error) {
	end := bytes.Clone(prefix)
	end[len(end)-1]++
	var its [2]store.Iterator
	var has [2]bool
	for i, v := range []*View{a, b} {
		it, err := v.s.Iter(prefix, end)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, v.s.Explain(it.Close())) }()
		its[i], has[i] = it, it.First()
	}
	for n := 0; has[0] || has[1]; n++ {
		if n%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		order := 0
		switch {
		case !has[1]:
			order = -1
		case !has[0]:
			order = 1
		default:
			order = bytes.Compare(its[0].Key(), its[1].Key())
		}
		var key []byte
		var values [2][]byte
		for i, v := range []*View{a, b} {
			if order == 0 || (order < 0) == (i == 0) {
				key = its[i].Key()
				if values[i], err = its[i].ValueAndErr(); err != nil {
					return v.s.Explain(err)
				}
			}
		}
		if err := f(key, values[0], values[1]); err != nil {
			return err
		}
		for i := range its {
			if values[i] != nil {
				has[i] = its[i].Next()
			}
		}
	}
	return errors.Join(a.s.Explain(its[0].Error()), b.s.Explain(its[1].Error()))
}

// hour adds the difference of two rows of an hour.
func (s *summariser) hour(key, all, rest []byte) error {
	k, ok := cutSumKey(key)
	if !ok {
		return s.all.s.Damaged(fmt.Errorf("sum: key %x", key))
	}
	a, b := newSum(), newSum()
	if all != nil {
		if err := decodeSum(a, k, all, &s.in); err != nil {
			return s.all.s.Damaged(err)
		}
	}
	if rest != nil {
		if err := decodeSum(b, k, rest, &s.in); err != nil {
			return s.rest.s.Damaged(err)
		}
	}
	m := &recountv1.SummarisedHour{
		Hour: k.bucket, Count: a.count - b.count, Errors: a.errors - b.errors,
		FirstUnixNano: min(a.first, b.first), LastUnixNano: max(a.last, b.last),
	}
	for i := range b.durations {
		b.durations[i].n = -b.durations[i].n
	}
	a.durations.merge(b.durations)
	if m.Count == 0 && m.Errors == 0 && len(a.durations) == 0 && m.FirstUnixNano == b.first && m.LastUnixNano == b.last {
		return nil
	}
	for _, bin := range a.durations {
		m.Bins, m.Counts = append(m.Bins, uint32(bin.at)), append(m.Counts, bin.n)
	}
	from := s.all
	if all == nil {
		from = s.rest
	}
	var err error
	if m.Site, err = s.site(from, k.a); err != nil {
		return err
	}
	if k.kind == kindCalls {
		callee, err := s.site(from, k.b)
		if err != nil {
			return err
		}
		m.Callee = &callee
	}
	s.m.Hours = append(s.m.Hours, m)
	return s.grew(40 + 4*len(m.Bins))
}

// site returns the index of a site in the summary.
func (s *summariser) site(from *View, hash uint64) (uint32, error) {
	if i, ok := s.sites[hash]; ok {
		return i, nil
	}
	x, err := from.site(hash)
	if err != nil {
		return 0, err
	}
	i := uint32(len(s.m.Sites))
	s.sites[hash] = i
	s.m.Sites = append(s.m.Sites, &recountv1.SummarisedSite{
		Service: x.service, Side: x.side, Kind: x.kind, Templated: x.templated,
		Operation: x.operation, Peer: x.peer, System: x.system,
	})
	s.bytes += x.size()
	return i, nil
}

// observer adds the difference of two rows of an observer.
func (s *summariser) observer(_, all, rest []byte) error {
	told := [2]observer{{times: noTimes}, {times: noTimes}}
	var by Service
	for i, v := range []*View{s.all, s.rest} {
		if value := [2][]byte{all, rest}[i]; value != nil {
			var err error
			if told[i], by, err = decodeObserver(value); err != nil {
				return v.s.Damaged(err)
			}
		}
	}
	spans := int64(told[0].spans - told[1].spans)
	if spans == 0 {
		return nil
	}
	t, p := told[0].with(told[1].times), by.Observers[0]
	s.m.Observers = append(s.m.Observers, &recountv1.SummarisedObserver{
		Observer: &recountv1.Observer{
			Service: by.Name, Namespace: p.Namespace, Version: p.Version, Instance: p.Instance,
			Environment: p.Environment, Repository: p.Repository, Revision: p.Revision,
		},
		Spans: spans, FirstUnixNano: t.first, LastUnixNano: t.last,
	})
	return s.grew(observerSize)
}

func (s *summariser) grew(by int) error {
	if s.bytes += by; s.bytes < summaryBytes {
		return nil
	}
	return s.flush()
}

func (s *summariser) flush() error {
	m := s.m
	s.m, s.bytes = &recountv1.SpansSummarised{}, 0
	clear(s.sites)
	if len(m.Hours)+len(m.Observers) == 0 {
		return nil
	}
	return s.f(m)
}

// CheckSummary returns an error if a summary can never be applied.
func CheckSummary(m *recountv1.SpansSummarised) error {
	sites := uint32(len(m.Sites))
	for i, h := range m.Hours {
		first, last := bucketOf(hourLevel, h.FirstUnixNano), bucketOf(hourLevel, h.LastUnixNano)
		switch {
		case h.Site >= sites || h.Callee != nil && *h.Callee >= sites:
			return fmt.Errorf("hour %d: site %d, callee %d of %d", i, h.Site, h.GetCallee(), sites)
		case h.Callee == nil && m.Sites[h.Site].Side != recountv1.Side_SIDE_CALLED && m.Sites[h.Site].Side != recountv1.Side_SIDE_CALLER:
			return fmt.Errorf("hour %d: neither served nor asked, and no callee", i)
		case first != h.Hour || last != h.Hour || h.FirstUnixNano > h.LastUnixNano:
			return fmt.Errorf("hour %d: starts from %d to %d are not in it", i, h.FirstUnixNano, h.LastUnixNano)
		case len(h.Bins) != len(h.Counts):
			return fmt.Errorf("hour %d: %d counts of %d bins", i, len(h.Counts), len(h.Bins))
		}
		for j, at := range h.Bins {
			if int(at) > len(bounds)+1 || j > 0 && at <= h.Bins[j-1] || h.Counts[j] == 0 {
				return fmt.Errorf("hour %d: bin %d with %d", i, at, h.Counts[j])
			}
		}
	}
	for i, o := range m.Observers {
		if o.Observer == nil || o.FirstUnixNano > o.LastUnixNano {
			return fmt.Errorf("observer %d: none, or its times are the wrong way round", i)
		}
	}
	return nil
}

// summary applies a summary.
func (f *fold) summary(m *recountv1.SpansSummarised) error {
	sites := make([]uint64, len(m.Sites))
	for i, x := range m.Sites {
		s, err := f.storeSite(&site{
			service: x.Service, side: x.Side, kind: x.Kind, templated: x.Templated,
			operation: x.Operation, peer: x.Peer, system: x.System,
		})
		if err != nil {
			return err
		}
		sites[i] = s.hash
	}
	for _, h := range m.Hours {
		k := sumKey{kind: kindAsked, bucket: h.Hour, a: sites[h.Site]}
		if h.Callee != nil {
			k.kind, k.b = kindCalls, sites[*h.Callee]
		} else if m.Sites[h.Site].Side == recountv1.Side_SIDE_CALLED {
			k.kind = kindServed
		}
		more := newSum()
		more.count, more.errors, more.first, more.last = h.Count, h.Errors, h.FirstUnixNano, h.LastUnixNano
		for i, at := range h.Bins {
			more.durations = append(more.durations, bin{uint16(at), h.Counts[i]})
		}
		for level := hourLevel; level < len(levels); level++ {
			k.level, k.bucket = uint8(level), int32(floorDiv(int64(h.Hour), levels[level]/levels[hourLevel]))
			if err := f.merge(k, more); err != nil {
				return err
			}
		}
		f.k = hoursKey(f.k[:0], h.Hour)
		if err := f.t.Set(f.k, nil); err != nil {
			return err
		}
	}
	for _, o := range m.Observers {
		f.observe(o.Observer, &observer{times: times{o.FirstUnixNano, o.LastUnixNano}, spans: uint64(o.Spans)})
	}
	return nil
}

// merge adds a sum to a row.
func (f *fold) merge(k sumKey, more *sum) error {
	s, err := f.m.sum(f.t, k)
	if err != nil {
		return err
	}
	s.merge(more)
	f.m.sums.Put(k, s, s.size())
	f.rows = append(f.rows, row{k, s})
	return nil
}

func hoursKey(b []byte, hour int32) []byte {
	return binary.BigEndian.AppendUint32(append(b, kindHours), uint32(hour)^1<<31)
}

// hours widens the ends of a range to the hour if that is known by the hour only.
func (v *View) hours(r Range) (Range, error) {
	if r.From >= r.To {
		return r, nil
	}
	hour := levels[hourLevel]
	for _, end := range []*int64{&r.From, &r.To} {
		at, up := *end, int64(0)
		if end == &r.To {
			at, up = at-1, 1
		}
		summed, err := v.s.Get(hoursKey(nil, bucketOf(hourLevel, at)), func([]byte) error { return nil })
		if err != nil {
			return r, err
		}
		if b := floorDiv(at, hour) + up; summed && b > math.MinInt64/hour && b < math.MaxInt64/hour {
			*end = b * hour
		}
	}
	return r, nil
}

// Summed returns the end of the last hour of which parts are known by the hour only, in nanoseconds
// since 1970; ok is false if there is none.
func (v *View) Summed() (until int64, ok bool, err error) {
	it, err := v.s.Iter([]byte{kindHours}, []byte{kindHours + 1})
	if err != nil {
		return 0, false, err
	}
	if it.Last() && len(it.Key()) == 5 {
		hour := int64(int32(binary.BigEndian.Uint32(it.Key()[1:]) ^ 1<<31))
		until, ok = min(hour, math.MaxInt64/levels[hourLevel]-1)*levels[hourLevel]+levels[hourLevel], true
	}
	return until, ok, v.s.Explain(it.Close())
}
