package otlpwire_test

import (
	"errors"
	"testing"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/recountdb/recount/schemas/otlpwire"
)

// TestTables compares the tables with the descriptors of OTLP: each string, bytes and message field
// is in the table of its message, except ids, which are no text.
func TestTables(t *testing.T) {
	seen := map[*otlpwire.Message]bool{}
	var compare func(m *otlpwire.Message, d protoreflect.MessageDescriptor)
	compare = func(m *otlpwire.Message, d protoreflect.MessageDescriptor) {
		if seen[m] {
			return
		}
		seen[m] = true
		for i := range d.Fields().Len() {
			fd := d.Fields().Get(i)
			var want string
			switch fd.Kind() {
			case protoreflect.StringKind:
				want = "text"
			case protoreflect.MessageKind:
				want = "message"
			case protoreflect.BytesKind:
				if want = "bytes"; d.Name() != "AnyValue" {
					want = "other" // an id
				}
			default:
				continue
			}
			// A field with empty content, which is valid for each kind.
			b := []byte{byte(fd.Number())<<3 | 2, 0}
			f := m.Read(b)
			if !f.Next() {
				t.Fatal(fd.FullName(), f.Err())
			}
			field := f.Field()
			got := map[otlpwire.Kind]string{otlpwire.Other: "other", otlpwire.Name: "text", otlpwire.Text: "text", otlpwire.Bytes: "bytes", otlpwire.Nested: "message"}[field.Kind]
			if got != want {
				t.Errorf("%s is %s in the table, want %s", fd.FullName(), got, want)
			}
			if got == "message" && want == "message" {
				compare(field.Of, fd.Message())
			}
		}
	}
	compare(otlpwire.Traces, (&tracepb.TracesData{}).ProtoReflect().Descriptor())
	for m, d := range map[*otlpwire.Message]protoreflect.ProtoMessage{
		otlpwire.Resource: &resourcepb.Resource{}, otlpwire.KeyValue: &commonpb.KeyValue{}, otlpwire.AnyValue: &commonpb.AnyValue{}, otlpwire.Status: &tracepb.Status{},
	} {
		if !seen[m] {
			t.Errorf("%s was not reached", d.ProtoReflect().Descriptor().FullName())
		}
	}
}

// TestMalformed checks that an iteration of damaged bytes ends with an error.
func TestMalformed(t *testing.T) {
	for name, b := range map[string][]byte{
		"length beyond the end": {0x0a, 5, 1}, "no length": {0x0a}, "field 0": {0x00, 1}, "end of a group": {0x0c},
		"field number too large": {0xfa, 0xff, 0xff, 0xff, 0x7f, 0}, "number cut short": {0x39, 1, 2},
	} {
		f := otlpwire.Span.Read(b)
		for f.Next() {
			t.Errorf("%s: field %d", name, f.Num)
		}
		if !errors.Is(f.Err(), otlpwire.ErrMalformed) {
			t.Errorf("%s: %v", name, f.Err())
		}
	}
}
