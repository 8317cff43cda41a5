package wire

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Bounds of payloads.
const (
	// MaxItems is the largest number of rows, nodes and values of a payload together.
	MaxItems = 1 << 20
	// MaxColumns is the largest number of columns of a list.
	MaxColumns = 64
	// MaxRowNodes is the largest number of nodes of a row.
	MaxRowNodes = 1024
)

// Payload is what an answer says.
type Payload struct {
	// Question is the name of what was asked: "callers".
	Question string   `json:"question"`
	Scalars  []Scalar `json:"scalars,omitempty"`
	Lists    []List   `json:"lists,omitempty"`
}

// Scalar is a fact about the whole answer.
type Scalar struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// List is a part of an answer: rows of one kind, in the answer's order.
type List struct {
	Name    string   `json:"name"`
	Columns []string `json:"columns,omitempty"`
	Rows    []Row    `json:"rows,omitempty"`
}

// Row is about its nodes: none, one, the two ends of an edge, or the steps of a path.
type Row struct {
	Nodes []Node `json:"nodes,omitempty"`
	// Values has one for each column of the list; "" stands for none.
	Values []string `json:"values,omitempty"`
}

// Node is a thing that an answer names. Two nodes with equal fields are the same node.
type Node struct {
	// ID finds it again where its name and place do not: the position of an event.
	ID string `json:"id,omitempty"`
	// Kind is what it is: function, method, file, command, memory.
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
	// Path is its file, and Line and EndLine its lines, from 1; 0 stands for none.
	Path    string `json:"path,omitempty"`
	Line    uint32 `json:"line,omitempty"`
	EndLine uint32 `json:"end_line,omitempty"`
	// Signature is the head of its declaration, in one line.
	Signature string `json:"signature,omitempty"`
	// Text is its content: documentation, a body, what was said.
	Text string `json:"text,omitempty"`
}

// Set adds a scalar, unless the value is empty.
func (p *Payload) Set(name, value string) {
	if value != "" {
		p.Scalars = append(p.Scalars, Scalar{name, value})
	}
}

// List adds a list with rows that are added to it. Columns that no row has a value for are left out when
// the payload is finished.
func (p *Payload) List(name string, columns ...string) *List {
	p.Lists = append(p.Lists, List{Name: name, Columns: columns})
	return &p.Lists[len(p.Lists)-1]
}

// Add adds a row about a node.
func (l *List) Add(n Node, values ...string) { l.Join([]Node{n}, values...) }

// Join adds a row about any number of nodes.
func (l *List) Join(nodes []Node, values ...string) {
	row := make([]string, len(l.Columns))
	copy(row, values)
	l.Rows = append(l.Rows, Row{Nodes: nodes, Values: row})
}

// finished returns the payload without empty lists and columns.
func (p Payload) finished() Payload {
	p.Lists = slices.DeleteFunc(p.Lists, func(l List) bool { return len(l.Rows) == 0 })
	for i := range p.Lists {
		l := &p.Lists[i]
		for c := len(l.Columns) - 1; c >= 0; c-- {
			if slices.ContainsFunc(l.Rows, func(r Row) bool { return r.Values[c] != "" }) {
				continue
			}
			l.Columns = slices.Delete(slices.Clone(l.Columns), c, c+1)
			for r := range l.Rows {
				l.Rows[r].Values = slices.Delete(l.Rows[r].Values, c, c+1)
			}
		}
	}
	return p
}

// normal returns an equal payload in the one form that codecs encode: strings are UTF-8 (other
// bytes become U+FFFD), rows have a value for each column, and what is empty is nil. An error names
// what is beyond a bound.
func (p Payload) normal() (Payload, error) {
	items := 0
	for _, l := range p.Lists {
		for _, r := range l.Rows {
			items += 1 + len(r.Nodes) + len(l.Columns)
		}
	}
	if items > MaxItems {
		return p, errorf("%d rows, nodes and values; want at most %d, with a smaller limit", items, MaxItems)
	}
	p.Question = valid(p.Question)
	p.Scalars = each(p.Scalars, func(s Scalar) Scalar { return Scalar{valid(s.Name), valid(s.Value)} })
	var err error
	p.Lists = each(p.Lists, func(l List) List {
		if len(l.Columns) > MaxColumns {
			err = errorf("list %s has %d columns; want at most %d", l.Name, len(l.Columns), MaxColumns)
			return l
		}
		l.Name, l.Columns = valid(l.Name), each(l.Columns, valid)
		l.Rows = each(l.Rows, func(r Row) Row {
			if len(r.Nodes) > MaxRowNodes || len(r.Values) > len(l.Columns) {
				err = errorf("list %s has a row of %d nodes and %d values; want at most %d and %d", l.Name, len(r.Nodes), len(r.Values), MaxRowNodes, len(l.Columns))
				return r
			}
			for len(r.Values) < len(l.Columns) {
				r.Values = append(r.Values[:len(r.Values):len(r.Values)], "")
			}
			return Row{Nodes: each(r.Nodes, Node.normal), Values: each(r.Values, valid)}
		})
		return l
	})
	return p, err
}

func (n Node) normal() Node {
	n.ID, n.Kind, n.Name, n.Path = valid(n.ID), valid(n.Kind), valid(n.Name), valid(n.Path)
	n.Signature, n.Text = valid(n.Signature), valid(n.Text)
	return n
}

func valid(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// each returns the results of a function, or nil if there are none.
func each[T any](all []T, do func(T) T) []T {
	var out []T
	for _, x := range all {
		out = append(out, do(x))
	}
	return out
}
