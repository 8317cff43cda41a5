package main

import (
	"bytes"
	"encoding/json"
	"regexp"

	"github.com/recountdb/recount/query/wire"
)

// object is a JSON object with its fields in order.
type object []field

type field struct {
	name  string
	value any
}

func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := plain(f.name)
		if err != nil {
			return nil, err
		}
		value, err := plain(f.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// plain is JSON that leaves <, > and & as they are.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// sameContent is minified JSON with what a payload has and nothing else, as an API would write it:
// an object for each row with its named values, numbers as numbers, and nothing for what is empty.
func sameContent(p wire.Payload) ([]byte, error) {
	o := object{{"question", p.Question}}
	for _, s := range p.Scalars {
		o = append(o, field{s.Name, scalar(s.Value)})
	}
	for _, l := range p.Lists {
		rows := []any{}
		for _, r := range l.Rows {
			var row object
			switch len(r.Nodes) {
			case 0:
			case 1:
				row = node(r.Nodes[0])
			case 2:
				row = object{{"from", node(r.Nodes[0])}, {"to", node(r.Nodes[1])}}
			default:
				var all []any
				for _, n := range r.Nodes {
					all = append(all, node(n))
				}
				row = object{{"nodes", all}}
			}
			for c, v := range r.Values {
				if v != "" {
					row = append(row, field{l.Columns[c], scalar(v)})
				}
			}
			rows = append(rows, row)
		}
		o = append(o, field{l.Name, rows})
	}
	return plain(o)
}

func node(n wire.Node) (o object) {
	add := func(name, value string) {
		if value != "" {
			o = append(o, field{name, value})
		}
	}
	add("id", n.ID)
	add("kind", n.Kind)
	add("name", n.Name)
	add("file", n.Path)
	if n.Line > 0 {
		o = append(o, field{"line", n.Line})
	}
	if n.EndLine > 0 {
		o = append(o, field{"end_line", n.EndLine})
	}
	add("signature", n.Signature)
	add("text", n.Text)
	return o
}

var number = regexp.MustCompile(`^(0|-?[1-9][0-9]*)(\.[0-9]+)?$`)

func scalar(v string) any {
	if number.MatchString(v) {
		return json.Number(v)
	}
	return v
}
