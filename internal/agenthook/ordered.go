package agenthook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// object is a JSON object that keeps the order of its members, so that a settings file keeps the
// layout its owner knows.
type object struct{ members []member }

type member struct {
	name  string
	value any // *object, []any, json.Number, string, bool or nil
}

func (o *object) get(name string) any {
	for _, m := range o.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

func (o *object) has(name string) bool {
	for _, m := range o.members {
		if m.name == name {
			return true
		}
	}
	return false
}

func (o *object) set(name string, v any) {
	for i := range o.members {
		if o.members[i].name == name {
			o.members[i].value = v
			return
		}
	}
	o.members = append(o.members, member{name, v})
}

func (o *object) remove(name string) {
	for i := range o.members {
		if o.members[i].name == name {
			o.members = append(o.members[:i], o.members[i+1:]...)
			return
		}
	}
}

// maxDepth limits the nesting of a settings file.
const maxDepth = 100

// decode reads one JSON object. Empty input, or white space, gives an empty object.
func decode(b []byte) (*object, error) {
	if len(bytes.TrimSpace(b)) == 0 {
		return &object{}, nil
	}
	if !utf8.Valid(b) {
		return nil, errors.New("not UTF-8: what is not would be lost")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	o, ok := v.(*object)
	if !ok {
		return nil, errors.New("not a JSON object")
	}
	return o, nil
}

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested deeper than %d", maxDepth)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t {
	case json.Delim('{'):
		o := &object{}
		for d.More() {
			name, err := d.Token()
			if err != nil {
				return nil, err
			}
			key, _ := name.(string) // the decoder accepts only a string here
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			if o.has(key) {
				return nil, fmt.Errorf("the member %q stands twice", key)
			}
			o.members = append(o.members, member{key, v})
		}
		_, err := d.Token()
		return o, err
	case json.Delim('['):
		list := []any{}
		for d.More() {
			v, err := decodeValue(d, depth+1)
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		_, err := d.Token()
		return list, err
	}
	return t, nil
}

// encode returns an object with indentation and a newline at the end.
func encode(o *object, indent string) []byte {
	var b bytes.Buffer
	encodeValue(&b, o, "\n", indent)
	b.WriteByte('\n')
	return b.Bytes()
}

func encodeValue(b *bytes.Buffer, v any, line, indent string) {
	inner := line + indent
	switch v := v.(type) {
	case *object:
		for i, m := range v.members {
			b.WriteString(opening(i, "{") + inner)
			encodeText(b, m.name)
			b.WriteString(": ")
			encodeValue(b, m.value, inner, indent)
		}
		b.WriteString(closing(len(v.members), "{}", line))
	case []any:
		for i, e := range v {
			b.WriteString(opening(i, "[") + inner)
			encodeValue(b, e, inner, indent)
		}
		b.WriteString(closing(len(v), "[]", line))
	case string:
		encodeText(b, v)
	case json.Number:
		b.WriteString(v.String())
	case bool:
		fmt.Fprintf(b, "%t", v)
	default:
		b.WriteString("null")
	}
}

func opening(i int, bracket string) string {
	if i == 0 {
		return bracket
	}
	return ","
}

func closing(n int, brackets, line string) string {
	if n == 0 {
		return brackets
	}
	return line + brackets[1:]
}

// encodeText writes a string without escaping <, > and &.
func encodeText(b *bytes.Buffer, s string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s)         // cannot fail for a string
	b.Truncate(b.Len() - 1) // the encoder's newline
}

// indentOf returns the indentation of a JSON text's first member; two spaces by default.
func indentOf(b []byte) string {
	_, rest, ok := strings.Cut(string(b), "\n")
	if !ok {
		return "  "
	}
	indent := rest[:len(rest)-len(strings.TrimLeft(rest, " \t"))]
	if indent == "" || len(indent) > 8 {
		return "  "
	}
	return indent
}
