// Package strictyaml reads files that people write in YAML. An unknown field is an error, so that a
// misspelt one is not silently ignored.
package strictyaml

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// unknownField is yaml's complaint about a field that a struct of Go does not have.
var unknownField = regexp.MustCompile(`field (\S+) not found in type .*`)

// Decode reads the first document of text into v; an empty text changes nothing. Its error is one line
// and names no types of Go.
func Decode(text []byte, v any) error {
	dec := yaml.NewDecoder(bytes.NewReader(text))
	dec.KnownFields(true)
	err := dec.Decode(v)
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	lines := []string{err.Error()}
	if wrong := new(yaml.TypeError); errors.As(err, &wrong) {
		lines = wrong.Errors
	}
	for i, line := range lines {
		lines[i] = unknownField.ReplaceAllString(line, `unknown field "$1"`)
	}
	return errors.New(strings.ReplaceAll(strings.Join(lines, "; "), "\n", " "))
}
