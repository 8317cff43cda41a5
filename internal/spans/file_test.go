package spans_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/internal/spans"
)

// asJSON returns OTLP in JSON with one span, numbered n.
func asJSON(n int) string {
	return fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"%032x","spanId":"%016x","name":"op %d"}]}]}]}`, n+1, n+1, n)
}

func asProto(t testing.TB, n int) []byte {
	t.Helper()
	b, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{of("cart", numbered(n))}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func frame(b []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

func gzipped(b []byte) []byte {
	var buf bytes.Buffer
	z := gzip.NewWriter(&buf)
	_, _ = z.Write(b)
	_ = z.Close()
	return buf.Bytes()
}

func zstded(t testing.TB, b []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(b, nil)
}

// read counts the spans of a file and collects what was skipped.
func read(file []byte) (n int, skipped []string, err error) {
	for b, e := range spans.Exports(bytes.NewReader(file)) {
		var skip *spans.SkipError
		if errors.As(e, &skip) {
			skipped = append(skipped, skip.Error())
			continue
		}
		if e != nil {
			return n, skipped, e
		}
		var m tracepb.TracesData
		if err := proto.Unmarshal(b, &m); err != nil {
			return n, skipped, err
		}
		for _, rs := range m.ResourceSpans {
			for _, ss := range rs.ScopeSpans {
				n += len(ss.Spans)
			}
		}
	}
	return n, skipped, nil
}

func TestFiles(t *testing.T) {
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(asJSON(1)), "", "  "); err != nil {
		t.Fatal(err)
	}
	lines := asJSON(1) + "\n\n" + asJSON(2) + "\r\n" + asJSON(3)
	large, err := proto.Marshal(&tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{of("cart", run(0, 20_000)...), of("front", run(0, 20_000)...)}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		why     string
		file    []byte
		spans   int
		skipped string
	}{
		{"nothing", nil, 0, ""},
		{"a document", []byte(asJSON(1)), 1, ""},
		{"a document over lines", pretty.Bytes(), 1, ""},
		{"two documents over lines", append(pretty.Bytes(), pretty.Bytes()...), 2, ""},
		{"lines", []byte(lines), 3, ""},
		{"lines, one of them torn", []byte(asJSON(1) + "\n{\"resourceSp\n" + asJSON(2) + "\n"), 2, "line 2: OTLP in JSON: "},
		{"lines of other signals", []byte(asJSON(1) + "\n" + `{"resourceMetrics":[]}` + "\n"), 1, "line 2: it holds metrics (resourceMetrics): only traces are kept"},
		{"logs alone", []byte(`{"resourceLogs":[{"scopeLogs":[]}]}`), 0, "line 1: it holds logs"},
		{"exports of nothing", []byte("{}\n" + `{"resourceSpans":[]}` + "\n"), 0, ""},
		{"JSON of something else", []byte(`{"foo":1,"bar":2}`), 0, "line 1: it has no resourceSpans, so it is not OTLP; its fields are bar, foo"},
		{"lines in gzip", gzipped([]byte(lines)), 3, ""},
		{"lines in zstd", zstded(t, []byte(lines)), 3, ""},
		{"protobuf", append(asProto(t, 1), asProto(t, 2)...), 2, ""},
		{"protobuf, large", large, 40_000, ""},
		{"protobuf in gzip", gzipped(large), 40_000, ""},
		{"after their length", append(frame(asProto(t, 1)), frame(asProto(t, 2))...), 2, ""},
		{"after their length, in zstd", append(frame(zstded(t, asProto(t, 1))), frame(zstded(t, []byte(asJSON(2))))...), 2, ""},
		{"after their length, one damaged", append(frame([]byte("{]")), frame(asProto(t, 2))...), 1, "message 1: "},
	} {
		n, skipped, err := read(c.file)
		if err != nil || n != c.spans || !strings.HasPrefix(strings.Join(skipped, ";"), c.skipped) || (c.skipped == "") != (len(skipped) == 0) {
			t.Errorf("%s: %d spans, skipped %q, %v; want %d", c.why, n, skipped, err, c.spans)
		}
	}
	for _, c := range []struct{ why, file, want string }{
		{"text", "hello", "neither OTLP JSON nor OTLP protobuf"},
		{"JSON cut short", `{"resourceSpans":[`, "JSON at byte"},
		{"protobuf cut short", string(large[:len(large)-5]), "cut short"},
		{"another protobuf", "\x0a\x02\x08\x01\x12\x00", "from byte 4 on"},
		{"a frame cut short", "\x00\x00\x00\x09abc", "3 of 9 bytes"},
		{"a length that lies", "\x0f\xff\xff\xffabc", "cut short: 3 of"},
		{"gzip cut short", string(gzipped([]byte(lines))[:20]), "unexpected EOF"},
	} {
		if n, _, err := read([]byte(c.file)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %d spans, %v", c.why, n, err)
		}
	}
}

// FuzzExports reads arbitrary input to its end.
func FuzzExports(f *testing.F) {
	f.Add([]byte(asJSON(1) + "\n" + asJSON(2)))
	f.Add(asProto(f, 1))
	f.Add(frame(asProto(f, 1)))
	f.Add(frame(zstded(f, asProto(f, 1))))
	f.Add(gzipped([]byte(asJSON(1))))
	f.Fuzz(func(_ *testing.T, b []byte) {
		for range spans.Exports(bytes.NewReader(b)) {
			continue
		}
	})
}
