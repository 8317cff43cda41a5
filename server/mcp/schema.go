package mcp

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
)

// schemaOf returns the JSON schema of a tool's arguments, from the tags of a struct: json names a
// field, doc describes it, enum lists its values, default says what it is if it is left out, and
// need marks it as required. It has no more than a model needs, because every conversation pays for
// its tokens.
func schemaOf(t reflect.Type) json.RawMessage {
	var props, needed []string
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous {
			continue
		}
		name := nameOf(f)
		props = append(props, quoted(name)+":"+propertyOf(f))
		if f.Tag.Get("need") != "" {
			needed = append(needed, quoted(name))
		}
	}
	s := `{"type":"object","properties":{` + strings.Join(props, ",") + "}"
	if len(needed) > 0 {
		s += `,"required":[` + strings.Join(needed, ",") + "]"
	}
	return json.RawMessage(s + "}")
}

// nameOf returns the name of an argument.
func nameOf(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func propertyOf(f reflect.StructField) string {
	var parts []string
	switch kind := kindOf(f.Type); kind {
	case "array":
		parts = append(parts, `"type":"array","items":{"type":`+quoted(kindOf(f.Type.Elem()))+"}")
	default:
		parts = append(parts, `"type":`+quoted(kind))
	}
	if values := f.Tag.Get("enum"); values != "" {
		var all []string
		for v := range strings.SplitSeq(values, ",") {
			all = append(all, quoted(v))
		}
		parts = append(parts, `"enum":[`+strings.Join(all, ",")+"]")
	}
	if d := f.Tag.Get("default"); d != "" {
		if kindOf(f.Type) == "string" {
			d = quoted(d)
		}
		parts = append(parts, `"default":`+d)
	}
	if doc := f.Tag.Get("doc"); doc != "" {
		parts = append(parts, `"description":`+quoted(doc))
	}
	return "{" + strings.Join(parts, ",") + "}"
}

// kindOf returns the JSON type of a Go type that arguments use.
func kindOf(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Pointer:
		return kindOf(t.Elem())
	case reflect.String:
		return "string"
	case reflect.Bool:
		return "boolean"
	case reflect.Int:
		return "integer"
	case reflect.Float64:
		return "number"
	case reflect.Slice:
		return "array"
	}
	panic(fmt.Sprintf("an argument of type %s: schema.go knows none", t))
}

// quoted returns s as JSON, with <, > and & as they are.
func quoted(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err) // a string can always be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
