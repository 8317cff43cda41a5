package redact

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recountdb/recount/internal/redact/secrets"
)

// OTLP is a message type of OTLP traces that can be redacted in wire format (opentelemetry-proto,
// trace.proto, common.proto and resource.proto).
type OTLP struct {
	name   string
	fields []wireField // indexed by number; higher numbers are unknown fields
}

// wireField describes the content of a length-delimited field.
type wireField struct {
	kind wireKind
	of   *OTLP
}

type wireKind uint8

const (
	wireRaw     wireKind = iota // an id, a number, or unknown: not changed
	wireName                    // a string that is not changed
	wireText                    // a string to redact
	wireBytes                   // bytes to redact
	wireMessage                 // a message
	wireValue                   // an AnyValue
	wireKeyed                   // a KeyValue
)

// These are the message types. Fields that are not listed, such as those of later versions, are not
// changed.
var (
	// OTLPTraces is TracesData, which has the form of an ExportTraceServiceRequest.
	OTLPTraces = &OTLP{name: "TracesData", fields: []wireField{1: {wireMessage, resourceSpans}}}
	// OTLPResource is Resource, the source of spans.
	OTLPResource = &OTLP{name: "Resource", fields: []wireField{1: {wireKeyed, nil}, 3: {wireMessage, entityRef}}}
	// OTLPScope is InstrumentationScope, the library that made the spans.
	OTLPScope = &OTLP{name: "InstrumentationScope", fields: []wireField{1: {wireName, nil}, 2: {wireName, nil}, 3: {wireKeyed, nil}}}
	// OTLPSpan is a Span, with its events, links and status.
	OTLPSpan = &OTLP{name: "Span", fields: []wireField{
		3: {wireName, nil}, 5: {wireText, nil}, 9: {wireKeyed, nil},
		11: {wireMessage, spanEvent}, 13: {wireMessage, spanLink}, 15: {wireMessage, spanStatus},
	}}

	resourceSpans = &OTLP{name: "ResourceSpans", fields: []wireField{1: {wireMessage, OTLPResource}, 2: {wireMessage, scopeSpans}, 3: {wireName, nil}}}
	scopeSpans    = &OTLP{name: "ScopeSpans", fields: []wireField{1: {wireMessage, OTLPScope}, 2: {wireMessage, OTLPSpan}, 3: {wireName, nil}}}
	entityRef     = &OTLP{name: "EntityRef", fields: []wireField{1: {wireName, nil}, 2: {wireName, nil}, 3: {wireName, nil}, 4: {wireName, nil}}}
	spanEvent     = &OTLP{name: "Event", fields: []wireField{2: {wireText, nil}, 3: {wireKeyed, nil}}}
	spanLink      = &OTLP{name: "Link", fields: []wireField{3: {wireName, nil}, 4: {wireKeyed, nil}}}
	spanStatus    = &OTLP{name: "Status", fields: []wireField{2: {wireText, nil}}}
	anyValue      = &OTLP{name: "AnyValue", fields: []wireField{1: {wireText, nil}, 5: {wireMessage, arrayValue}, 6: {wireMessage, kvList}, 7: {wireBytes, nil}}}
	arrayValue    = &OTLP{name: "ArrayValue", fields: []wireField{1: {wireValue, nil}}}
	kvList        = &OTLP{name: "KeyValueList", fields: []wireField{1: {wireKeyed, nil}}}
	keyValue      = &OTLP{name: "KeyValue", fields: []wireField{1: {wireName, nil}, 2: {wireValue, nil}}}
)

// maxNesting limits values inside values of one attribute. It exceeds what senders use, and
// protects every reader of the log from deep recursion.
const maxNesting = 32

var (
	// ErrWire means that the bytes are not a protobuf message. The sender has to fix that.
	ErrWire = errors.New("not a protobuf message")
	// ErrText means that a string is not UTF-8, or that values are nested too deeply. The message
	// is refused; other messages beside it can be kept.
	ErrText = errors.New("cannot be kept")
)

// OTLP redacts a message in wire format: attribute values, the names of spans and events, and
// status messages. It returns b itself if nothing is found, else a new slice; unknown fields, order
// and encoding are preserved. A value whose name indicates a secret
// (http.request.header.authorization, db.password, cookies) is replaced completely. An error is
// ErrWire or ErrText; a message without an error can be decoded by any protobuf library.
func (r *Redactor) OTLP(m *OTLP, b []byte) ([]byte, []Finding, error) {
	return r.OTLPContext(context.Background(), m, b)
}

// OTLPContext is like OTLP, but stops when the context ends and then returns the context's error.
func (r *Redactor) OTLPContext(ctx context.Context, m *OTLP, b []byte) ([]byte, []Finding, error) {
	w := wire{ctx: ctx, r: r}
	out, err := w.message(m, b, 0, false)
	if err != nil {
		return nil, nil, err
	}
	if out == nil {
		return b, nil, nil
	}
	return out, w.found, nil
}

// wire is one pass over a message. Its methods return nil for unchanged input.
type wire struct {
	ctx   context.Context // ends the pass
	r     *Redactor
	deep  bool // accepts values nested deeper than maxNesting
	found []Finding
}

// message redacts the fields of m. secret means that its name indicates a secret; depth is the
// number of enclosing values.
func (w *wire) message(m *OTLP, b []byte, depth int, secret bool) (out []byte, err error) {
	for at := 0; at < len(b); {
		num, typ, v, n := consume(b[at:])
		if n < 0 {
			return nil, fmt.Errorf("%w: %s is cut short or damaged at byte %d", ErrWire, m.name, at)
		}
		var replaced []byte
		if typ == protowire.BytesType && int(num) < len(m.fields) {
			if replaced, err = w.field(m.fields[num], v, depth, secret); err != nil {
				return nil, err
			}
		}
		switch {
		case replaced != nil:
			if out == nil {
				out = append(make([]byte, 0, len(b)+32), b[:at]...)
			}
			out = protowire.AppendTag(out, num, typ)
			out = protowire.AppendBytes(out, replaced)
		case out != nil:
			out = append(out, b[at:at+n]...)
		}
		at += n
	}
	return out, nil
}

// consume reads one field: v is the content of a length-delimited one; n is negative if the bytes
// are not a field.
func consume(b []byte) (num protowire.Number, typ protowire.Type, v []byte, n int) {
	num, typ, head := protowire.ConsumeTag(b)
	if head < 0 || !num.IsValid() {
		return num, typ, nil, -1
	}
	if typ == protowire.BytesType {
		v, n = protowire.ConsumeBytes(b[head:])
	} else {
		n = protowire.ConsumeFieldValue(num, typ, b[head:])
	}
	if n < 0 {
		return num, typ, nil, -1
	}
	return num, typ, v, head + n
}

func (w *wire) field(f wireField, v []byte, depth int, secret bool) ([]byte, error) {
	switch f.kind {
	case wireName:
		return nil, checkText(v)
	case wireText:
		if err := checkText(v); err != nil {
			return nil, err
		}
		return w.text(v, secret)
	case wireBytes:
		return w.text(v, secret)
	case wireMessage:
		return w.message(f.of, v, depth, secret)
	case wireKeyed:
		return w.message(keyValue, v, depth, secret || secretKey(keyOf(v)))
	case wireValue:
		if depth == maxNesting && !w.deep {
			return nil, fmt.Errorf("%w: values nested deeper than %d", ErrText, maxNesting)
		}
		return w.message(anyValue, v, depth+1, secret)
	}
	return nil, nil
}

// keyOf returns the key of a KeyValue, which may follow the value; nil if the bytes are not one.
func keyOf(b []byte) (key []byte) {
	for len(b) > 0 {
		num, typ, v, n := consume(b)
		if n < 0 {
			return nil
		}
		if num == 1 && typ == protowire.BytesType {
			key = v
		}
		b = b[n:]
	}
	return key
}

// text redacts one text; secret means that its name indicates a secret. Numbers and booleans under
// such a name are not changed: they are counts and switches.
func (w *wire) text(b []byte, secret bool) ([]byte, error) {
	s := unsafe.String(unsafe.SliceData(b), len(b)) // only read, and not kept
	if secret && secrets.Value(s) {
		if secrets.Whole(s) {
			return nil, nil
		}
		w.found = append(w.found, Finding{Name: "secret", Bytes: len(s)})
		return []byte(Placeholder("secret")), nil
	}
	out, found, err := w.r.TextContext(w.ctx, s)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	w.found = append(w.found, found...)
	return []byte(out), nil
}

func checkText(v []byte) error {
	if utf8.Valid(v) {
		return nil
	}
	return fmt.Errorf("%w: text that is not UTF-8: %.40q", ErrText, bytes.ToValidUTF8(v, []byte("\uFFFD")))
}

// secretEnds are the ends of attribute names whose values are secret, indexed by their last letter,
// which rules out most names at once.
var secretEnds = func() (byLast [256][]secretEnd) {
	ends := []secretEnd{{"pass", true}, {"pwd", true}, {"jwt", true}, {"passcode", true}, {"x-session", true}, {"x-session-id", true}, {"sessionid", true}}
	for _, name := range []string{"card-number", "cardnumber", "credit-card", "creditcard", "cvv", "cvc", "ssn"} { // of payments and persons
		ends = append(ends, secretEnd{name, true})
	}
	for _, name := range []string{"password", "passwd", "passphrase", "secret", "token", "credential", "credentials", "authorization", "cookie"} {
		ends = append(ends, secretEnd{name, false})
	}
	for _, name := range []string{"api", "access", "secret", "account", "encryption", "signing", "auth", "master", "private", "shared"} {
		ends = append(ends, secretEnd{name + "key", false}, secretEnd{name + "-key", false})
	}
	for _, e := range ends {
		last := e.text[len(e.text)-1]
		byLast[last] = append(byLast[last], e)
		byLast[last-'a'+'A'] = append(byLast[last-'a'+'A'], e)
	}
	return byLast
}()

// secretEnd is in lower case, with hyphens for word separators. A whole word must begin the name or
// follow a separator: bypass does not indicate a secret.
type secretEnd struct {
	text  string
	whole bool
}

// secretKey reports whether an attribute's name indicates a secret.
func secretKey(key []byte) bool {
	if len(key) == 0 {
		return false
	}
	for _, e := range secretEnds[key[len(key)-1]] {
		if e.ends(key) {
			return true
		}
	}
	return false
}

func (e secretEnd) ends(key []byte) bool {
	from := len(key) - len(e.text)
	if from < 0 {
		return false
	}
	for i := len(e.text) - 1; i >= 0; i-- {
		c := lower(key[from+i])
		if c == '_' || c == '.' {
			c = '-'
		}
		if c != e.text[i] {
			return false
		}
	}
	return !e.whole || from == 0 || strings.IndexByte("-_./:", key[from-1]) >= 0
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
