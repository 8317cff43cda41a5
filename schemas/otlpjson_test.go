package schemas_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/recountdb/recount/schemas"
)

func TestUnmarshalOTLP(t *testing.T) {
	var m tracepb.TracesData
	err := schemas.UnmarshalOTLP([]byte(`{"future":1,"resourceSpans":[{"scopeSpans":[{"spans":[{
		"traceId":"5B8EFFF798038103D269B633813FC60C","spanId":"eee19b7ec3c1b174","kind":2,"startTimeUnixNano":"1544712660000000000",
		"attributes":[{"key":"traceId","value":{"stringValue":"not hex"}}],
		"links":[{"traceId":"5b8efff798038103d269b633813fc60c","spanId":"eee19b7ec3c1b173"}]}]}]}]}`), &m)
	if err != nil {
		t.Fatal(err)
	}
	span := m.ResourceSpans[0].ScopeSpans[0].Spans[0]
	if got, want := hex.EncodeToString(span.TraceId), "5b8efff798038103d269b633813fc60c"; got != want {
		t.Errorf("trace id: got %s, want %s", got, want)
	}
	if got, want := hex.EncodeToString(span.Links[0].SpanId), "eee19b7ec3c1b173"; got != want {
		t.Errorf("span id of the link: got %s, want %s", got, want)
	}
	if got, want := span.Attributes[0].Value.GetStringValue(), "not hex"; got != want {
		t.Errorf("attribute: got %q, want %q", got, want)
	}
	if got, want := span.StartTimeUnixNano, uint64(1544712660000000000); got != want {
		t.Errorf("start: got %d, want %d", got, want)
	}
}

// TestEncodedSpansDecode checks that DecodePayload reads the spans that EncodePayload writes.
func TestEncodedSpansDecode(t *testing.T) {
	raw, err := os.ReadFile(filepath.Join("testdata", "events", "spans.exported.v1.binpb"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := schemas.Event{Type: schemas.TypeSpansExported, ContentType: schemas.ContentProto, Payload: raw}.DecodePayload()
	if err != nil {
		t.Fatal(err)
	}
	text, err := schemas.EncodePayload(want)
	if err != nil {
		t.Fatal(err)
	}
	if id := `"traceId":"5b8efff798038103d269b633813fc60c"`; !strings.Contains(string(text), id) {
		t.Errorf("no %s in %s", id, text)
	}
	got, err := schemas.Event{Type: schemas.TypeSpansExported, ContentType: schemas.ContentJSON, Payload: text}.DecodePayload()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, protocmp.Transform()); diff != "" {
		t.Error(diff)
	}
}

func TestUnmarshalOTLPRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON":     `{"resourceSpans":`,
		"two values":  `{} {}`,
		"no object":   `[]`,
		"no hex":      `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"W47/95gDgQPSabYzgT/GDA=="}]}]}]}`,
		"nested deep": strings.Repeat(`{"a":`, 5000) + `1` + strings.Repeat(`}`, 5000),
	} {
		t.Run(name, func(t *testing.T) {
			if err := schemas.UnmarshalOTLP([]byte(text), &tracepb.TracesData{}); err == nil {
				t.Error("got no error")
			}
		})
	}
}
