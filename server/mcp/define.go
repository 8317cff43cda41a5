package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/recountdb/recount/schemas/clip"
	"github.com/recountdb/recount/server/api"
)

// tool is one tool: how it is listed, and what answers it.
type tool struct {
	listed *sdk.Tool
	answer func(ctx context.Context, c *call, arguments json.RawMessage) (answer, error)
}

// effect is what a tool does to the data of Recount.
type effect int

const (
	reads effect = iota
	// adds marks a tool that adds something, each time again.
	adds
	// addsOnce marks a tool that adds something, and nothing when it is called again.
	addsOnce
	// executes marks a tool that runs commands, which may do anything that their sandbox allows.
	executes
)

// define makes a tool whose arguments are an In.
func define[In any](name, description string, does effect, f func(ctx context.Context, c *call, in In) (answer, error)) tool {
	t := reflect.TypeFor[In]()
	var fields []string
	for _, field := range reflect.VisibleFields(t) {
		if !field.Anonymous {
			fields = append(fields, nameOf(field))
		}
	}
	no := false
	notes := &sdk.ToolAnnotations{ReadOnlyHint: does == reads, IdempotentHint: does == addsOnce}
	if does == adds || does == addsOnce {
		notes.DestructiveHint, notes.OpenWorldHint = &no, &no
	}
	return tool{
		listed: &sdk.Tool{Name: name, Description: description, InputSchema: schemaOf(t), OutputSchema: outputSchema, Annotations: notes},
		answer: func(ctx context.Context, c *call, arguments json.RawMessage) (answer, error) {
			in, err := decode[In](name, fields, arguments)
			if err != nil {
				return answer{}, err
			}
			return f(ctx, c, in)
		},
	}
}

// outputSchema is that of every tool's structured content: result, in answer.go.
var outputSchema = json.RawMessage(`{"type":"object"}`)

// maxArguments is the maximum size of a call's arguments in bytes: a task may be long, and an
// agent's note too.
const maxArguments = 1 << 20

// decode decodes arguments strictly, so that a misspelt one is not silently ignored. A whole number may be
// written as 5.0.
func decode[In any](name string, fields []string, arguments json.RawMessage) (in In, err error) {
	if len(arguments) > maxArguments {
		return in, &argumentError{name, fmt.Sprintf("the arguments have %d bytes, the maximum is %d: send the part that matters", len(arguments), maxArguments)}
	}
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = []byte("{}")
	}
	if !utf8.Valid(arguments) {
		return in, &argumentError{name, "the arguments are not UTF-8"}
	}
	read := func(b []byte) error {
		dec := json.NewDecoder(bytes.NewReader(b))
		dec.DisallowUnknownFields()
		return dec.Decode(&in)
	}
	err = read(arguments)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && strings.HasPrefix(wrong.Value, "number") {
		if whole, ok := api.WholeNumbers(arguments); ok {
			in = *new(In)
			err = read(whole)
		}
	}
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		return in, &argumentError{name, fmt.Sprintf("%s: got a JSON %s, want %s", wrong.Field, wrong.Value, article(wrong.Type))}
	case err != nil && strings.Contains(err.Error(), "unknown field"):
		_, field, _ := strings.Cut(err.Error(), "unknown field ")
		return in, &argumentError{name, fmt.Sprintf("unknown argument %s: %s takes %s", field, name, strings.Join(fields, ", "))}
	case errors.Is(err, io.ErrUnexpectedEOF), err != nil:
		return in, &argumentError{name, "the arguments are not a JSON object of " + strings.Join(fields, ", ")}
	}
	for _, f := range reflect.VisibleFields(reflect.TypeFor[In]()) {
		if f.Tag.Get("need") != "" && reflect.ValueOf(in).FieldByIndex(f.Index).IsZero() {
			return in, &argumentError{name, fmt.Sprintf("%s is missing: %s", nameOf(f), wanted(f))}
		}
	}
	return in, checkEnums(name, reflect.ValueOf(in))
}

// wanted returns what an argument's schema says of it: its description, else its values.
func wanted(f reflect.StructField) string {
	if doc := f.Tag.Get("doc"); doc != "" {
		return doc
	}
	return "one of " + strings.ReplaceAll(f.Tag.Get("enum"), ",", ", ")
}

// checkEnums refuses a value that the schema does not list.
func checkEnums(name string, in reflect.Value) error {
	for _, f := range reflect.VisibleFields(in.Type()) {
		values := f.Tag.Get("enum")
		if values == "" {
			continue
		}
		if got := in.FieldByIndex(f.Index).String(); got != "" && !listed(values, got) {
			return &argumentError{name, fmt.Sprintf("%s: %q: want one of %s", nameOf(f), abridged(got, 80), strings.ReplaceAll(values, ",", ", "))}
		}
	}
	return nil
}

func listed(values, v string) bool {
	for w := range strings.SplitSeq(values, ",") {
		if v == w {
			return true
		}
	}
	return false
}

func article(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Int:
		return "an integer"
	case reflect.Float64:
		return "a number"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array of strings"
	}
	return "a string"
}

// abridged returns at most n bytes of s, and an ellipsis if it was cut.
func abridged(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return clip.Head(s, n) + "…"
}

// argumentError is what is wrong with a call's arguments.
type argumentError struct{ tool, why string }

func (e *argumentError) Error() string { return e.tool + ": " + e.why }
