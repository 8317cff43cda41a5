package spans

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/otlpwire"
)

// These are fields of ExportTraceServiceRequest, ResourceSpans and ScopeSpans.
const (
	fieldResourceSpans = 1
	fieldHead          = 1 // the resource or scope
	fieldChildren      = 2 // the scopes or spans
)

// resourceSpans holds the spans of one resource that can be kept.
type resourceSpans struct {
	service string
	head    []byte // all fields except the scopes
	scopes  []scopeSpans
}

type scopeSpans struct {
	head  []byte // all fields except the spans
	spans []span
}

type span struct {
	raw []byte
	end uint64 // the end, or the start if that is later
}

// reader reads an export.
type reader struct {
	ctx    context.Context // ends the reading
	redact *redact.Redactor
	res    *Result
}

// read reads an ExportTraceServiceRequest. rest contains its unknown fields.
func (r *reader) read(b []byte) (all []resourceSpans, rest []byte, err error) {
	f := otlpwire.Traces.Read(b)
	for f.Next() {
		if !f.IsBytes(fieldResourceSpans) {
			rest = append(rest, f.Raw()...)
			continue
		}
		rs, err := r.resourceSpans(f.Content())
		if err != nil {
			return nil, nil, err
		}
		if len(rs.scopes) > 0 {
			all = append(all, rs)
		}
	}
	return all, rest, f.Err()
}

func (r *reader) resourceSpans(b []byte) (rs resourceSpans, err error) {
	head, unfit, err := r.head(otlpwire.ResourceSpans, b)
	if err != nil {
		return rs, err
	}
	rs.head = head
	for f := otlpwire.ResourceSpans.Read(b); f.Next() && rs.service == ""; {
		if f.IsBytes(fieldHead) {
			rs.service = serviceOf(f.Content())
		}
	}
	rs.service = cmp.Or(rs.service, schemas.UnknownService)
	for f := otlpwire.ResourceSpans.Read(b); f.Next(); {
		if !f.IsBytes(fieldChildren) {
			continue
		}
		ss, err := r.scopeSpans(f.Content(), unfit)
		if err != nil {
			return rs, err
		}
		if len(ss.spans) > 0 {
			rs.scopes = append(rs.scopes, ss)
		}
	}
	return rs, nil
}

func (r *reader) scopeSpans(b []byte, unfit error) (ss scopeSpans, err error) {
	head, unfitScope, err := r.head(otlpwire.ScopeSpans, b)
	if err != nil {
		return ss, err
	}
	ss.head = head
	if unfitScope != nil {
		unfit = unfitScope
	}
	for f := otlpwire.ScopeSpans.Read(b); f.Next(); {
		if !f.IsBytes(fieldChildren) {
			continue
		}
		r.res.Spans++
		s, err := r.span(f.Content())
		switch {
		case r.ctx.Err() != nil:
			return ss, r.ctx.Err()
		case errors.Is(err, otlpwire.ErrMalformed):
			return ss, err
		case err == nil && unfit != nil:
			err = unfit
		}
		if err != nil {
			r.res.refuse(f.Content(), err)
			continue
		}
		ss.spans = append(ss.spans, s)
	}
	return ss, nil
}

// head returns all fields of a ResourceSpans or ScopeSpans except the children, with the resource or
// scope redacted. If one of them cannot be kept, all spans below are refused: unfit is the reason.
func (r *reader) head(m *otlpwire.Message, b []byte) (head []byte, unfit, err error) {
	what := "resource"
	if m == otlpwire.ScopeSpans {
		what = "scope"
	}
	f := m.Read(b)
	for f.Next() {
		if f.IsBytes(fieldChildren) {
			continue
		}
		if !f.IsBytes(fieldHead) {
			if err := f.Check(0); err != nil {
				unfit = fmt.Errorf("its %s %w: %w", what, redact.ErrText, err)
			}
			head = append(head, f.Raw()...)
			continue
		}
		out, found, err := r.redact.OTLP(r.ctx, f.Field().Of, f.Content())
		switch {
		case errors.Is(err, redact.ErrText):
			unfit = fmt.Errorf("its %s %w", what, err)
		case err != nil:
			return nil, nil, err
		default:
			r.res.Redacted += len(found)
			head = protowire.AppendBytes(protowire.AppendTag(head, fieldHead, protowire.BytesType), out)
		}
	}
	return head, unfit, f.Err()
}

// span reads a span. An error other than otlpwire.ErrMalformed is the reason to refuse it.
func (r *reader) span(b []byte) (s span, err error) {
	var trace, id []byte
	var start, end uint64
	f := otlpwire.Span.Read(b)
	for f.Next() {
		switch {
		case f.Num == 1:
			trace = f.Content()
		case f.Num == 2:
			id = f.Content()
		case f.IsFixed64(7):
			start = f.Bits
		case f.IsFixed64(8):
			end = f.Bits
		}
	}
	if err := f.Err(); err != nil {
		return s, err
	}
	if err := checkID("trace_id", trace, 16); err != nil {
		return s, err
	}
	if err := checkID("span_id", id, 8); err != nil {
		return s, err
	}
	out, found, err := r.redact.OTLP(r.ctx, otlpwire.Span, b)
	r.res.Redacted += len(found)
	return span{out, max(start, end)}, err
}

// serviceOf is schemas.ServiceOf for a resource in wire format, but returns "" if it has none.
func serviceOf(resource []byte) (service string) {
	for f := otlpwire.Resource.Read(resource); f.Next() && service == ""; {
		if !f.IsBytes(1) {
			continue
		}
		var key, value []byte
		for kv := otlpwire.KeyValue.Read(f.Content()); kv.Next(); {
			switch {
			case kv.Num == 1:
				key = kv.Content()
			case kv.Num == 2:
				value = kv.Content()
			}
		}
		if string(key) != "service.name" {
			continue
		}
		for v := otlpwire.AnyValue.Read(value); v.Next(); {
			if v.Num == 1 {
				service = string(v.Content())
			}
		}
	}
	return service
}

func checkID(name string, id []byte, want int) error {
	if len(id) != want {
		return fmt.Errorf("%s of %d bytes, want %d", name, len(id), want)
	}
	if len(bytes.Trim(id, "\x00")) == 0 {
		return fmt.Errorf("%s is zero", name)
	}
	return nil
}
