package agenthook

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// parse reads a settings file: one JSON object, which may have comments and trailing commas. Empty
// input, or white space, gives an empty object.
func parse(b []byte) (hujson.Value, *hujson.Object, error) {
	if len(bytes.TrimSpace(b)) == 0 {
		b = []byte("{}\n")
	}
	v, err := hujson.Parse(b)
	if err != nil {
		return v, nil, err
	}
	root, ok := v.Value.(*hujson.Object)
	if !ok {
		return v, nil, errors.New("not a JSON object")
	}
	for part := range v.All() {
		o, ok := part.Value.(*hujson.Object)
		if !ok {
			continue
		}
		seen := map[string]bool{}
		for _, m := range o.Members {
			name := nameOf(m)
			if seen[name] {
				return v, nil, fmt.Errorf("the member %q occurs twice", name)
			}
			seen[name] = true
		}
	}
	return v, root, nil
}

func nameOf(m hujson.ObjectMember) string { return textOf(m.Name.Value) }

// textOf returns the text of a JSON string, "" for other values.
func textOf(v hujson.ValueTrimmed) string {
	if s, ok := v.(hujson.Literal); ok && s.Kind() == '"' {
		return s.String()
	}
	return ""
}

// get returns the value of a member, or nil if there is none.
func get(o *hujson.Object, name string) hujson.ValueTrimmed {
	for _, m := range o.Members {
		if nameOf(m) == name {
			return m.Value.Value
		}
	}
	return nil
}

// list returns the elements of a member that is an array.
func list(o *hujson.Object, name string) []hujson.ArrayElement {
	if a, ok := get(o, name).(*hujson.Array); ok {
		return a.Elements
	}
	return nil
}

// minimal returns a value without white space and comments.
func minimal(v hujson.ValueTrimmed) string {
	c := hujson.Value{Value: v}.Clone()
	c.Minimize()
	return string(c.Pack())
}

// layout adds and removes values, and leaves the bytes of all others as they are. indent is one
// level of indentation.
type layout struct{ indent string }

// layoutOf takes the indentation from a file's first member; it is two spaces by default.
func layoutOf(b []byte) layout {
	for line := range strings.Lines(string(b)) {
		text := strings.TrimLeft(line, " \t")
		if n := len(line) - len(text); strings.HasPrefix(text, `"`) && n > 0 && n <= 8 {
			return layout{line[:n]}
		}
	}
	return layout{"  "}
}

func (l layout) line(depth int) string { return "\n" + strings.Repeat(l.indent, depth) }

// value parses text that is indented by tabs and stands at a depth.
func (l layout) value(text string, depth int) hujson.ValueTrimmed {
	v, err := hujson.Parse([]byte(strings.NewReplacer("\n", l.line(depth), "\t", l.indent).Replace(text)))
	if err != nil {
		panic("agenthook: " + err.Error()) // the text is ours
	}
	return v.Value
}

// addMember adds a member to an object whose members stand at a depth.
func (l layout) addMember(o *hujson.Object, name string, v hujson.ValueTrimmed, depth int) {
	m := hujson.ObjectMember{Name: hujson.Value{Value: hujson.String(name)}, Value: hujson.Value{BeforeExtra: hujson.Extra(" "), Value: v}}
	m.Name.BeforeExtra, o.AfterExtra = l.extras(o.AfterExtra, depth)
	if n := len(o.Members); n > 0 {
		m.Value.AfterExtra = slices.Clone(o.Members[n-1].Value.AfterExtra) // a trailing comma, if there is one
	}
	o.Members = append(o.Members, m)
}

// addElement adds an element to an array whose elements stand at a depth.
func (l layout) addElement(a *hujson.Array, v hujson.ValueTrimmed, depth int) {
	e := hujson.ArrayElement{Value: v}
	e.BeforeExtra, a.AfterExtra = l.extras(a.AfterExtra, depth)
	if n := len(a.Elements); n > 0 {
		e.AfterExtra = slices.Clone(a.Elements[n-1].AfterExtra)
	}
	a.Elements = append(a.Elements, e)
}

// extras returns what stands before a new last entry and behind it. Comments at the end of the
// container stay before it.
func (l layout) extras(end hujson.Extra, depth int) (before, after hujson.Extra) {
	comments := bytes.TrimRight(end, " \t\r\n")
	return append(slices.Clone(comments), l.line(depth)...), hujson.Extra(l.line(depth - 1))
}

// removeMember removes a member.
func removeMember(o *hujson.Object, i int) {
	gone := o.Members[i]
	o.Members = slices.Delete(o.Members, i, i+1)
	next, last := &o.AfterExtra, (*hujson.Value)(nil)
	if i < len(o.Members) {
		next = &o.Members[i].Name.BeforeExtra
	} else if i > 0 {
		last = &o.Members[i-1].Value
	}
	closeGap(gone.Name.BeforeExtra, gone.Value.AfterExtra, next, last)
}

// removeElement removes an element.
func removeElement(a *hujson.Array, i int) {
	gone := a.Elements[i]
	a.Elements = slices.Delete(a.Elements, i, i+1)
	next, last := &a.AfterExtra, (*hujson.Value)(nil)
	if i < len(a.Elements) {
		next = &a.Elements[i].BeforeExtra
	} else if i > 0 {
		last = &a.Elements[i-1]
	}
	closeGap(gone.BeforeExtra, gone.AfterExtra, next, last)
}

// closeGap moves the comments before a removed entry to what follows it, and its trailing comma to
// the entry that is last now. An empty container without comments gets no white space.
func closeGap(before, comma hujson.Extra, next *hujson.Extra, last *hujson.Value) {
	if comments := bytes.TrimRight(before, " \t\r\n"); len(comments) > 0 {
		*next = append(slices.Clone(comments), *next...)
	}
	if last != nil {
		last.AfterExtra = comma
	}
}
