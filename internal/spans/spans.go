package spans

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/otlpwire"
)

// Source is the ce_source of the events made here.
const Source = "recount/otlp"

// Splitter turns exports into events. It is safe for concurrent use.
type Splitter struct {
	// Redact removes secrets.
	Redact *redact.Redactor
	// MaxEvent limits the payload of an event in bytes; it must be more than 1 KiB.
	MaxEvent int
}

// Result is the result of splitting an export.
type Result struct {
	// Events contain the spans that were kept, with one or more events per service.
	Events []schemas.Event
	// Spans is the number of spans in the export, Refused the number of those that cannot be kept.
	Spans, Refused int
	// Problem is the reason for the first refused span.
	Problem string
	// Redacted is the number of secrets that were removed.
	Redacted int
}

// Split turns an ExportTraceServiceRequest, or a TracesData, which has the same form, into events.
// The error is otlpwire.ErrMalformed if the bytes are not such a message.
func (s Splitter) Split(export []byte) (Result, error) {
	return s.SplitContext(context.Background(), export)
}

// SplitContext is like Split, but stops when the context ends and then returns the context's error.
func (s Splitter) SplitContext(ctx context.Context, export []byte) (Result, error) {
	var res Result
	r := reader{ctx: ctx, redact: s.Redact, res: &res}
	all, rest, err := r.read(export)
	if err != nil {
		return Result{}, err
	}
	if len(rest) > s.MaxEvent/2 {
		return Result{}, fmt.Errorf("%w: %d bytes of unknown fields", otlpwire.ErrMalformed, len(rest))
	}
	var order []string
	packers := map[string]*packer{}
	for i := range all {
		rs := &all[i]
		p := packers[rs.service]
		if p == nil {
			p = &packer{service: rs.service, rest: rest, max: s.MaxEvent, res: &res}
			packers[rs.service] = p
			order = append(order, rs.service)
		}
		p.add(rs)
	}
	for _, service := range order {
		packers[service].flush()
	}
	return res, nil
}

// refuse counts a span that cannot be kept.
func (r *Result) refuse(raw []byte, why error) {
	if r.Refused++; r.Problem == "" {
		r.Problem = fmt.Sprintf("span %q: %s", nameOf(raw), why)
	}
}

// nameOf returns the name of a span, as far as it can be read.
func nameOf(raw []byte) string {
	var name []byte
	for f := otlpwire.Span.Read(raw); f.Next(); {
		if f.IsBytes(5) {
			name = f.Content()
		}
	}
	const maxShown = 60
	if len(name) > maxShown {
		name = append(name[:maxShown:maxShown], "…"...)
	}
	return string(name)
}

// packer fills the events of one service.
type packer struct {
	service string
	rest    []byte // added to each event
	max     int
	res     *Result

	parts []part
	size  int // of the event so far, or slightly more
	last  uint64
}

// part is a run of spans in one scope.
type part struct {
	rs    *resourceSpans
	scope *scopeSpans
	spans []span
	bytes int // size of spans, with their tags and lengths
}

// frame is the maximum size of a tag and a length.
const frame = 1 + 5

func (p *packer) add(rs *resourceSpans) {
	for i := range rs.scopes {
		ss := &rs.scopes[i]
		for j := range ss.spans {
			p.span(rs, ss, j)
		}
	}
}

func (p *packer) span(rs *resourceSpans, ss *scopeSpans, j int) {
	s := &ss.spans[j]
	cost := frame + len(s.raw)
	around := len(p.rest) + frame + len(rs.head) + frame + len(ss.head)
	if around+cost > p.max {
		p.res.refuse(s.raw, fmt.Errorf("%d bytes, with its resource and scope %d: the maximum is %d", len(s.raw), around+cost, p.max))
		return
	}
	for {
		var at *part
		if n := len(p.parts); n > 0 {
			at = &p.parts[n-1]
		}
		more := cost
		switch {
		case at == nil:
			more += around
		case at.rs != rs:
			more += 2*frame + len(rs.head) + len(ss.head)
		case at.scope != ss:
			more += frame + len(ss.head)
		}
		if p.size+more > p.max {
			p.flush()
			continue
		}
		if at == nil || at.scope != ss || at.rs != rs {
			p.parts = append(p.parts, part{rs: rs, scope: ss, spans: ss.spans[j:j]})
			at = &p.parts[len(p.parts)-1]
		}
		// Appended in place: the entries between the last one and this were refused.
		at.spans = append(at.spans, *s)
		at.bytes += protowire.SizeTag(fieldChildren) + protowire.SizeBytes(len(s.raw))
		p.size += more
		p.last = max(p.last, s.end)
		return
	}
}

// flush makes an event of the collected spans.
func (p *packer) flush() {
	if len(p.parts) == 0 {
		return
	}
	payload := make([]byte, 0, p.size)
	for from := 0; from < len(p.parts); {
		to := from + 1
		for to < len(p.parts) && p.parts[to].rs == p.parts[from].rs {
			to++
		}
		payload = appendResource(payload, p.parts[from:to])
		from = to
	}
	e := schemas.Event{
		Type: schemas.TypeSpansExported, Source: Source, Time: schemas.SpanTime(p.last),
		Key: schemas.ServiceKey(p.service), ContentType: schemas.ContentProto, Payload: append(payload, p.rest...),
	}
	e.ID = e.DeriveID()
	p.res.Events = append(p.res.Events, e)
	p.parts, p.size, p.last = p.parts[:0], 0, 0
}

// appendResource appends a ResourceSpans with parts of its scopes.
func appendResource(b []byte, parts []part) []byte {
	rs := parts[0].rs
	size := len(rs.head)
	for _, pt := range parts {
		size += protowire.SizeTag(fieldChildren) + protowire.SizeBytes(len(pt.scope.head)+pt.bytes)
	}
	b = protowire.AppendTag(b, fieldResourceSpans, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	b = append(b, rs.head...)
	for _, pt := range parts {
		b = protowire.AppendTag(b, fieldChildren, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(len(pt.scope.head)+pt.bytes))
		b = append(b, pt.scope.head...)
		for _, s := range pt.spans {
			b = protowire.AppendTag(b, fieldChildren, protowire.BytesType)
			b = protowire.AppendBytes(b, s.raw)
		}
	}
	return b
}
