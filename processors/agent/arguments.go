package agent

import (
	"encoding/json"
	"io"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// argument is a member of a call's arguments.
type argument struct {
	name  string
	value string // of a text what it says, of anything else its JSON
	text  bool
}

// callText is a call as people read it: its command or the tool's name with the arguments
// that are a word or a line, and below them the others where they say more than the
// command.
func callText(t *recountv1.Tool) string {
	if t == nil {
		return ""
	}
	all, isObject := readArguments(t.Arguments)
	switch {
	case !isObject && t.Command == "":
		return strings.TrimSpace(t.Name + " " + t.Arguments)
	case !isObject:
		return paragraphs(t.Command, t.Arguments)
	case t.Command == "":
		beside := firstLine(all)
		line := t.Name
		for _, a := range all[:beside] {
			line += " " + a.value
		}
		return strings.TrimSpace(line + "\n" + argumentLines(all[beside:]))
	}
	return paragraphs(t.Command, argumentLines(besideCommand(all, t.Command)))
}

// readArguments reads an object member by member, in its own order, and tells whether it is
// one.
func readArguments(arguments string) ([]argument, bool) {
	d := json.NewDecoder(strings.NewReader(arguments))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	var all []argument
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return nil, false
		}
		a := argument{name: name.(string), value: string(raw)} // a member's name is a text
		if a.text = raw[0] == '"'; a.text {
			if err := json.Unmarshal(raw, &a.value); err != nil {
				return nil, false
			}
		}
		all = append(all, a)
	}
	if _, err := d.Token(); err != nil {
		return nil, false
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, false
	}
	return all, true
}

// maxBesideName bounds what stands in one line with a tool's name, in bytes.
const maxBesideName = 120

// firstLine is how many arguments are told in one line with the tool's name, without
// theirs: the first, if it is a line, and the next, if it is a word, such as a path.
func firstLine(all []argument) int {
	n := 0
	for bounds := "\r\n"; n < 2 && n < len(all); n++ {
		a := all[n]
		if !a.text || a.value == "" || len(a.value) > maxBesideName || strings.ContainsAny(a.value, bounds) {
			break
		}
		bounds = " \t\r\n"
	}
	return n
}

// maxBeside is how many bytes of other arguments say nothing worth finding:
// "is_input": "false".
const maxBeside = 20

// besideCommand are the arguments that are not the command itself; none, if the command is
// one of them and the others are as good as nothing.
func besideCommand(all []argument, command string) []argument {
	said, size := -1, 0
	for i, a := range all {
		if said < 0 && a.text && a.value == command {
			said = i
			continue
		}
		size += len(a.name) + len(a.value)
	}
	switch {
	case said < 0:
		return all
	case size <= maxBeside:
		return nil
	}
	return append(all[:said:said], all[said+1:]...)
}

// argumentLines are arguments with their names, one below the other.
func argumentLines(all []argument) string {
	var s strings.Builder
	for i, a := range all {
		if i > 0 {
			s.WriteByte('\n')
		}
		s.WriteString(a.name)
		s.WriteByte(':')
		if strings.Contains(a.value, "\n") {
			s.WriteByte('\n')
		} else {
			s.WriteByte(' ')
		}
		s.WriteString(a.value)
	}
	return s.String()
}
