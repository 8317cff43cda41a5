// Package span turns the events of the topic `spans` into records: what each span, or each line of
// an access log, shows by itself (recountv1.SpanBatch), a pure function of the event. Which spans
// belong together is decided later, by projections/runtime.
//
// Instrumentations follow many versions of OpenTelemetry's semantic conventions. Tables
// (attributes.go, resource.go) map the attribute names of all versions to properties, so that the
// code uses one name for each. The first reader (readers below) that recognises a span interprets
// it:
//
//   - database: `db.*`. The operation is the verb and the table, "SELECT shop.carts", read
//     from the statement if no attribute names them.
//   - messaging: `messaging.*`. The operation is the destination.
//   - model: `gen_ai.*`. The operation is the verb and the model, the tool or the agent.
//   - rpc: `rpc.*`, or a path or a name of the form "/pkg.Service/Method".
//   - web: `http.*`, `url.*`. The operation is the method and the route, or the path
//     with its values replaced.
//   - graphql, function: `graphql.*`, `faas.*`.
//   - byName: only the span's name.
//
// The number of distinct operations is limited: their length is bounded, and whatever looks like a
// value (numbers, UUIDs, hashes) becomes "{}".
package span

import (
	"fmt"
	"math"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/otlpwire"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Name is the processor's name and version, as stored in Rejected.by.
const Name = "span/2"

// These limits apply to what is taken from a span, in bytes of UTF-8.
const (
	maxOperation = 512
	maxPeer      = 256
	maxName      = 256
	maxCode      = 1024
	// maxLinks limits the links of a span that are kept; SDKs keep 128 by default.
	maxLinks = 1024
)

// minSpan is the encoded size of the smallest valid span: its two ids.
const minSpan = 2 + 16 + 2 + 8

// earliest and latest bound the times of an observation in Unix nanoseconds, like those of an
// event: 1900-01-01 to 2250-01-01. OTLP counts from 1970.
const (
	earliest = -2_208_988_800_000_000_000
	latest   = 8_835_955_200_000_000_000
)

// Exported makes the record of a `spans.exported` event.
func Exported(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	data, err := proto.Marshal(payload)
	if err != nil {
		return schemas.Poisonf("payload of %s: text contains invalid UTF-8", schemas.TypeSpansExported)
	}
	e.Payload = data
	return Wire(e, rec)
}

// Wire makes the record of a `spans.exported` event whose protobuf payload is not decoded.
func Wire(e schemas.Event, rec *recountv1.Record) error {
	// The record's strings are parts of this copy: the caller's buffer belongs to the client that
	// fetched it.
	d := &document{b: e.Payload, s: string(e.Payload)}
	n := d.countSpans()
	b := &batch{
		d:         d,
		event:     e.Time.UnixNano(),
		slab:      make([]recountv1.Observation, n),
		codes:     make([]uint32, n),
		ids:       make([]byte, 0, n*(16+8+8)),
		observers: map[identity]uint32{},
		out:       &recountv1.SpanBatch{Observations: make([]*recountv1.Observation, 0, n)},
	}
	for c := d.message(otlpwire.Traces, 0, len(d.b)); c.next(); {
		if c.IsBytes(1) {
			b.resourceSpans(c.From, c.To)
		}
	}
	if err := d.fault(); err != nil {
		return err
	}
	rec.Body = &recountv1.Record_Spans{Spans: b.out}
	return nil
}

// countSpans counts the spans that may be valid without decoding them: an empty span takes two
// bytes and must not cost the memory of an observation.
func (d *document) countSpans() (n int) {
	for r := d.message(otlpwire.Traces, 0, len(d.b)); r.next(); {
		if !r.IsBytes(1) {
			continue
		}
		for s := d.message(otlpwire.ResourceSpans, r.From, r.To); s.next(); {
			if !s.IsBytes(2) {
				continue
			}
			for sp := d.message(otlpwire.ScopeSpans, s.From, s.To); sp.next(); {
				if sp.IsBytes(2) && sp.To-sp.From >= minSpan {
					n++
				}
			}
		}
	}
	return n
}

// batch builds the observations of one event. Observations and codes are allocated in one block
// each, and strings are parts of the event's copy: a span costs few allocations, and a holder that
// keeps a string for long has to clone it.
type batch struct {
	d     *document
	event int64
	// index is the index of the next span; skipped spans count.
	index uint32
	slab  []recountv1.Observation
	codes []uint32
	ids   []byte
	attrs attrs
	out   *recountv1.SpanBatch

	// resource identifies the resource of the current spans; known means that observer is its
	// number.
	resource  identity
	known     bool
	observer  uint32
	observers map[identity]uint32
}

// number returns the number of the resource's observer. The observer is added with its first valid
// span.
func (b *batch) number() uint32 {
	if b.known {
		return b.observer
	}
	b.known = true
	observer, seen := b.observers[b.resource]
	if !seen {
		observer = uint32(len(b.out.Observers))
		b.observers[b.resource] = observer
		b.out.Observers = append(b.out.Observers, b.resource.observer())
	}
	b.observer = observer
	return observer
}

// resourceSpans adds the spans of a resource, whose attributes may follow them in the encoding.
func (b *batch) resourceSpans(from, to int) {
	d := b.d
	var who naming
	for c := d.message(otlpwire.ResourceSpans, from, to); c.next(); {
		if !c.IsBytes(1) {
			if !c.IsBytes(2) {
				c.check(1)
			}
			continue
		}
		for r := d.message(otlpwire.Resource, c.From, c.To); r.next(); {
			if r.IsBytes(1) {
				who.add(d.keyValue(r.From, r.To))
			} else {
				r.check(2)
			}
		}
	}
	b.resource, b.known = who.identity(), false
	for c := d.message(otlpwire.ResourceSpans, from, to); c.next(); {
		if !c.IsBytes(2) {
			continue
		}
		for s := d.message(otlpwire.ScopeSpans, c.From, c.To); s.next(); {
			switch {
			case s.IsBytes(1):
				s.check(2)
			case s.IsBytes(2):
				b.span(s.From, s.To)
				b.index++
			case s.IsBytes(3):
				s.check(2)
			}
		}
	}
}

// sent is a span as it was sent. Ids and links are parts of the document.
type sent struct {
	trace, id, parent []byte
	name              string
	kind              tracepb.Span_SpanKind
	start, end        uint64
	status            tracepb.Status_StatusCode
	links             []*recountv1.SpanLink
}

// span decodes a span and adds its observation.
func (b *batch) span(from, to int) {
	d := b.d
	var sp sent
	b.attrs.forget()
	for c := d.message(otlpwire.Span, from, to); c.next(); {
		switch {
		case c.IsBytes(1):
			sp.trace = d.b[c.From:c.To]
		case c.IsBytes(2):
			sp.id = d.b[c.From:c.To]
		case c.IsBytes(3):
			c.check(spanDepth)
		case c.IsBytes(4):
			sp.parent = d.b[c.From:c.To]
		case c.IsBytes(5):
			sp.name = d.text(c.From, c.To)
		case c.IsVarint(6):
			sp.kind = tracepb.Span_SpanKind(c.Bits)
		case c.IsFixed64(7):
			sp.start = c.Bits
		case c.IsFixed64(8):
			sp.end = c.Bits
		case c.IsBytes(9):
			b.attrs.add(d.keyValue(c.From, c.To))
		case c.IsBytes(11):
			c.check(spanDepth)
		case c.IsBytes(13):
			sp.links = b.link(sp.links, c.From, c.To)
		case c.IsBytes(15):
			for s := d.message(otlpwire.Status, c.From, c.To); s.next(); {
				if s.IsVarint(3) {
					sp.status = tracepb.Status_StatusCode(s.Bits)
				} else if s.IsBytes(2) {
					d.text(s.From, s.To)
				}
			}
		}
	}
	if d.err == "" {
		b.add(&sp)
	}
}

// link appends a link if it is valid and the limit is not reached.
func (b *batch) link(all []*recountv1.SpanLink, from, to int) []*recountv1.SpanLink {
	var trace, id []byte
	for c := b.d.message(otlpwire.Link, from, to); c.next(); {
		switch {
		case c.IsBytes(1):
			trace = b.d.b[c.From:c.To]
		case c.IsBytes(2):
			id = b.d.b[c.From:c.To]
		default:
			c.check(spanDepth + 1)
		}
	}
	if len(all) == maxLinks || !isID(trace, 16) || !isID(id, 8) {
		return all
	}
	return append(all, &recountv1.SpanLink{TraceId: b.keep(trace), SpanId: b.keep(id)})
}

// keep copies an id into memory that belongs to the record.
func (b *batch) keep(id []byte) []byte {
	from := len(b.ids)
	b.ids = append(b.ids, id...)
	return b.ids[from:len(b.ids):len(b.ids)]
}

// add appends the observation of a span, or counts the span as skipped.
func (b *batch) add(sp *sent) {
	if problem := sp.wrongID(); problem != "" {
		if b.out.Skipped++; b.out.Problem == "" {
			b.out.Problem = fmt.Sprintf("span %d (%s): %s", b.index, clean(sp.name, 80), problem)
		}
		return
	}
	i := len(b.out.Observations)
	o := &b.slab[i]
	b.out.Observations = append(b.out.Observations, o)
	o.Observer, o.Index = b.number(), b.index
	o.TraceId, o.SpanId = b.keep(sp.trace), b.keep(sp.id)
	if isID(sp.parent, 8) && string(sp.parent) != string(sp.id) {
		o.ParentId = b.keep(sp.parent)
	}
	o.Side, o.Links = sideOf(sp.kind), sp.links
	b.times(o, sp)

	u := interpretation{o: o, a: &b.attrs, kind: sp.kind, name: sp.name, code: &b.codes[i]}
	u.understand()
	o.Operation = clean(o.Operation, maxOperation)
	o.System = clean(o.System, maxName)
	if o.Side != recountv1.Side_SIDE_CALLED {
		o.Peer = clean(u.peer(), maxPeer)
	}
	o.Status = u.status(sp.status)
	code(o, &b.attrs)
}

func sideOf(k tracepb.Span_SpanKind) recountv1.Side {
	switch k {
	case tracepb.Span_SPAN_KIND_SERVER, tracepb.Span_SPAN_KIND_CONSUMER:
		return recountv1.Side_SIDE_CALLED
	case tracepb.Span_SPAN_KIND_CLIENT, tracepb.Span_SPAN_KIND_PRODUCER:
		return recountv1.Side_SIDE_CALLER
	}
	return recountv1.Side_SIDE_INSIDE
}

// wrongID returns what is wrong with a span's ids, "" if they are valid.
func (sp *sent) wrongID() string {
	switch {
	case len(sp.trace) != 16:
		return fmt.Sprintf("trace id of %d bytes, want 16", len(sp.trace))
	case len(sp.id) != 8:
		return fmt.Sprintf("span id of %d bytes, want 8", len(sp.id))
	case !isID(sp.trace, 16):
		return "trace id of zeros"
	case !isID(sp.id, 8):
		return "span id of zeros"
	}
	return ""
}

// isID reports whether an id has length n and is not all zeros, which is invalid.
func isID(id []byte, n int) bool {
	if len(id) != n {
		return false
	}
	for _, c := range id {
		if c != 0 {
			return true
		}
	}
	return false
}

// times sets start and duration. If one time is missing the other is used for both; if both are,
// the event's time.
func (b *batch) times(o *recountv1.Observation, sp *sent) {
	start, end := instant(sp.start), instant(sp.end)
	switch {
	case start == 0 && end == 0:
		o.StartUnixNano, o.Clock = b.event, true
	case start == 0:
		o.StartUnixNano, o.Clock = end, true
	case end < start:
		o.StartUnixNano, o.Clock = start, true
	default:
		o.StartUnixNano, o.DurationNano = start, end-start
	}
}

func instant(t uint64) int64 { return int64(min(t, latest)) }

// bounded returns a time within the limits, in Unix nanoseconds.
func bounded(t time.Time) int64 {
	seconds := min(max(t.Unix(), earliest/1e9), latest/1e9)
	return min(seconds*1e9+int64(t.Nanosecond()), latest)
}

func code(o *recountv1.Observation, a *attrs) {
	if !a.has(codeFunction, codeFile) {
		return
	}
	o.Function, o.File = a.text(codeFunction), clean(a.text(codeFile), maxCode)
	if ns := a.text(codeNamespace); ns != "" && o.Function != "" && !strings.HasPrefix(o.Function, ns) {
		o.Function = ns + "." + o.Function
	}
	o.Function = clean(o.Function, maxCode)
	o.Line, _ = a.number(codeLine, math.MaxInt32)
}

// clean shortens a text at a rune boundary and replaces control characters by spaces.
func clean(s string, most int) string {
	s = schemas.Clip(s, most)
	for i := range len(s) {
		if s[i] < ' ' || s[i] == 0x7F {
			return strings.Map(func(r rune) rune {
				if r < ' ' || r == 0x7F {
					return ' '
				}
				return r
			}, s)
		}
	}
	return s
}
