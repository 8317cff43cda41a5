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

// Mistake is what is wrong in a tokens file.
type Mistake struct {
	// Line counts from 1; 0 where it is not known.
	Line int
	// Entry is which of tokens is not in force for it, from 0; -1 is the whole file.
	Entry int
	// Why names the field.
	Why string

	sum  [sha256.Size]byte // of the entry's token
	read bool              // whether sum could be read
}

func (m *Mistake) Error() string {
	s := m.Why
	if m.Entry >= 0 {
		s = fmt.Sprintf("tokens[%d]: %s", m.Entry, s)
	}
	if m.Line > 0 {
		s = fmt.Sprintf("line %d: %s", m.Line, s)
	}
	return s
}

// Tokens is what a tokens file says.
type Tokens struct {
	// Entries are those without a mistake.
	Entries []Entry
	// Mistakes are the entries that have one, in the file's order: none of them is in
	// force.
	Mistakes []*Mistake
}

// Parse reads a tokens file: YAML, with the entries under tokens. An entry that has what
// it does not know, or whose token another entry has as well, is a mistake, so that no
// limit is lost by a misspelling. The error is a *Mistake of the whole file, of which
// nothing is known then.
func Parse(b []byte) (Tokens, error) {
	var t Tokens
	items, err := items(b)
	if err != nil {
		return t, err
	}
	// A token that stands twice has two sets of limits, and nobody knows which was meant.
	first, entries := map[[sha256.Size]byte]int{}, make([]*Entry, len(items))
	wrong := map[int]*Mistake{}
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
				wrong[at] = &Mistake{Line: items[at].Line, Entry: at, Why: fmt.Sprintf("the token of tokens[%d]", other), sum: e.sum, read: true}
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

// ParseAll is Parse where every mistake is an error.
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

// items are the entries of a tokens file as they stand there.
func items(b []byte) ([]*yaml.Node, error) {
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, ofYAML(err)
	}
	if err := dec.Decode(new(yaml.Node)); err == nil {
		return nil, &Mistake{Entry: -1, Why: "more than one document"}
	} else if !errors.Is(err, io.EOF) {
		return nil, ofYAML(err)
	}
	top := doc.Content[0]
	if top.Kind == yaml.ScalarNode && top.Tag == "!!null" {
		return nil, nil
	}
	if top.Kind != yaml.MappingNode {
		return nil, &Mistake{Line: top.Line, Entry: -1, Why: "want tokens: and a list"}
	}
	var list *yaml.Node
	for i := 0; i+1 < len(top.Content); i += 2 {
		switch key := top.Content[i]; {
		case key.Value != "tokens":
			return nil, &Mistake{Line: key.Line, Entry: -1, Why: fmt.Sprintf("field %.80q: want tokens and nothing else", key.Value)}
		case list != nil:
			return nil, &Mistake{Line: key.Line, Entry: -1, Why: "tokens stands twice"}
		}
		list = top.Content[i+1]
	}
	switch {
	case list == nil:
		return nil, &Mistake{Line: top.Line, Entry: -1, Why: "want tokens: and a list"}
	case list.Kind == yaml.ScalarNode && list.Tag == "!!null":
		return nil, nil
	case list.Kind != yaml.SequenceNode:
		return nil, &Mistake{Line: list.Line, Entry: -1, Why: "tokens: want a list"}
	}
	return list.Content, nil
}

// fields are those of an Entry.
var fields = []string{"sha256", "name", "tenant", "workspaces", "sessions", "agent", "grants", "expires"}

// parseEntry reads an entry. With a mistake it still has its sum, if that can be read, so
// that who holds the token can be told.
func parseEntry(node *yaml.Node) (Entry, *Mistake) {
	e := Entry{Line: node.Line}
	m := &Mistake{Line: node.Line}
	if node.Kind != yaml.MappingNode {
		m.Why = "want sha256 and what the token is good for"
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
			m.Line, m.Why = key.Line, key.Value+" stands twice"
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

// parseSum reads a token's hash as the file has it.
func parseSum(text string) (sum [sha256.Size]byte, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != sha256.Size {
		return sum, false
	}
	return [sha256.Size]byte(b), true
}

// yamlLine is where the YAML library says in what line it stopped.
var yamlLine = regexp.MustCompile(`^(?:yaml: )?(?:unmarshal errors:\s*)?(?:line (\d+): )?`)

// ofYAML is an error of the YAML library.
func ofYAML(err error) *Mistake {
	text := strings.Join(strings.Fields(err.Error()), " ")
	found := yamlLine.FindStringSubmatch(text)
	line, _ := strconv.Atoi(found[1]) // 0 where it says none
	return &Mistake{Line: line, Entry: -1, Why: strings.TrimPrefix(text, found[0])}
}
