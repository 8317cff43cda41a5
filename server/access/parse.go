package access

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseError reports what is wrong in a tokens file.
type ParseError struct {
	// Line counts from 1; 0 if unknown.
	Line int
	// Entry is the index, from 0, of the entry that the mistake disables; -1 if it disables the
	// whole file.
	Entry int
	// Why names the field.
	Why string

	sum  [sha256.Size]byte // of the entry's token
	read bool              // whether sum could be read
}

func (m *ParseError) Error() string {
	s := m.Why
	if m.Entry >= 0 {
		s = fmt.Sprintf("tokens[%d]: %s", m.Entry, s)
	}
	if m.Line > 0 {
		s = fmt.Sprintf("line %d: %s", m.Line, s)
	}
	return s
}

// Tokens is the content of a tokens file.
type Tokens struct {
	// Entries holds the entries without a mistake.
	Entries []Entry
	// Mistakes holds one mistake per disabled entry, in the file's order.
	Mistakes []*ParseError
}

// Parse reads a tokens file: YAML, with a list of entries under tokens. An unknown field, or a
// token that two entries share, is a mistake, so that a misspelling cannot lift a limit. If the
// error is not nil, it is a *Mistake of the whole file and the Tokens are empty.
func Parse(b []byte) (Tokens, error) {
	var t Tokens
	items, err := items(b)
	if err != nil {
		return t, err
	}
	// A token in two entries has two sets of limits, and it is unknown which one was meant.
	first, entries := map[[sha256.Size]byte]int{}, make([]*Entry, len(items))
	wrong := map[int]*ParseError{}
	for i, node := range items {
		e, m := parseEntry(node)
		if m != nil {
			m.Entry, wrong[i] = i, m
		}
		if m != nil && !m.read {
			continue
		}
		entries[i] = &e
		j, twice := first[e.sum]
		if !twice {
			first[e.sum] = i
			continue
		}
		for at, other := range map[int]int{i: j, j: i} {
			if wrong[at] == nil {
				wrong[at] = &ParseError{Line: items[at].Line, Entry: at, Why: fmt.Sprintf("the token of tokens[%d]", other), sum: e.sum, read: true}
			}
		}
	}
	for i, e := range entries {
		if wrong[i] == nil {
			t.Entries = append(t.Entries, *e)
		}
	}
	for _, i := range slices.Sorted(maps.Keys(wrong)) {
		t.Mistakes = append(t.Mistakes, wrong[i])
	}
	return t, nil
}

// ParseAll is Parse with every mistake returned as an error.
func ParseAll(b []byte) ([]Entry, error) {
	t, err := Parse(b)
	if err != nil {
		return nil, err
	}
	var all []error
	for _, m := range t.Mistakes {
		all = append(all, m)
	}
	return t.Entries, errors.Join(all...)
}

// items returns the YAML nodes of the entries of a tokens file.
func items(b []byte) ([]*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, ofYAML(err)
	}
	if err := dec.Decode(new(yaml.Node)); err == nil {
		return nil, &ParseError{Entry: -1, Why: "more than one document"}
	} else if !errors.Is(err, io.EOF) {
		return nil, ofYAML(err)
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, &ParseError{Line: top.Line, Entry: -1, Why: "want tokens: and a list"}
	}
	var list *yaml.Node
	for i := 0; i+1 < len(top.Content); i += 2 {
		switch key := top.Content[i]; {
		case key.Value != "tokens":
			return nil, &ParseError{Line: key.Line, Entry: -1, Why: fmt.Sprintf("field %.80q: want tokens and nothing else", key.Value)}
		case list != nil:
			return nil, &ParseError{Line: key.Line, Entry: -1, Why: "tokens is given twice"}
		}
		list = top.Content[i+1]
	}
	switch {
	case list == nil:
		return nil, &ParseError{Line: top.Line, Entry: -1, Why: "want tokens: and a list"}
	case list.Kind == yaml.ScalarNode && list.Tag == "!!null":
		return nil, nil
	case list.Kind != yaml.SequenceNode:
		return nil, &ParseError{Line: list.Line, Entry: -1, Why: "tokens: want a list"}
	}
	return list.Content, nil
}

// fields lists the fields of an Entry.
var fields = []string{"sha256", "name", "tenant", "workspaces", "sessions", "agent", "grants", "expires"}

// parseEntry reads an entry. An entry with a mistake still has its sum if that can be read, so that
// the holder of the token gets a precise error.
func parseEntry(node *yaml.Node) (Entry, *ParseError) {
	e := Entry{Line: node.Line}
	m := &ParseError{Line: node.Line}
	if node.Kind != yaml.MappingNode {
		m.Why = "want sha256 and what the token may access"
		return e, m
	}
	has := map[string]bool{}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		if key.Value == "sha256" && !m.read {
			m.sum, m.read = parseSum(value.Value)
		}
		switch {
		case m.Why != "":
		case !slices.Contains(fields, key.Value):
			m.Line, m.Why = key.Line, fmt.Sprintf("field %.80q: want one of %s", key.Value, strings.Join(fields, ", "))
		case has[key.Value]:
			m.Line, m.Why = key.Line, key.Value+" is given twice"
		}
		has[key.Value] = true
	}
	e.sum = m.sum
	if m.Why != "" {
		return e, m
	}
	for i := 0; i+1 < len(node.Content); i += 2 {
		key := node.Content[i]
		field := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Content: node.Content[i : i+2]}
		if err := field.Decode(&e); err != nil {
			m.Line, m.Why = key.Line, key.Value+": "+ofYAML(err).Why
			return e, m
		}
	}
	if err := e.check(); err != nil {
		m.Why = err.Error()
		return e, m
	}
	return e, nil
}

// parseSum decodes the hash of a token from hex.
func parseSum(text string) (sum [sha256.Size]byte, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != sha256.Size {
		return sum, false
	}
	return [sha256.Size]byte(b), true
}

// yamlLine matches the line number in an error of the YAML library.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?(?:line (\d+): )?`)

// ofYAML converts an error of the YAML library.
func ofYAML(err error) *ParseError {
	text := strings.Join(strings.Fields(err.Error()), " ")
	found := yamlLine.FindStringSubmatch(text)
	line, _ := strconv.Atoi(found[1]) // 0 if the error has no line
	return &ParseError{Line: line, Entry: -1, Why: strings.TrimPrefix(text, found[0])}
}
