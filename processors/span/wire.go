package span

import (
	"math"
	"unicode/utf8"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/recountdb/recount/schemas"
)

// An export is read directly from protobuf's wire format: decoding it into objects costs several
// times as much as all further work (64 allocations per span). This decoder accepts exactly what
// proto.Unmarshal accepts, and reads the same values: fields in any order, the last one of a
// singular field that is repeated, fields of the wrong type skipped, text that is valid UTF-8.
// FuzzWire checks this.

// shape is a kind of OTLP message that is not read, but contains text that must be valid UTF-8.
type shape uint8

const (
	text shape = iota + 1
	keyValue
	anyValue
	arrayValue
	keyValueList
	entityRef
	resourceSpans
	resource
	scope
	spanEvent
	spanLink
)

// shapes lists the fields of each kind that are text or messages.
var shapes = [...]map[protowire.Number]shape{
	keyValue:      {1: text, 2: anyValue},
	anyValue:      {1: text, 5: arrayValue, 6: keyValueList},
	arrayValue:    {1: anyValue},
	keyValueList:  {1: keyValue},
	entityRef:     {1: text, 2: text, 3: text, 4: text},
	resourceSpans: {3: text},
	resource:      {1: keyValue, 3: entityRef},
	scope:         {1: text, 2: text, 3: keyValue},
	spanEvent:     {2: text, 3: keyValue},
	spanLink:      {3: text, 4: keyValue},
}

// maxDepth is the maximum nesting of messages, as in the protobuf library.
const maxDepth = protowire.DefaultRecursionLimit

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

// cursor iterates over the fields of a message.
type cursor struct {
	d       *document
	at, end int
	num     protowire.Number
	typ     protowire.Type
	// from and to are the range of a bytes field; n holds the bits of a number.
	from, to int
	n        uint64
}

func (d *document) message(from, to int) cursor { return cursor{d: d, at: from, end: to} }

// next moves to the next field. It returns false at the end or after an error.
func (c *cursor) next() bool {
	if c.at >= c.end || c.d.err != "" {
		return false
	}
	b := c.d.b[c.at:c.end]
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		c.d.fail("cannot parse invalid wire-format data")
		return false
	}
	c.num, c.typ = num, typ
	c.at += n
	b = b[n:]
	switch typ {
	case protowire.BytesType:
		var size uint64
		if size, n = protowire.ConsumeVarint(b); n >= 0 && size > uint64(len(b)-n) {
			n = -1
		}
		c.from = c.at + n
		c.to = c.from + int(size)
		if n >= 0 {
			n += int(size)
		}
	case protowire.VarintType:
		c.n, n = protowire.ConsumeVarint(b)
	case protowire.Fixed64Type:
		c.n, n = protowire.ConsumeFixed64(b)
	default:
		n = protowire.ConsumeFieldValue(num, typ, b)
	}
	if n < 0 {
		c.d.fail("cannot parse invalid wire-format data")
		return false
	}
	c.at += n
	return true
}

func (c *cursor) bytes(num protowire.Number) bool {
	return c.num == num && c.typ == protowire.BytesType
}

func (c *cursor) varint(num protowire.Number) bool {
	return c.num == num && c.typ == protowire.VarintType
}

func (c *cursor) fixed64(num protowire.Number) bool {
	return c.num == num && c.typ == protowire.Fixed64Type
}

// check validates a field that is not read.
func (c *cursor) check(s shape, depth int) {
	if c.typ != protowire.BytesType {
		return
	}
	switch field := shapes[s][c.num]; field {
	case 0:
	case text:
		c.d.text(c.from, c.to)
	default:
		c.d.check(field, c.from, c.to, depth+1)
	}
}

// check validates a message that is not read.
func (d *document) check(s shape, from, to, depth int) {
	if depth >= maxDepth {
		d.fail("exceeded maximum recursion depth")
		return
	}
	for c := d.message(from, to); c.next(); {
		c.check(s, depth)
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
	for c := d.message(from, to); c.next(); {
		switch {
		case c.bytes(1):
			key = d.text(c.from, c.to)
		case c.bytes(2):
			d.value(c.from, c.to, &v)
		}
	}
	return key, v
}

// value reads a value into v. If several are set the last one counts.
func (d *document) value(from, to int, v *value) {
	for c := d.message(from, to); c.next(); {
		switch {
		case c.bytes(1):
			*v = value{kind: textValue, text: d.text(c.from, c.to)}
		case c.varint(2):
			*v = value{kind: boolValue, bits: c.n}
		case c.varint(3):
			*v = value{kind: intValue, bits: c.n}
		case c.fixed64(4):
			*v = value{kind: doubleValue, bits: c.n}
		case c.bytes(5):
			if v.kind != arrayOf {
				*v = value{kind: arrayOf}
			}
			d.array(c.from, c.to, v)
		case c.bytes(6), c.bytes(7), c.varint(8):
			*v = value{kind: otherValue}
			c.check(anyValue, keyValueDepth+1)
		}
	}
}

// array reads the first element of an array if it is text. bits counts the elements.
func (d *document) array(from, to int, v *value) {
	for c := d.message(from, to); c.next(); {
		if !c.bytes(1) {
			continue
		}
		if v.bits++; v.bits > 1 {
			d.check(anyValue, c.from, c.to, keyValueDepth+3)
			continue
		}
		for e := d.message(c.from, c.to); e.next(); {
			switch {
			case e.bytes(1):
				v.text = d.text(e.from, e.to)
			case e.varint(2), e.varint(3), e.fixed64(4), e.bytes(5), e.bytes(6), e.bytes(7), e.varint(8):
				v.text = ""
				e.check(anyValue, keyValueDepth+3)
			}
		}
	}
}
