// Package span turns the events of the topic `spans` into records: of each span,
// and of each line of an access log, what it says by itself (recountv1.SpanBatch),
// a pure function of the event. Which spans belong together is found out where they
// meet, in projections/graph/runtime.
//
// Instrumentations follow OpenTelemetry's semantic conventions of many years. What
// an attribute is called in each stands in tables (attributes.go, resource.go), so
// that the code knows one name for one thing. A span is understood by the first of
// the readers (readers below) that finds what it looks for:
//
//   - database: `db.*`. The operation is the verb and the table, "SELECT shop.carts",
//     read from the statement where nothing else names them.
//   - messaging: `messaging.*`. The operation is the destination.
//   - model: `gen_ai.*`. The operation is the verb and the model, the tool or the agent.
//   - rpc: `rpc.*`, a path or a name that is "/pkg.Service/Method".
//   - web: `http.*`, `url.*`. The operation is the method and the route, or the path
//     with its values replaced.
//   - graphql, function: `graphql.*`, `faas.*`.
//   - byName: nothing but the span's name.
//
// An operation is bounded twice: in length, and in how many there can be, since
// whatever looks like a value (numbers, UUIDs, hashes) becomes "{}".
package span

import (
	"fmt"
	"math"
	"strings"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Name and version, as they stand in Rejected.by.
const Name = "span/1"

// Bounds of what is taken from a span, in bytes of UTF-8.
const (
	maxOperation = 512
	maxPeer      = 256
	maxName      = 256
	maxCode      = 1024
	// maxLinks is how many links of a span are kept: SDKs keep 128 by default.
	maxLinks = 1024
)

// The times an observation may have, in Unix nanoseconds, as for the event's own
// time: 1900-01-01 to 2250-01-01. OTLP counts from 1970.
const (
	earliest = -2_208_988_800_000_000_000
	latest   = 8_835_955_200_000_000_000
)

// Exported makes the record of a `spans.exported` event.
func Exported(e schemas.Event, payload proto.Message, rec *recountv1.Record) error {
	data := payload.(*tracepb.TracesData)
	n := 0
	for _, r := range data.GetResourceSpans() {
		for _, s := range r.GetScopeSpans() {
			n += len(s.GetSpans())
		}
	}
	b := &batch{
		event:     e.Time.UnixNano(),
		slab:      make([]recountv1.Observation, n),
		codes:     make([]uint32, n),
		observers: map[identity]uint32{},
		out:       &recountv1.SpanBatch{Observations: make([]*recountv1.Observation, 0, n)},
	}
	index := uint32(0)
	for _, r := range data.GetResourceSpans() {
		b.resource, b.known = identify(r.GetResource()), false
		for _, s := range r.GetScopeSpans() {
			for _, sp := range s.GetSpans() {
				b.add(sp, index)
				index++
			}
		}
	}
	rec.Body = &recountv1.Record_Spans{Spans: b.out}
	return nil
}

// batch makes the observations of one event. They and their codes lie in one piece
// of memory each: a span costs few allocations.
type batch struct {
	event int64
	slab  []recountv1.Observation
	codes []uint32
	attrs attrs
	out   *recountv1.SpanBatch

	// resource is whose spans are being added; known says that observer is its number.
	resource  identity
	known     bool
	observer  uint32
	observers map[identity]uint32
}

// number is the observer's that the resource is; the first span that is taken names it.
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

// add appends what a span says, or counts it as skipped.
func (b *batch) add(sp *tracepb.Span, index uint32) {
	if problem := wrongID(sp); problem != "" {
		if b.out.Skipped++; b.out.Problem == "" {
			b.out.Problem = fmt.Sprintf("span %d (%s): %s", index, clean(sp.GetName(), 80), problem)
		}
		return
	}
	i := len(b.out.Observations)
	o := &b.slab[i]
	b.out.Observations = append(b.out.Observations, o)
	o.Observer, o.Index = b.number(), index
	o.TraceId, o.SpanId = sp.TraceId, sp.SpanId
	if p := sp.ParentSpanId; isID(p, 8) && string(p) != string(sp.SpanId) {
		o.ParentId = p
	}
	o.Side = sideOf(sp.GetKind())
	b.times(o, sp)

	b.attrs.read(sp.GetAttributes())
	u := understood{o: o, a: &b.attrs, kind: sp.GetKind(), name: sp.GetName(), code: &b.codes[i]}
	u.understand()
	o.Operation = clean(o.Operation, maxOperation)
	o.System = clean(o.System, maxName)
	if o.Side != recountv1.Side_SIDE_CALLED {
		o.Peer = clean(u.peer(), maxPeer)
	}
	o.Status = u.status(sp.GetStatus().GetCode())
	code(o, &b.attrs)
	links(o, sp)
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

// wrongID says what is wrong with a span's ids, "" for nothing.
func wrongID(sp *tracepb.Span) string {
	switch {
	case len(sp.GetTraceId()) != 16:
		return fmt.Sprintf("trace id of %d bytes, want 16", len(sp.GetTraceId()))
	case len(sp.GetSpanId()) != 8:
		return fmt.Sprintf("span id of %d bytes, want 8", len(sp.GetSpanId()))
	case !isID(sp.TraceId, 16):
		return "trace id of zeros"
	case !isID(sp.SpanId, 8):
		return "span id of zeros"
	}
	return ""
}

// isID reports whether an id has the length, and is not the invalid one: zeros.
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

// times sets start and duration. A time that is missing is the other one, and where
// both are, that of the event.
func (b *batch) times(o *recountv1.Observation, sp *tracepb.Span) {
	start, end := instant(sp.GetStartTimeUnixNano()), instant(sp.GetEndTimeUnixNano())
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

// bounded is a time within the bounds, in Unix nanoseconds.
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

func links(o *recountv1.Observation, sp *tracepb.Span) {
	for _, l := range sp.GetLinks() {
		if len(o.Links) == maxLinks {
			return
		}
		if isID(l.GetTraceId(), 16) && isID(l.GetSpanId(), 8) {
			o.Links = append(o.Links, &recountv1.SpanLink{TraceId: l.TraceId, SpanId: l.SpanId})
		}
	}
}

// clean bounds a text, at a rune, and makes control characters blanks.
func clean(s string, most int) string {
	s = clip(s, most)
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

// clip cuts s to at most so many bytes, at the start of a rune.
func clip(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && s[most]&0xC0 == 0x80 {
		most--
	}
	return s[:most]
}
