package span

import (
	"errors"
	"math"
	"unicode/utf8"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/otlpwire"
)

// An export is read directly from protobuf's wire format (see otlpwire). This decoder accepts
// exactly what proto.Unmarshal accepts, and reads the same values: fields in any order, the last one
// of a singular field that is repeated, fields of the wrong type skipped, text that is valid UTF-8.
// FuzzWire checks this.

// document is an export: its bytes, and the same as a string, of which all other strings are parts.
// err is the first error found in it.
type document struct {
	b   []byte
	s   string
	err string
}

func (d *document) fail(what string) {
	if d.err == "" {
		d.err = what
	}
}

// fault returns the error for the whole event, nil if there is none.
func (d *document) fault() error {
	if d.err == "" {
		return nil
	}
	return schemas.Poisonf("payload of %s: %s", schemas.TypeSpansExported, d.err)
}

// text returns a part as a string, which must be valid UTF-8.
func (d *document) text(from, to int) string {
	s := d.s[from:to]
	if !utf8.ValidString(s) {
		d.fail("text contains invalid UTF-8")
	}
	return s
}

// cursor iterates over the fields of a message. It stops when the document has an error.
type cursor struct {
	otlpwire.Fields
	d *document
}

func (d *document) message(m *otlpwire.Message, from, to int) cursor {
	return cursor{m.ReadPart(d.b, from, to), d}
}

// next moves to the next field. It returns false at the end or after an error.
func (c *cursor) next() bool {
	if c.d.err != "" {
		return false
	}
	if c.Next() {
		return true
	}
	c.d.check(c.Err())
	return false
}

// check validates the text in a field that is not read, of a message at a depth.
func (c *cursor) check(depth int) { c.d.check(c.Check(depth)) }

// check records an error in the words of the protobuf library.
func (d *document) check(err error) {
	switch {
	case errors.Is(err, otlpwire.ErrMalformed):
		d.fail("cannot parse invalid wire-format data")
	case err != nil:
		d.fail(err.Error())
	}
}

// value is the value of an attribute. For an array only its first text is kept, for other nested
// values nothing.
type value struct {
	kind valueKind
	text string
	bits uint64
}

type valueKind uint8

const (
	noValue valueKind = iota
	textValue
	boolValue
	intValue
	doubleValue
	arrayOf // with its first text
	otherValue
)

func (v value) double() float64 { return math.Float64frombits(v.bits) }

// These are the depths of the messages that are read; the deepest is a span attribute's value.
const (
	spanDepth     = 3
	keyValueDepth = 4
)

// keyValue reads an attribute.
func (d *document) keyValue(from, to int) (key string, v value) {
	for c := d.message(otlpwire.KeyValue, from, to); c.next(); {
		switch {
		case c.IsBytes(1):
			key = d.text(c.From, c.To)
		case c.IsBytes(2):
			d.value(c.From, c.To, &v)
		}
	}
	return key, v
}

// value reads a value into v. If several are set the last one counts.
func (d *document) value(from, to int, v *value) {
	for c := d.message(otlpwire.AnyValue, from, to); c.next(); {
		switch {
		case c.IsBytes(1):
			*v = value{kind: textValue, text: d.text(c.From, c.To)}
		case c.IsVarint(2):
			*v = value{kind: boolValue, bits: c.Bits}
		case c.IsVarint(3):
			*v = value{kind: intValue, bits: c.Bits}
		case c.IsFixed64(4):
			*v = value{kind: doubleValue, bits: c.Bits}
		case c.IsBytes(5):
			if v.kind != arrayOf {
				*v = value{kind: arrayOf}
			}
			d.array(c.From, c.To, v)
		case c.IsBytes(6), c.IsBytes(7), c.IsVarint(8):
			*v = value{kind: otherValue}
			c.check(keyValueDepth + 1)
		}
	}
}

// array reads the first element of an array if it is text. bits counts the elements.
func (d *document) array(from, to int, v *value) {
	for c := d.message(otlpwire.ArrayValue, from, to); c.next(); {
		if !c.IsBytes(1) {
			continue
		}
		if v.bits++; v.bits > 1 {
			c.check(keyValueDepth + 2)
			continue
		}
		for e := d.message(otlpwire.AnyValue, c.From, c.To); e.next(); {
			switch {
			case e.IsBytes(1):
				v.text = d.text(e.From, e.To)
			case e.IsVarint(2), e.IsVarint(3), e.IsFixed64(4), e.IsBytes(5), e.IsBytes(6), e.IsBytes(7), e.IsVarint(8):
				v.text = ""
				e.check(keyValueDepth + 3)
			}
		}
	}
}
