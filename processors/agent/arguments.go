package agent

import (
	"encoding/json"
	"io"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// argument is a member of the arguments of a tool call.
type argument struct {
	name  string
	value string // the content of a string, the JSON of any other value
	text  bool
}

// callText returns a call as text for people: its command, or the tool's name with those arguments
// that are a word or a line. Below it follow the other arguments, if they add something to the
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

// readArguments reads a JSON object's members in their order; ok is false if arguments is not an
// object.
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
		a := argument{name: name.(string), value: string(raw)} // a member's name is a string
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

// maxBesideName limits the arguments on the same line as the tool's name, in bytes.
const maxBesideName = 120

// firstLine returns how many arguments are put on the line of the tool's name, without their own
// names: the first if it is one line, and the next if it is one word, such as a path.
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

// maxBeside is the size in bytes up to which the other arguments are not worth indexing:
// "is_input": "false".
const maxBeside = 20

// besideCommand returns the arguments other than the command itself. It returns none if the command
// is one of them and the others are negligible.
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

// argumentLines returns the arguments with their names, one below the other.
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
