package schemas

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

// otlpDepth bounds the nesting of OTLP in JSON; the protobuf form is bounded by
// the protobuf library, at 10,000.
const otlpDepth = 200

// UnmarshalOTLP reads OTLP in JSON. It differs from the protobuf mapping in two
// ways (OpenTelemetry Protocol specification, "JSON Protobuf Encoding"): trace and
// span ids are in hex, not base64, and fields that are not known are ignored.
func UnmarshalOTLP(data []byte, m proto.Message) error {
	var tree any
	d := json.NewDecoder(strings.NewReader(string(data)))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return fmt.Errorf("OTLP in JSON: %w", err)
	}
	if d.More() {
		return fmt.Errorf("OTLP in JSON: more than one value")
	}
	if _, ok := tree.(map[string]any); !ok {
		return fmt.Errorf("OTLP in JSON: not an object")
	}
	if err := hexIDs(tree, 0); err != nil {
		return err
	}
	mapped, err := json.Marshal(tree)
	if err != nil {
		return err
	}
	return protojson.UnmarshalOptions{DiscardUnknown: true, RecursionLimit: otlpDepth}.Unmarshal(mapped, m)
}

// hexIDs turns the ids of a decoded document from hex to base64, in place.
func hexIDs(v any, depth int) error {
	if depth > otlpDepth {
		return fmt.Errorf("OTLP in JSON: nested deeper than %d", otlpDepth)
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			if err := hexIDs(e, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		for k, e := range v {
			switch k {
			case "traceId", "trace_id", "spanId", "span_id", "parentSpanId", "parent_span_id":
				text, ok := e.(string)
				if !ok {
					continue // null, or what the mapping will refuse
				}
				id, err := hex.DecodeString(text)
				if err != nil {
					return fmt.Errorf("OTLP in JSON: %s %.40q is not hex", k, text)
				}
				v[k] = base64.StdEncoding.EncodeToString(id)
			default:
				if err := hexIDs(e, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
