package runtime

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"

	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

type (
	traceID [16]byte
	spanID  [8]byte
)

func (t traceID) String() string { return hex.EncodeToString(t[:]) }
func (s spanID) String() string  { return hex.EncodeToString(s[:]) }

// MaxSpans is the maximum number of spans read of one trace.
const MaxSpans = 200_000

// span is a span of a trace as it is in the log, and as it was interpreted.
type span struct {
	id, parent spanID
	service    string
	version    string
	raw        *tracepb.Span
	seen       *recountv1.Observation
	at         schemas.Position

	// The fields below form the tree: up is the index of the parent, or -1 for a root.
	up      int
	depth   int
	below   []int
	missing bool // its parent is named, but not among the spans
	cycle   bool // it is its own ancestor; the tree is cut above it
}

func (s *span) failed() bool { return s.seen.Status == recountv1.Status_STATUS_ERROR }

func (s *span) end() int64 { return s.seen.StartUnixNano + s.seen.DurationNano }

// spans reads a trace's spans from the log, ordered by start. Duplicates of a span of one service
// count once. left reports whether there are more spans than were read.
func (a *session) spans(trace traceID) (all []span, left bool, err error) {
	positions, err := a.view.Trace(a.Ctx, trace)
	if err != nil {
		return nil, false, err
	}
	slices.SortFunc(positions, schemas.Position.Compare)
	type identity struct {
		id      spanID
		service string
	}
	known := map[identity]bool{}
	step := query.Step{Operator: "spans", Inputs: map[string]string{"trace": trace.String()}}
	for _, p := range positions {
		if err := a.Ctx.Err(); err != nil {
			return nil, false, err
		}
		some, err := a.spansAt(p, trace)
		if err != nil {
			return nil, false, err
		}
		if len(step.Hits) < maxHits {
			step.Hits = append(step.Hits, query.Evidence{Position: p})
		}
		for _, s := range some {
			if k := (identity{s.id, s.service}); !known[k] {
				known[k] = true
				all = append(all, s)
			}
		}
		if len(all) >= MaxSpans {
			all, left = all[:MaxSpans], true
			break
		}
	}
	slices.SortStableFunc(all, func(x, y span) int {
		return cmp.Or(cmp.Compare(x.seen.StartUnixNano, y.seen.StartUnixNano), cmp.Compare(y.seen.DurationNano, x.seen.DurationNano), slices.Compare(x.id[:], y.id[:]))
	})
	step.Counts = map[string]int64{"events": int64(len(positions)), "spans": int64(len(all))}
	a.Step(step)
	a.RecordTime("spans")
	return all, left, nil
}

// maxHits is the maximum number of positions listed in a step of a proof.
const maxHits = 20

// spansAt reads the spans of a trace that one event contains.
func (a *session) spansAt(p schemas.Position, trace traceID) (all []span, err error) {
	lr, err := a.s.Event(a.Ctx, p)
	if err != nil {
		return nil, fmt.Errorf("read the event at %s: %w", p, err)
	}
	e, err := lr.Event()
	if err != nil {
		return nil, fmt.Errorf("event at %s: %w", p, err)
	}
	payload, err := e.DecodePayload()
	if err != nil {
		return nil, fmt.Errorf("event at %s: %w", p, err)
	}
	data, ok := payload.(*tracepb.TracesData)
	if !ok {
		return nil, fmt.Errorf("event at %s: a %s holds no spans: run recount verify", p, e.Type)
	}
	batch, err := a.s.Observe(a.Ctx, lr)
	if err != nil {
		return nil, fmt.Errorf("event at %s: %w", p, err)
	}
	raw := flat(data)
	for _, o := range batch.GetObservations() {
		if string(o.TraceId) != string(trace[:]) || len(o.SpanId) != len(spanID{}) || int(o.Index) >= len(raw) || int(o.Observer) >= len(batch.Observers) {
			continue
		}
		by := batch.Observers[o.Observer]
		s := span{id: spanID(o.SpanId), service: by.Service, version: by.Version, raw: raw[o.Index], seen: o, at: p, up: -1}
		if len(o.ParentId) == len(s.parent) {
			s.parent = spanID(o.ParentId)
		}
		all = append(all, s)
	}
	return all, nil
}

// flat returns the spans of an export in its order, which Observation.index refers to.
func flat(data *tracepb.TracesData) (all []*tracepb.Span) {
	for _, r := range data.GetResourceSpans() {
		for _, s := range r.GetScopeSpans() {
			all = append(all, s.GetSpans()...)
		}
	}
	return all
}

// buildTree builds the tree of spans, which must be ordered by start. A span is below its parent, one
// whose parent never arrived is a root, and a cycle is cut above its earliest span. It returns the
// indexes in display order: each span before its children, and these by start.
func buildTree(all []span) []int {
	byID := map[spanID][]int{}
	for i := range all {
		byID[all[i].id] = append(byID[all[i].id], i)
	}
	var roots []int
	for i := range all {
		s := &all[i]
		s.up = parentOf(all, byID, i)
		s.missing = s.up < 0 && s.parent != spanID{} && s.parent != s.id
		s.cycle = s.parent == s.id && s.up < 0
		if s.up < 0 {
			roots = append(roots, i)
		} else {
			all[s.up].below = append(all[s.up].below, i)
		}
	}
	order := make([]int, 0, len(all))
	reached := make([]bool, len(all))
	walk := func(root int) {
		for stack := []int{root}; len(stack) > 0; {
			i := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			if reached[i] {
				continue
			}
			reached[i] = true
			order = append(order, i)
			if up := all[i].up; up >= 0 {
				all[i].depth = all[up].depth + 1
			}
			for _, b := range slices.Backward(all[i].below) {
				stack = append(stack, b)
			}
		}
	}
	for _, r := range roots {
		walk(r)
	}
	for i := range all { // spans that no root leads to are in a cycle
		if !reached[i] {
			s := &all[i]
			up := s.up
			all[up].below = slices.DeleteFunc(all[up].below, func(b int) bool { return b == i })
			s.up, s.cycle = -1, true
			walk(i)
		}
	}
	return order
}

// parentOf returns the index of a span's parent, or -1 if it has none among the spans. With
// Zipkin's shared ids the called side is below the caller's side with the same id, and a child of
// both is below the one of its own service.
func parentOf(all []span, byID map[spanID][]int, i int) int {
	s := &all[i]
	if s.seen.Side == recountv1.Side_SIDE_CALLED {
		for _, j := range byID[s.id] {
			if j != i && all[j].seen.Side == recountv1.Side_SIDE_CALLER {
				return j
			}
		}
	}
	if s.parent == s.id {
		return -1
	}
	best := -1
	for _, j := range byID[s.parent] {
		switch {
		case best < 0:
			best = j
		case all[j].service == s.service && all[best].service != s.service:
			best = j
		case (all[j].service == s.service) == (all[best].service == s.service) && all[j].seen.Side == recountv1.Side_SIDE_CALLED && all[best].seen.Side != recountv1.Side_SIDE_CALLED:
			best = j
		}
	}
	return best
}

// attributes returns the attributes of a span as text: all of them, or those of generative AI,
// which describe what an agent did, and of exceptions.
func attributes(s *tracepb.Span, all bool) map[string]string {
	out := map[string]string{}
	add := func(prefix string, kvs []*commonpb.KeyValue) {
		for _, kv := range kvs {
			if all || strings.HasPrefix(kv.Key, "gen_ai.") {
				out[prefix+kv.Key] = textOf(kv.Value, 0)
			}
		}
	}
	add("", s.GetAttributes())
	for _, e := range s.GetEvents() {
		if all || strings.HasPrefix(e.Name, "gen_ai.") || e.Name == "exception" {
			for _, kv := range e.GetAttributes() {
				if all || e.Name != "exception" || kv.Key == "exception.type" || kv.Key == "exception.message" {
					out[e.Name+": "+kv.Key] = textOf(kv.Value, 0)
				}
			}
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// deepest is the maximum depth to which a value is formatted.
const deepest = 8

// textOf formats a value: text as it is, composite values as JSON.
func textOf(v *commonpb.AnyValue, depth int) string {
	if depth > deepest {
		return "…"
	}
	switch v := v.GetValue().(type) {
	case *commonpb.AnyValue_StringValue:
		if depth > 0 {
			return strconv.Quote(v.StringValue)
		}
		return v.StringValue
	case *commonpb.AnyValue_BoolValue:
		return strconv.FormatBool(v.BoolValue)
	case *commonpb.AnyValue_IntValue:
		return strconv.FormatInt(v.IntValue, 10)
	case *commonpb.AnyValue_DoubleValue:
		return strconv.FormatFloat(v.DoubleValue, 'g', -1, 64)
	case *commonpb.AnyValue_BytesValue:
		return strconv.Quote(hex.EncodeToString(v.BytesValue))
	case *commonpb.AnyValue_ArrayValue:
		var parts []string
		for _, x := range v.ArrayValue.GetValues() {
			parts = append(parts, textOf(x, depth+1))
		}
		return "[" + strings.Join(parts, ",") + "]"
	case *commonpb.AnyValue_KvlistValue:
		var parts []string
		for _, kv := range v.KvlistValue.GetValues() {
			parts = append(parts, strconv.Quote(kv.Key)+":"+textOf(kv.Value, depth+1))
		}
		return "{" + strings.Join(parts, ",") + "}"
	}
	return ""
}
