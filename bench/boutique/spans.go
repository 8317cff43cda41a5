package main

import (
	"bufio"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	resourcepb "go.opentelemetry.io/proto/otlp/resource/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// span is a row of a trace file.
type span struct {
	trace, id, parent string // hex; parent is "" for a root
	pod, operation    string
	start, end        uint64
}

// service returns the pod's name without the hashes of its replica set and its own.
func (s span) service() string {
	parts := strings.Split(s.pod, "-")
	return strings.Join(parts[:max(1, len(parts)-2)], "-")
}

var header = []string{"TraceID", "SpanID", "ParentID", "PodName", "OperationName", "StartTimeUnixNano", "EndTimeUnixNano", "Duration"}

func readFile(name string) ([]span, error) {
	if strings.HasSuffix(name, ".xz") {
		out, err := exec.Command("xz", "-dc", name).Output()
		if err != nil {
			return nil, fmt.Errorf("xz: %w", err)
		}
		return readSpans(strings.NewReader(string(out)))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSpans(f)
}

func readSpans(r io.Reader) ([]span, error) {
	in := csv.NewReader(bufio.NewReader(r))
	rows, err := in.ReadAll()
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 || !slices.Equal(rows[0], header) {
		return nil, fmt.Errorf("the first line is not %s", strings.Join(header, ","))
	}
	var all []span
	for i, row := range rows[1:] {
		s := span{trace: row[0], id: row[1], parent: row[2], pod: row[3], operation: row[4]}
		if s.parent == "root" {
			s.parent = ""
		}
		var err1, err2 error
		s.start, err1 = strconv.ParseUint(row[5], 10, 64)
		s.end, err2 = strconv.ParseUint(row[6], 10, 64)
		if err1 != nil || err2 != nil {
			return nil, fmt.Errorf("line %d: start %q, end %q: not nanoseconds", i+2, row[5], row[6])
		}
		all = append(all, s)
	}
	return all, nil
}

// export is a set of spans that a service sends at once.
type export struct {
	service string
	data    *tracepb.TracesData
}

// perExport is the approximate number of spans that SDKs send at once.
const perExport = 100

// exports splits the spans of each pod, in the given order, into exports of size spans,
// ordered by their first spans.
func exports(all []span, size int) []export {
	var out []export
	open := map[string]*tracepb.ScopeSpans{}
	for _, s := range all {
		scope := open[s.pod]
		if scope == nil || len(scope.Spans) == size {
			scope = &tracepb.ScopeSpans{}
			open[s.pod] = scope
			out = append(out, export{s.service(), &tracepb.TracesData{ResourceSpans: []*tracepb.ResourceSpans{{
				Resource:   &resourcepb.Resource{Attributes: []*commonpb.KeyValue{text("service.name", s.service()), text("k8s.pod.name", s.pod)}},
				ScopeSpans: []*tracepb.ScopeSpans{scope},
			}}}})
		}
		scope.Spans = append(scope.Spans, &tracepb.Span{
			TraceId: unhex(s.trace), SpanId: unhex(s.id), ParentSpanId: unhex(s.parent),
			Name: s.operation, StartTimeUnixNano: s.start, EndTimeUnixNano: s.end,
		})
	}
	return out
}

func text(key, value string) *commonpb.KeyValue {
	return &commonpb.KeyValue{Key: key, Value: &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: value}}}
}

// unhex returns nil for a string that is not hex; the processor counts such spans.
func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		return nil
	}
	return b
}

// writePart writes traces that cover every pair of calling and called operation in the
// file: the shortest ones that add a pair.
func writePart(w io.Writer, all []span) {
	byTrace := map[string][]span{}
	for _, s := range all {
		byTrace[s.trace] = append(byTrace[s.trace], s)
	}
	traces := make([]string, 0, len(byTrace))
	for t := range byTrace {
		traces = append(traces, t)
	}
	slices.SortFunc(traces, func(a, b string) int {
		if d := len(byTrace[a]) - len(byTrace[b]); d != 0 {
			return d
		}
		return strings.Compare(a, b)
	})
	fmt.Fprintln(w, strings.Join(header, ","))
	seen := map[pair]bool{}
	for _, t := range traces {
		brings := false
		for p := range joined(byTrace[t]) {
			brings = brings || !seen[p]
			seen[p] = true
		}
		if !brings {
			continue
		}
		for _, s := range byTrace[t] {
			if s.parent == "" {
				s.parent = "root"
			}
			fmt.Fprintf(w, "%s,%s,%s,%s,%s,%d,%d,%d\n", s.trace, s.id, s.parent, s.pod, s.operation, s.start, s.end, (s.end-s.start)/1000)
		}
	}
}
