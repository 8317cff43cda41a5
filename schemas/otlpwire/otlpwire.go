// Package otlpwire reads OTLP traces in protobuf's wire format. Decoding them into the generated
// types costs 64 allocations a span, several times as much as all further work, so redaction, the
// splitting of exports and the processor of spans read the bytes instead, with the tables and the
// iterator of this package.
//
// The package accepts what proto.Unmarshal accepts: fields in any order, and unknown fields, also
// of the wrong type, which a reader passes over.
package otlpwire

import (
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"
)

// ErrMalformed means that bytes are not a protobuf message.
var ErrMalformed = errors.New("not a protobuf message")

// Kind is the content of a field.
type Kind uint8

const (
	// Other is an id, a number, or a field that the tables do not have.
	Other Kind = iota
	// Name is text that instrumentations choose, such as the key of an attribute.
	Name
	// Text is text that can contain what users entered.
	Text
	// Bytes are bytes that can contain what users entered.
	Bytes
	// Nested is a message.
	Nested
)

// Field describes a field of a message.
type Field struct {
	Kind Kind
	Of   *Message // of a Nested one
}

// Message is a type of message (opentelemetry-proto: trace.proto, common.proto, resource.proto).
type Message struct {
	name   string
	fields []Field // by number
}

// These are the messages of traces.
var (
	KeyValue, AnyValue, ArrayValue = attributes()

	// Traces is TracesData, which has the form of an ExportTraceServiceRequest.
	Traces        = &Message{"TracesData", []Field{1: nested(ResourceSpans)}}
	ResourceSpans = &Message{"ResourceSpans", []Field{1: nested(Resource), 2: nested(ScopeSpans), 3: {Kind: Name}}}
	Resource      = &Message{"Resource", []Field{1: nested(KeyValue), 3: nested(entityRef)}}
	ScopeSpans    = &Message{"ScopeSpans", []Field{1: nested(Scope), 2: nested(Span), 3: {Kind: Name}}}
	Scope         = &Message{"InstrumentationScope", []Field{1: {Kind: Name}, 2: {Kind: Name}, 3: nested(KeyValue)}}
	Span          = &Message{"Span", []Field{3: {Kind: Name}, 5: {Kind: Text}, 9: nested(KeyValue), 11: nested(Event), 13: nested(Link), 15: nested(Status)}}
	Event         = &Message{"Event", []Field{2: {Kind: Text}, 3: nested(KeyValue)}}
	Link          = &Message{"Link", []Field{3: {Kind: Name}, 4: nested(KeyValue)}}
	Status        = &Message{"Status", []Field{2: {Kind: Text}}}
	entityRef     = &Message{"EntityRef", []Field{1: {Kind: Name}, 2: {Kind: Name}, 3: {Kind: Name}, 4: {Kind: Name}}}
)

func nested(of *Message) Field { return Field{Nested, of} }

// attributes returns the messages of attributes, which contain each other.
func attributes() (keyValue, anyValue, array *Message) {
	anyValue = &Message{name: "AnyValue"}
	keyValue = &Message{"KeyValue", []Field{1: {Kind: Name}, 2: nested(anyValue)}}
	array = &Message{"ArrayValue", []Field{1: nested(anyValue)}}
	list := &Message{"KeyValueList", []Field{1: nested(keyValue)}}
	anyValue.fields = []Field{1: {Kind: Text}, 5: nested(array), 6: nested(list), 7: {Kind: Bytes}}
	return keyValue, anyValue, array
}

// Read returns an iterator over the fields of a message.
func (m *Message) Read(b []byte) Fields { return m.ReadPart(b, 0, len(b)) }

// ReadPart is Read for b[from:to]. From and To of the fields count from the beginning of b.
func (m *Message) ReadPart(b []byte, from, to int) Fields {
	return Fields{m: m, b: b, next: from, end: to}
}

// Fields iterates over the fields of a message. Next must be called before the first.
type Fields struct {
	m         *Message
	b         []byte
	next, end int
	bad       bool

	// Start is where the field begins, with its tag.
	Start int
	Num   protowire.Number
	Type  protowire.Type
	// From and To delimit the content of a length-delimited field; Bits is a varint or a fixed64.
	From, To int
	Bits     uint64
}

// Next moves to the next field. It returns false at the end of the message, and if the bytes are
// malformed, which Err reports.
func (f *Fields) Next() bool {
	if f.next >= f.end {
		return false
	}
	f.Start = f.next
	b := f.b[f.next:f.end]
	tag, n := varint(b)
	num, typ := protowire.DecodeTag(tag)
	if n < 0 || !num.IsValid() {
		return f.fail()
	}
	f.Num, f.Type = num, typ
	at := n
	b = b[at:]
	switch typ {
	case protowire.BytesType:
		var size uint64
		if size, n = varint(b); n < 0 || size > uint64(len(b)-n) {
			return f.fail()
		}
		f.From = f.next + at + n
		f.To = f.From + int(size)
		n += int(size)
	case protowire.VarintType:
		f.Bits, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		f.Bits, n = protowire.ConsumeFixed64(b)
	default:
		n = protowire.ConsumeFieldValue(num, typ, b)
	}
	if n < 0 {
		return f.fail()
	}
	f.next += at + n
	return true
}

// varint reads a varint. Tags and lengths nearly always have one byte, for which it is inlined.
func varint(b []byte) (uint64, int) {
	if len(b) > 0 && b[0] < 0x80 {
		return uint64(b[0]), 1
	}
	return protowire.ConsumeVarint(b)
}

func (f *Fields) fail() bool {
	f.bad, f.end = true, f.next
	return false
}

// Err returns an error that wraps ErrMalformed if the iteration ended before the message did.
func (f *Fields) Err() error {
	if f.bad {
		return fmt.Errorf("%w: %s is cut short or damaged at byte %d", ErrMalformed, f.m.name, f.next)
	}
	return nil
}

// Field describes the current field. One of the wrong type is Other.
func (f *Fields) Field() Field {
	if f.Type != protowire.BytesType || int(f.Num) >= len(f.m.fields) {
		return Field{}
	}
	return f.m.fields[f.Num]
}

// IsBytes reports whether the current field has this number and is length-delimited.
func (f *Fields) IsBytes(num protowire.Number) bool {
	return f.Num == num && f.Type == protowire.BytesType
}

// IsVarint reports whether the current field has this number and is a varint.
func (f *Fields) IsVarint(num protowire.Number) bool {
	return f.Num == num && f.Type == protowire.VarintType
}

// IsFixed64 reports whether the current field has this number and is a fixed64.
func (f *Fields) IsFixed64(num protowire.Number) bool {
	return f.Num == num && f.Type == protowire.Fixed64Type
}

// Content returns the content of a length-delimited field, nil for others.
func (f *Fields) Content() []byte {
	if f.Type != protowire.BytesType {
		return nil
	}
	return f.b[f.From:f.To]
}

// Raw returns the whole field, with its tag.
func (f *Fields) Raw() []byte { return f.b[f.Start:f.next] }

// Check returns the error with which the protobuf library refuses the message, at a depth of
// nesting: for text that is not UTF-8, damaged bytes, or too deep nesting.
func (m *Message) Check(b []byte, depth int) error {
	if depth >= protowire.DefaultRecursionLimit {
		return errors.New("exceeded maximum recursion depth")
	}
	f := m.Read(b)
	for f.Next() {
		if err := f.Check(depth); err != nil {
			return err
		}
	}
	return f.Err()
}

// Check is Message.Check for the current field of a message at a depth.
func (f *Fields) Check(depth int) error {
	switch field := f.Field(); field.Kind {
	case Name, Text:
		if !utf8.Valid(f.Content()) {
			return errors.New("text contains invalid UTF-8")
		}
	case Nested:
		return field.Of.Check(f.Content(), depth+1)
	}
	return nil
}
