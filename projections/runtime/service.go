package runtime

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/projections/cut"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// times are the earliest and the latest start of all spans.
type times struct{ first, last int64 }

var noTimes = times{math.MaxInt64, math.MinInt64}

func (t times) with(o times) times { return times{min(t.first, o.first), max(t.last, o.last)} }

// appendTimes appends both as varints.
func appendTimes(b []byte, t times) []byte {
	return binary.AppendVarint(binary.AppendVarint(b, t.first), t.last)
}

func decodeTimes(value []byte) (times, error) {
	r := reader{b: value}
	t := times{r.varint(), r.varint()}
	if err := r.end(); err != nil {
		return t, fmt.Errorf("times: %w", err)
	}
	return t, nil
}

var timesKey = []byte{kindTimes}

func (f *fold) readTimes() error {
	if f.m.timesRead {
		return nil
	}
	value, ok, err := f.t.Get(timesKey)
	if err != nil {
		return err
	}
	f.m.times = noTimes
	if ok {
		if f.m.times, err = decodeTimes(value); err != nil {
			return damage{err}
		}
	}
	f.m.timesRead = true
	return nil
}

func (f *fold) storeTimes() error {
	t := f.m.times
	for _, o := range f.observed {
		t = t.with(o.times)
	}
	if t == f.m.times {
		return nil
	}
	f.m.times = t
	return f.t.Set(timesKey, appendTimes(nil, t))
}

// observer aggregates what one program reported: the number of spans, and when the first and the
// last started.
type observer struct {
	times
	spans uint64
}

func (o *observer) see(start int64) {
	if o.spans == 0 {
		o.times = noTimes
	}
	o.times = o.with(times{start, start})
	o.spans++
}

const observerSize = 96

// appendProgram appends the fields of an observer, each as a uvarint length and its bytes.
func appendProgram(b []byte, o *recountv1.Observer) []byte {
	for _, text := range [...]string{o.Service, o.Namespace, o.Version, o.Instance, o.Environment, o.Repository, o.Revision} {
		b = cut.AppendText(b, text)
	}
	return b
}

// observe adds the spans of one event's observer.
func (f *fold) observe(by *recountv1.Observer, told *observer) {
	f.v = appendProgram(f.v[:0], by)
	o := f.observed[string(f.v)]
	if o == nil {
		o = &observer{times: noTimes}
		f.observed[string(f.v)] = o
	}
	o.times = o.with(told.times)
	o.spans += told.spans // wraps around and back if a summary subtracts some
}

// storeObservers adds the batch's observers to their rows. The key is a hash of the observer's
// fields; the value is the first and last time (varints), the number of spans (uvarint), and the
// fields.
func (f *fold) storeObservers() error {
	for program, told := range f.observed {
		hash := xxh3.HashString(program)
		o, ok := f.m.observers.Get(hash)
		if !ok {
			o = &observer{times: noTimes}
			value, ok, err := f.t.Get(hashKey(nil, kindObserver, hash))
			if err != nil {
				return err
			}
			if ok {
				if *o, _, err = decodeObserver(value); err != nil {
					return damage{err}
				}
			}
			f.m.observers.Put(hash, o, observerSize)
		}
		o.times = o.with(told.times)
		o.spans += told.spans
		f.k = hashKey(f.k[:0], kindObserver, hash)
		f.v = binary.AppendUvarint(appendTimes(f.v[:0], o.times), o.spans)
		if err := f.t.Set(f.k, append(f.v, program...)); err != nil {
			return err
		}
	}
	return nil
}

// decodeObserver decodes an observer's row. The Service has the name and this one Observer.
func decodeObserver(value []byte) (observer, Service, error) {
	r := reader{b: value}
	o := observer{times: times{r.varint(), r.varint()}, spans: r.uvarint()}
	s := Service{Name: r.text()}
	p := Observer{First: o.first, Last: o.last, Spans: o.spans}
	for _, text := range []*string{&p.Namespace, &p.Version, &p.Instance, &p.Environment, &p.Repository, &p.Revision} {
		*text = r.text()
	}
	s.Observers = []Observer{p}
	if err := r.end(); err != nil {
		return o, s, fmt.Errorf("observer: %w", err)
	}
	return o, s, nil
}
