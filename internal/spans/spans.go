package spans

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
)

// Source is the ce_source of the events made here.
const Source = "recount/otlp"

// Splitter makes events of exports. It is safe for concurrent use.
type Splitter struct {
	// Redact takes secrets out.
	Redact *redact.Redactor
	// MaxEvent bounds the payload of an event in bytes; more than 1 KiB.
	MaxEvent int
}

// Result is what became of an export.
type Result struct {
	// Events hold the spans that were kept, those of one service in one or more.
	Events []schemas.Event
	// Spans counts the export's, Refused those of them that cannot be kept.
	Spans, Refused int
	// Problem says what is wrong with the first that was refused.
	Problem string
	// Redacted counts the secrets that were taken out.
	Redacted int
}

// Split makes events of an ExportTraceServiceRequest, or of a TracesData, which has
// its form. An error is redact.ErrWire: the bytes are no such message.
func (s Splitter) Split(export []byte) (Result, error) {
	return s.SplitContext(context.Background(), export)
}

// SplitContext is Split, given up when the context ends: the error is then the context's.
func (s Splitter) SplitContext(ctx context.Context, export []byte) (Result, error) {
	var res Result
	r := reader{ctx: ctx, redact: s.Redact, res: &res}
	all, rest, err := r.read(export)
	if err != nil {
		return Result{}, err
	}
	if len(rest) > s.MaxEvent/2 {
		return Result{}, fmt.Errorf("%w: %d bytes of fields that no export has", redact.ErrWire, len(rest))
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

// nameOf is the name of a span, as far as it can be told.
func nameOf(raw []byte) string {
	var name []byte
	_ = fields(raw, "Span", func(num protowire.Number, _, v []byte) error {
		if num == 5 {
			name = v
		}
		return nil
	})
	const most = 60
	if len(name) > most {
		name = append(name[:most:most], "…"...)
	}
	return string(name)
}

// packer fills the events of one service.
type packer struct {
	service string
	rest    []byte // goes into each event
	max     int
	res     *Result

	parts []part
	size  int // of the event so far, or a little more
	last  uint64
}

// part is a run of spans of one scope.
type part struct {
	rs    *resourceSpans
	scope *scopeSpans
	spans []span
	bytes int // of spans, with their tags and lengths
}

// frame is the most that a tag and a length take.
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
		p.res.refuse(s.raw, fmt.Errorf("%d bytes, with its resource and scope %d: at most %d fit", len(s.raw), around+cost, p.max))
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
		// In place: what lies between the last one and this was refused.
		at.spans = append(at.spans, *s)
		at.bytes += protowire.SizeTag(fieldSpans) + protowire.SizeBytes(len(s.raw))
		p.size += more
		p.last = max(p.last, s.end)
		return
	}
}

// flush makes an event of what there is.
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
		size += protowire.SizeTag(fieldScopeSpans) + protowire.SizeBytes(len(pt.scope.head)+pt.bytes)
	}
	b = protowire.AppendTag(b, fieldResourceSpans, protowire.BytesType)
	b = protowire.AppendVarint(b, uint64(size))
	b = append(b, rs.head...)
	for _, pt := range parts {
		b = protowire.AppendTag(b, fieldScopeSpans, protowire.BytesType)
		b = protowire.AppendVarint(b, uint64(len(pt.scope.head)+pt.bytes))
		b = append(b, pt.scope.head...)
		for _, s := range pt.spans {
			b = protowire.AppendTag(b, fieldSpans, protowire.BytesType)
			b = protowire.AppendBytes(b, s.raw)
		}
	}
	return b
}
