package schemas

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
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

// UnknownService is the service of a resource that names none, as OpenTelemetry's
// resource conventions have it.
const UnknownService = "unknown_service"

// ServiceOf is the service.name of a resource, or UnknownService where it is
// missing, empty or no text.
func ServiceOf(r *resourcepb.Resource) string {
	for _, a := range r.GetAttributes() {
		if a.GetKey() == "service.name" && a.GetValue().GetStringValue() != "" {
			return a.GetValue().GetStringValue()
		}
	}
	return UnknownService
}

// maxServiceKey bounds the key that a service's name makes, in bytes.
const maxServiceKey = 256

// ServiceKey is the key of a service's events: its name, or the first part of one
// that is longer than any name should be.
func ServiceKey(service string) []byte {
	if len(service) > maxServiceKey {
		n := maxServiceKey
		for n > 0 && !utf8.RuneStart(service[n]) {
			n--
		}
		service = service[:n]
	}
	return []byte(service)
}

// SpanTime is the time of an event whose spans ended at most so many nanoseconds
// after 1970: what lies beyond the times that an event may have is the last of them.
func SpanTime(unixNano uint64) time.Time {
	return time.Unix(0, int64(min(unixNano, uint64(maxTime.UnixNano())))).UTC()
}

// LastEnd is the latest end, or start, of spans, in nanoseconds after 1970.
func LastEnd(d *tracepb.TracesData) (last uint64) {
	for _, rs := range d.GetResourceSpans() {
		for _, ss := range rs.GetScopeSpans() {
			for _, s := range ss.GetSpans() {
				last = max(last, s.GetStartTimeUnixNano(), s.GetEndTimeUnixNano())
			}
		}
	}
	return last
}
