package runtime

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Limits of traces. They are part of the API.
const (
	DefaultTraces = 20
	MaxTraces     = 1000
	// MaxLookedAt is the number of spans after which no earlier ones are looked at.
	MaxLookedAt = 200_000
)

// TracesRequest asks for the newest traces that have a span of some description.
type TracesRequest struct {
	Window
	Service   string `json:"service,omitempty" maxLength:"4096" example:"carts" doc:"Only traces with a span of this service."`
	Operation string `json:"operation,omitempty" maxLength:"4096" example:"/orders" doc:"Only traces with a span whose operation contains this, ignoring case."`
	Failing   bool   `json:"failing,omitempty" doc:"Only traces in which such a span failed."`
	Longer    int64  `json:"longer_ns,omitempty" minimum:"0" example:"250000000" doc:"Only traces in which such a span took at least this many nanoseconds."`
	Slow      bool   `json:"slow,omitempty" doc:"Order by the duration of the longest such span, the slowest first, and not by time."`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"20" example:"20" doc:"Maximum number of traces."`
}

// TracesResponse is the answer of traces.
type TracesResponse struct {
	query.Basis
	Traces []FoundTrace `json:"traces" nullable:"false" doc:"The traces, the newest first, or the slowest with slow."`
	More   bool         `json:"more,omitempty" doc:"Whether further traces match, or might: limit cut the list, or looked_back_to is set."`
	// LookedBackTo is set if MaxLookedAt spans did not reach the beginning of the window.
	LookedBackTo *time.Time `json:"looked_back_to,omitempty" doc:"Set if the window has more spans than one question looks at: spans received before this time were not looked at."`
}

// FoundTrace describes a trace in a list. All but the matching span is about the whole trace, as far as it
// was received.
type FoundTrace struct {
	Trace     string    `json:"trace" example:"5b8efff798038103d269b633813fc60c" doc:"The trace's id."`
	Start     time.Time `json:"start" doc:"The start of its first span, by its service's clock."`
	Duration  int64     `json:"duration_ns" example:"51000000" doc:"From the first span's start to the last one's end, in nanoseconds, by the services' own clocks."`
	Service   string    `json:"service" example:"frontend" doc:"The service of its first span."`
	Operation string    `json:"operation" example:"POST /checkout" doc:"The operation of its first span."`
	Services  []string  `json:"services" nullable:"false" doc:"The services that took part, in alphabetical order."`
	Spans     int       `json:"spans" example:"17" doc:"The number of spans."`
	Failed    int       `json:"failed" example:"2" doc:"The number of failed spans."`
	// Match is the span for which the trace is listed.
	Match MatchingSpan `json:"match" doc:"The longest span that matches."`
}

// MatchingSpan is a span for which a trace is listed.
type MatchingSpan struct {
	Span      string           `json:"span" example:"eee19b7ec3c1b174" doc:"The span's id."`
	Service   string           `json:"service" example:"carts" doc:"The service that sent it."`
	Operation string           `json:"operation" example:"GET /carts/{id}" doc:"Its operation."`
	Duration  int64            `json:"duration_ns" example:"1200000" doc:"The duration in nanoseconds."`
	Failed    bool             `json:"failed,omitempty" doc:"Whether it failed."`
	Position  schemas.Position `json:"position" doc:"The event that holds it."`
}

func (r TracesRequest) check() error {
	if r.Longer < 0 {
		return &query.RequestError{Field: "longer_ns", Value: r.Longer, Reason: "want 0 or more nanoseconds"}
	}
	return cmp.Or(r.Window.check(), query.CheckName("service", r.Service), query.CheckName("operation", r.Operation), query.CheckLimit(r.Limit, MaxTraces))
}

// TracesOf lists traces. It reads spans from the end of the log backwards, so the newest cost least.
func TracesOf(ctx context.Context, s Sources, r TracesRequest) (TracesResponse, error) {
	resp := TracesResponse{Traces: []FoundTrace{}}
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	l := newLook(a, r)
	if err := l.all(); err != nil {
		return resp, err
	}
	found := l.ordered()
	if len(found) > l.limit {
		found, resp.More = found[:l.limit], true
	}
	for _, m := range found {
		t, err := a.found(m)
		if err != nil {
			return resp, err
		}
		resp.Traces = append(resp.Traces, t)
	}
	if l.spans >= MaxLookedAt && l.next() != nil {
		back := time.Unix(0, l.frontier()).UTC()
		resp.LookedBackTo, resp.More = &back, true
	}
	a.Step(query.Step{Operator: "look", Inputs: map[string]string{"spans at most": strconv.Itoa(MaxLookedAt)}, Counts: map[string]int64{"events": int64(l.events), "spans": int64(l.spans), "traces": int64(len(l.matches))}})
	a.RecordTime("look")
	hint := ""
	switch {
	case len(resp.Traces) > 0:
	case resp.LookedBackTo != nil:
		hint = "no such span among the newest, back to " + resp.LookedBackTo.Format(time.RFC3339) + "; an earlier end of the range looks at earlier ones"
	default:
		hint = a.nothing()
	}
	longer := ""
	if r.Longer > 0 {
		longer = time.Duration(r.Longer).String()
	}
	resp.Basis = a.basis(len(resp.Traces) == 0, hint, named("service", "eq", r.Service, "operation", "contains", r.Operation, "failing", "eq", truth(r.Failing), "duration", "ge", longer)...)
	return resp, nil
}

// match is a trace with its longest span that matches.
type match struct {
	trace   traceID
	start   int64
	longest MatchingSpan
}

// found completes what is said of a trace by all its spans.
func (a *session) found(m *match) (FoundTrace, error) {
	t := FoundTrace{Trace: m.trace.String(), Start: time.Unix(0, m.start).UTC(), Duration: m.longest.Duration, Service: m.longest.Service, Operation: m.longest.Operation, Match: m.longest}
	first, last := int64(math.MaxInt64), int64(math.MinInt64)
	services := map[string]bool{m.longest.Service: true}
	err := a.view.TraceSpans(a.Ctx, m.trace, func(s observed.TraceSpan) {
		t.Spans++
		if s.Failed {
			t.Failed++
		}
		services[s.Service] = true
		if s.Start < first || s.Start == first && s.Duration > t.Duration {
			first, t.Service, t.Operation, t.Duration = s.Start, s.Service, s.Operation, s.Duration
		}
		last = max(last, s.Start+s.Duration)
	})
	if err != nil {
		return t, err
	}
	if t.Spans > 0 {
		t.Start, t.Duration = time.Unix(0, first).UTC(), last-first
	}
	for name := range services {
		t.Services = append(t.Services, name)
	}
	slices.Sort(t.Services)
	return t, nil
}

// look reads spans from the ends of the partitions backwards, and keeps the traces that match.
type look struct {
	a         *session
	r         TracesRequest
	operation string // in lower case
	within    observed.Range
	limit     int

	parts         []*lookPart
	matches       map[traceID]*match
	events, spans int
}

// lookPart is a partition. Its unread events are those below next, and those received before the time
// oldest, as far as events arrive in the order of their time.
type lookPart struct {
	schemas.TopicPartition
	next   int64
	oldest int64
}

// lookPage is the number of events of a partition that are read together.
const lookPage = 64

func newLook(a *session, r TracesRequest) *look {
	l := &look{a: a, r: r, operation: strings.ToLower(r.Operation), within: a.within, limit: cmp.Or(r.Limit, DefaultTraces), matches: map[traceID]*match{}}
	if l.within == (observed.Range{}) {
		l.within = observed.Range{From: math.MinInt64, To: math.MaxInt64}
	}
	below := a.view.Watermark()
	for _, tp := range below.Partitions() {
		if below[tp] > 0 {
			l.parts = append(l.parts, &lookPart{tp, below[tp], math.MaxInt64})
		}
	}
	return l
}

// next returns the partition whose unread events are the newest, nil if all that matters was read.
func (l *look) next() (newest *lookPart) {
	for _, p := range l.parts {
		if p.next > 0 && p.oldest >= l.within.From && (newest == nil || p.oldest > newest.oldest) {
			newest = p
		}
	}
	return newest
}

// frontier returns the time before which events are unread.
func (l *look) frontier() int64 {
	if p := l.next(); p != nil {
		return p.oldest
	}
	return math.MinInt64
}

// all reads until the answer is known, or MaxLookedAt spans were read.
func (l *look) all() error {
	for l.spans < MaxLookedAt {
		p := l.next()
		if p == nil {
			return nil
		}
		if !l.r.Slow && len(l.matches) > l.limit && l.ordered()[l.limit].start >= p.oldest {
			return nil // what is unread began earlier
		}
		if err := l.page(p); err != nil {
			return err
		}
	}
	return nil
}

// page reads the events before those of a partition that were read. A page without any, because retention
// removed them, ends the partition.
func (l *look) page(p *lookPart) error {
	from := max(0, p.next-lookPage)
	at := make([]schemas.Position, 0, lookPage)
	for o := from; o < p.next; o++ {
		at = append(at, schemas.Position{Topic: p.Topic, Partition: p.Partition, Offset: o})
	}
	events := l.events
	err := l.a.s.Events(l.a.Ctx, at, func(lr schemas.LogRecord) error {
		l.events++
		batch, err := l.a.s.Observe(l.a.Ctx, lr)
		if err != nil { // the projection has no spans of it either
			return l.a.Ctx.Err()
		}
		l.take(batch, lr.Position)
		latest := int64(math.MinInt64)
		for _, o := range batch.GetObservations() {
			latest = max(latest, o.StartUnixNano+max(0, o.DurationNano))
		}
		if latest != math.MinInt64 {
			p.oldest = min(p.oldest, latest)
		}
		return nil
	})
	if err != nil {
		return err
	}
	p.next = from
	if events == l.events {
		p.next = 0
	}
	return nil
}

// take keeps the traces of the spans that match.
func (l *look) take(batch *recountv1.SpanBatch, at schemas.Position) {
	l.spans += len(batch.GetObservations())
	for _, o := range batch.GetObservations() {
		if len(o.TraceId) != len(traceID{}) || len(o.SpanId) != len(spanID{}) || int(o.Observer) >= len(batch.Observers) {
			continue // a line of an access log
		}
		failed, took := o.Status == recountv1.Status_STATUS_ERROR, max(0, o.DurationNano)
		service := batch.Observers[o.Observer].Service
		if o.StartUnixNano < l.within.From || o.StartUnixNano >= l.within.To ||
			l.r.Service != "" && service != l.r.Service || l.r.Failing && !failed || took < l.r.Longer ||
			!strings.Contains(strings.ToLower(o.Operation), l.operation) {
			continue
		}
		id := traceID(o.TraceId)
		m := l.matches[id]
		if m == nil {
			m = &match{trace: id, start: o.StartUnixNano, longest: MatchingSpan{Duration: -1}}
			l.matches[id] = m
		}
		m.start = min(m.start, o.StartUnixNano)
		s := MatchingSpan{Span: spanID(o.SpanId).String(), Service: service, Operation: o.Operation, Duration: took, Failed: failed, Position: at}
		if cmp.Or(cmp.Compare(s.Duration, m.longest.Duration), cmp.Compare(m.longest.Span, s.Span), cmp.Compare(m.longest.Service, s.Service)) > 0 {
			m.longest = s
		}
	}
}

// ordered returns the matches in the order of the answer.
func (l *look) ordered() []*match {
	all := make([]*match, 0, len(l.matches))
	for _, m := range l.matches {
		all = append(all, m)
	}
	slices.SortFunc(all, func(x, y *match) int {
		slower := 0
		if l.r.Slow {
			slower = cmp.Compare(y.longest.Duration, x.longest.Duration)
		}
		return cmp.Or(slower, cmp.Compare(y.start, x.start), slices.Compare(x.trace[:], y.trace[:]))
	})
	return all
}
