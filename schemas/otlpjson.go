package schemas

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// otlpDepth limits the nesting of OTLP in JSON. The protobuf library limits the protobuf form, to
// 10,000.
const otlpDepth = 200

// UnmarshalOTLP decodes OTLP in JSON. It differs from the protobuf mapping in two ways
// (OpenTelemetry Protocol specification, "JSON Protobuf Encoding"): trace and span ids are in hex,
// not base64, and unknown fields are ignored.
func UnmarshalOTLP(data []byte, m proto.Message) error {
	mapped, err := recodeIDs(data, hex.DecodeString, base64.StdEncoding.EncodeToString)
	if err != nil {
		return fmt.Errorf("OTLP in JSON: %w", err)
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: otlpDepth}.Unmarshal(mapped, m)
}

// MarshalOTLP encodes OTLP in JSON as UnmarshalOTLP reads it. Enumerations are numbers, as the
// specification requires, and the keys of each object are sorted.
func MarshalOTLP(m proto.Message) ([]byte, error) {
	mapped, err := protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(m)
	if err != nil {
		return nil, err
	}
	return recodeIDs(mapped, base64.StdEncoding.DecodeString, hex.EncodeToString)
}

// recodeIDs rewrites the trace and span ids in a JSON object from one encoding to another.
func recodeIDs(data []byte, decode func(string) ([]byte, error), encode func([]byte) string) ([]byte, error) {
	var tree any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, errors.New("more than one value")
	}
	if _, ok := tree.(map[string]any); !ok {
		return nil, errors.New("not an object")
	}
	var walk func(v any, depth int) error
	walk = func(v any, depth int) error {
		if depth > otlpDepth {
			return fmt.Errorf("nested deeper than %d", otlpDepth)
		}
		switch v := v.(type) {
		case []any:
			for _, e := range v {
				if err := walk(e, depth+1); err != nil {
					return err
				}
			}
		case map[string]any:
			for k, e := range v {
				text, isText := e.(string)
				if !isText || !isID(k) {
					if err := walk(e, depth+1); err != nil {
						return err
					}
					continue
				}
				id, err := decode(text)
				if err != nil {
					return fmt.Errorf("%s %.40q is not hex", k, text)
				}
				v[k] = encode(id)
			}
		}
		return nil
	}
	if err := walk(tree, 0); err != nil {
		return nil, err
	}
	return json.Marshal(tree)
}

// isID reports whether an OTLP field holds a trace or span id.
func isID(name string) bool {
	switch name {
	case "traceId", "trace_id", "spanId", "span_id", "parentSpanId", "parent_span_id":
		return true
	}
	return false
}
