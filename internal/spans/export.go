package spans

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
)

// These are fields of ExportTraceServiceRequest, ResourceSpans and ScopeSpans. In the latter two,
// field 2 holds the children, field 1 the resource or scope.
const (
	fieldResourceSpans = 1
	fieldResource      = 1
	fieldScopeSpans    = 2
	fieldScope         = 1
	fieldSpans         = 2
)

// These are fields of Span.
const (
	fieldTraceID = 1
	fieldSpanID  = 2
	fieldStart   = 7
	fieldEnd     = 8
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
	err = fields(b, "the export", func(num protowire.Number, raw, v []byte) error {
		if num != fieldResourceSpans || v == nil {
			rest = append(rest, raw...)
			return nil
		}
		rs, err := r.resourceSpans(v)
		if len(rs.scopes) > 0 {
			all = append(all, rs)
		}
		return err
	})
	return all, rest, err
}

func (r *reader) resourceSpans(b []byte) (rs resourceSpans, err error) {
	// If a resource cannot be kept, all its spans are refused.
	var unfit error
	err = fields(b, "ResourceSpans", func(num protowire.Number, raw, v []byte) error {
		if num == fieldScopeSpans && v != nil {
			return nil
		}
		if rs.head, err = r.keep(rs.head, raw, num == fieldResource, v, redact.OTLPResource); errors.Is(err, redact.ErrText) {
			unfit, err = fmt.Errorf("its resource %w", err), nil
		}
		if num == fieldResource && v != nil {
			if s := serviceOf(v); s != "" && rs.service == "" {
				rs.service = s
			}
		}
		return err
	})
	if err != nil {
		return rs, err
	}
	if rs.service == "" {
		rs.service = schemas.UnknownService
	}
	return rs, fields(b, "ResourceSpans", func(num protowire.Number, _, v []byte) error {
		if num != fieldScopeSpans || v == nil {
			return nil
		}
		ss, err := r.scopeSpans(v, unfit)
		if len(ss.spans) > 0 {
			rs.scopes = append(rs.scopes, ss)
		}
		return err
	})
}

func (r *reader) scopeSpans(b []byte, unfit error) (ss scopeSpans, err error) {
	err = fields(b, "ScopeSpans", func(num protowire.Number, raw, v []byte) error {
		if num == fieldSpans && v != nil {
			return nil
		}
		if ss.head, err = r.keep(ss.head, raw, num == fieldScope, v, redact.OTLPScope); errors.Is(err, redact.ErrText) {
			unfit, err = fmt.Errorf("its scope %w", err), nil
		}
		return err
	})
	if err != nil {
		return ss, err
	}
	return ss, fields(b, "ScopeSpans", func(num protowire.Number, _, v []byte) error {
		if num != fieldSpans || v == nil {
			return nil
		}
		r.res.Spans++
		s, err := r.span(v)
		switch {
		case r.ctx.Err() != nil:
			return r.ctx.Err()
		case errors.Is(err, redact.ErrWire):
			return err
		case err == nil && unfit != nil:
			err = unfit
		}
		if err != nil {
			r.res.refuse(v, err)
			return nil
		}
		ss.spans = append(ss.spans, s)
		return nil
	})
}

// keep appends a field of a head, redacted if it is a message of the given type. On ErrText nothing
// is appended.
func (r *reader) keep(head, raw []byte, message bool, v []byte, of *redact.OTLP) ([]byte, error) {
	if !message || v == nil {
		return append(head, raw...), nil
	}
	out, found, err := r.redact.OTLPContext(r.ctx, of, v)
	if err != nil {
		return head, err
	}
	r.res.Redacted += len(found)
	// Resource and scope are both field 1.
	return protowire.AppendBytes(protowire.AppendTag(head, fieldResource, protowire.BytesType), out), nil
}

// span reads a span. An error other than ErrWire is the reason to refuse it.
func (r *reader) span(b []byte) (s span, err error) {
	var trace, id []byte
	var start, end uint64
	err = fields(b, "Span", func(num protowire.Number, raw, v []byte) error {
		switch num {
		case fieldTraceID:
			trace = v
		case fieldSpanID:
			id = v
		case fieldStart:
			start = fixed(raw, start)
		case fieldEnd:
			end = fixed(raw, end)
		}
		return nil
	})
	if err != nil {
		return s, err
	}
	if err := checkID("trace_id", trace, 16); err != nil {
		return s, err
	}
	if err := checkID("span_id", id, 8); err != nil {
		return s, err
	}
	out, found, err := r.redact.OTLPContext(r.ctx, redact.OTLPSpan, b)
	r.res.Redacted += len(found)
	return span{out, max(start, end)}, err
}

// serviceOf is schemas.ServiceOf for a resource in wire format, but returns "" if it has none.
func serviceOf(resource []byte) (service string) {
	_ = fields(resource, "Resource", func(num protowire.Number, _, kv []byte) error {
		if num != 1 || kv == nil || service != "" {
			return nil
		}
		var key, value []byte
		_ = fields(kv, "KeyValue", func(num protowire.Number, _, v []byte) error {
			switch num {
			case 1:
				key = v
			case 2:
				value = v
			}
			return nil
		})
		if string(key) != "service.name" {
			return nil
		}
		_ = fields(value, "AnyValue", func(num protowire.Number, _, v []byte) error {
			if num == 1 {
				service = string(v)
			}
			return nil
		})
		return nil
	})
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

// fixed returns the value of a fixed64 field, or before if it is another type.
func fixed(raw []byte, before uint64) uint64 {
	if _, typ, n := protowire.ConsumeTag(raw); typ == protowire.Fixed64Type {
		return binary.LittleEndian.Uint64(raw[n:])
	}
	return before
}

// fields calls f for each field of a message: raw is the whole field, v the content of a
// length-delimited one and otherwise nil. It returns f's error, or redact.ErrWire.
func fields(b []byte, name string, f func(num protowire.Number, raw, v []byte) error) error {
	for len(b) > 0 {
		num, typ, head := protowire.ConsumeTag(b)
		if head < 0 || !num.IsValid() {
			return fmt.Errorf("%w: %s: damaged %d bytes before its end", redact.ErrWire, name, len(b))
		}
		var v []byte
		var n int
		if typ == protowire.BytesType {
			if v, n = protowire.ConsumeBytes(b[head:]); v == nil {
				v = []byte{}
			}
		} else {
			n = protowire.ConsumeFieldValue(num, typ, b[head:])
		}
		if n < 0 {
			return fmt.Errorf("%w: %s: field %d is cut short or damaged", redact.ErrWire, name, num)
		}
		if err := f(num, b[:head+n], v); err != nil {
			return err
		}
		b = b[head+n:]
	}
	return nil
}
