package runtime

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// SpanWhyRequest asks what led to a failing span.
type SpanWhyRequest struct {
	Window
	Ref   string `json:"ref" maxLength:"300" example:"5b8efff798038103d269b633813fc60c" doc:"A trace's id (32 hexadecimal digits), which stands for its deepest failing span; a failing span's id (16 digits); or TRACE/SPAN."`
	Days  int    `json:"days,omitempty" minimum:"1" maximum:"365" default:"7" example:"7" doc:"The number of days before the span to search for causes."`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"10" example:"10" doc:"Maximum number of causes."`
}

// These are the defaults and the limit of a SpanWhyRequest.
const (
	DefaultDays   = 7
	MaxDays       = 365
	DefaultCauses = 10
)

// SpanWhyResponse is the answer of why.
type SpanWhyResponse struct {
	query.Basis
	Trace string    `json:"trace" doc:"The span's trace."`
	Span  TraceSpan `json:"span" doc:"The span that was queried."`
	// Way begins at the root of the trace.
	Way []TraceSpan `json:"way" nullable:"false" doc:"The spans from the root of the trace down to it."`
	// Subject is the operation whose failures were counted.
	Subject   *Subject    `json:"subject,omitempty" doc:"The operation of its service that the span was part of; absent if no span names one."`
	Causes    []SpanCause `json:"causes" nullable:"false" doc:"The most plausible causes, the best supported first."`
	Total     int         `json:"total" example:"4" doc:"Total number of causes."`
	Truncated int         `json:"truncated" example:"0" doc:"The number of them left out of the list."`
}

// Subject is an operation that fails.
type Subject struct {
	Service   string `json:"service" example:"carts" doc:"The service."`
	Operation string `json:"operation" example:"GET /carts/{id}" doc:"The operation."`
	Code      *Join  `json:"code" doc:"The code that handles it."`
	// Since is accurate to the minute.
	Since  time.Time `json:"failing_since,omitzero" doc:"The first failure in the searched days, to the minute."`
	Count  uint64    `json:"count" example:"1402" doc:"The number of requests in those days up to the span."`
	Errors uint64    `json:"errors" example:"14" doc:"The number of failed requests."`
}

// SpanCause is something that may have led to a failing span.
type SpanCause struct {
	Kind     string           `json:"kind" enum:"commit,configuration,deploy,command,version" example:"commit" doc:"commit: a commit that changed the code. configuration: a commit that changed configuration files. deploy: a command of the category deploy. command: a command of the category configure. version: a version of the service that was not seen before."`
	Time     time.Time        `json:"time" doc:"The time of the cause."`
	Score    float64          `json:"score" example:"0.83" doc:"The sum of the evidence's weights, 0 to 1."`
	Commit   *code.Changed    `json:"commit,omitempty" doc:"The commit."`
	Files    []string         `json:"files,omitempty" doc:"The configuration files that the commit changed."`
	Symbol   *code.Symbol     `json:"symbol,omitempty" doc:"The nearest symbol that the commit changed."`
	Distance int              `json:"distance,omitempty" example:"1" doc:"The distance in calls from the operation's handler to that symbol."`
	Command  *commands.Intent `json:"command,omitempty" doc:"The command."`
	Version  *Version         `json:"version,omitempty" doc:"The version."`
	Evidence []CauseEvidence  `json:"evidence" nullable:"false" doc:"The evidence."`
}

// CauseEvidence is one piece of evidence for or against a cause.
type CauseEvidence struct {
	Shows  string  `json:"shows" example:"changed what handles it: carts.server.GetCart" doc:"The observation."`
	Weight float64 `json:"weight" example:"0.45" doc:"Its weight; negative evidence speaks against the cause."`
	// Rule is the name of the weight, as the proof lists it.
	Rule string `json:"rule" example:"handler" doc:"The rule that assigned the weight."`
}

func (r SpanWhyRequest) check() error {
	_, _, err := parseSpan(r.Ref)
	switch {
	case err != nil:
	case r.Days < 0 || r.Days > MaxDays:
		err = &query.RequestError{Field: "days", Value: r.Days, Reason: fmt.Sprintf("want 1 to %d", MaxDays)}
	default:
		err = checkLimit(r.Limit)
	}
	return cmp.Or(r.Window.check(), err)
}

// NamesSpan reports whether a reference has the form of a trace's or a span's.
func NamesSpan(ref string) bool {
	_, _, err := parseSpan(ref)
	return err == nil
}

// parseSpan parses TRACE, SPAN or TRACE/SPAN; the id that is not given is zero.
func parseSpan(ref string) (trace traceID, span spanID, err error) {
	ref = strings.ToLower(strings.TrimSpace(ref))
	bad := &query.RequestError{Field: "ref", Value: fmt.Sprintf("%q", ref), Reason: "want a trace's id (32 hexadecimal digits), a failing span's (16), or TRACE/SPAN"}
	t, s, both := strings.Cut(ref, "/")
	if !both && len(ref) == 2*len(span) {
		t, s = "", ref
	}
	tb, terr := hex.DecodeString(t)
	sb, serr := hex.DecodeString(s)
	if terr != nil || serr != nil || len(tb)+len(sb) == 0 || both && (len(tb) == 0 || len(sb) == 0) ||
		len(tb) != 0 && len(tb) != len(trace) || len(sb) != 0 && len(sb) != len(span) {
		return trace, span, bad
	}
	copy(trace[:], tb)
	copy(span[:], sb)
	return trace, span, nil
}

// WhyOf ranks what may have led to a failing span.
func WhyOf(ctx context.Context, s Sources, r SpanWhyRequest) (SpanWhyResponse, error) {
	resp := SpanWhyResponse{Way: []TraceSpan{}, Causes: []SpanCause{}}
	if err := r.check(); err != nil {
		return resp, err
	}
	r.Days = cmp.Or(r.Days, DefaultDays)
	a, err := s.open(ctx, r.Window)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	trace, all, at, err := a.failing(r.Ref)
	if err != nil {
		return resp, err
	}
	j, err := a.joiner()
	if err != nil {
		return resp, err
	}
	resp.Trace = trace.String()
	start := all[0].seen.StartUnixNano
	for i := at; i >= 0; i = all[i].up {
		resp.Way = append(resp.Way, j.traceSpan(&all[i], start, false))
	}
	slices.Reverse(resp.Way)
	if err := j.blame(resp.Way); err != nil {
		return resp, err
	}
	resp.Span = resp.Way[len(resp.Way)-1]

	c := causes{j: j, span: &all[at], days: time.Duration(r.Days) * day, rates: map[int64]rate{}}
	c.until = time.Unix(0, all[at].seen.StartUnixNano).UTC()
	c.from = c.until.Add(-c.days)
	if resp.Subject, err = c.subject(all, at); err != nil {
		return resp, err
	}
	found, err := c.find(resp.Span.Code)
	if err != nil {
		return resp, err
	}
	resp.Total = len(found)
	limit := cmp.Or(r.Limit, DefaultCauses)
	resp.Truncated = max(0, len(found)-limit)
	resp.Causes = append(resp.Causes, found[:min(len(found), limit)]...)
	resp.Basis = a.basis(len(found) == 0, c.hint(len(found)), named("ref", "eq", r.Ref, "days", "le", fmt.Sprint(r.Days))...)
	return resp, nil
}

// failingTrace returns the only trace with a failing span of an id.
func (a *session) failingTrace(id spanID) (trace traceID, err error) {
	traces, err := a.view.TraceOf(a.Ctx, id)
	if err != nil {
		return trace, err
	}
	var names []string
	for _, t := range traces {
		names = append(names, traceID(t).String()+"/"+id.String())
	}
	switch len(traces) {
	case 0:
		return trace, &query.NotFoundError{Ref: id.String(), Hint: "no failing span with that id was received; name a span that did not fail by TRACE/SPAN"}
	case 1:
		return traces[0], nil
	}
	return trace, &query.NotFoundError{Ref: id.String(), Hint: "several traces have a failing span of that id: name one of " + strings.Join(names[:min(len(names), 8)], ", ")}
}

// failing finds the span that a reference means, and returns it with the tree of its trace. For a
// trace it is the deepest failing span, and the earliest of these.
func (a *session) failing(ref string) (trace traceID, all []span, at int, err error) {
	trace, id, err := parseSpan(ref)
	if err != nil {
		return trace, nil, 0, err
	}
	if trace == (traceID{}) {
		if trace, err = a.failingTrace(id); err != nil {
			return trace, nil, 0, err
		}
	}
	if all, _, err = a.spans(trace); err != nil {
		return trace, nil, 0, err
	}
	if len(all) == 0 {
		return trace, nil, 0, &query.NotFoundError{Ref: ref, Hint: a.s.unknownTrace()}
	}
	at = -1
	for _, i := range buildTree(all) {
		s := &all[i]
		switch {
		case id != (spanID{}):
			// Of a shared id the called side is meant: its service handles the operation that
			// fails.
			if s.id == id && (at < 0 || s.seen.Side == recountv1.Side_SIDE_CALLED) {
				at = i
			}
		case s.failed() && (at < 0 || s.depth > all[at].depth || s.depth == all[at].depth && s.seen.StartUnixNano < all[at].seen.StartUnixNano):
			at = i
		}
	}
	switch {
	case at >= 0:
	case id != (spanID{}):
		return trace, nil, 0, &query.NotFoundError{Ref: ref, Hint: "the trace has no span of that id"}
	default:
		return trace, nil, 0, &query.NotFoundError{Ref: ref, Hint: "no span of that trace failed; name another span by TRACE/SPAN"}
	}
	a.Step(query.Step{Operator: "failing", Inputs: map[string]string{"span": all[at].id.String(), "service": all[at].service}, Hits: []query.Evidence{{Position: all[at].at}}})
	return trace, all, at, nil
}

// rate counts the requests and failures of an operation.
type rate struct{ count, errors uint64 }

// causes is the search for what led to a span.
type causes struct {
	j           *joiner
	span        *span
	from, until time.Time
	days        time.Duration

	of    *Subject
	kind  recountv1.RuntimeKind
	rates map[int64]rate // by end time, from the beginning of the searched days
}

// subject returns the operation that a span was part of: that of the nearest span of the called
// side at or above it in its own service.
func (c *causes) subject(all []span, at int) (*Subject, error) {
	i := at
	for i >= 0 && all[i].service == c.span.service && all[i].seen.Side != recountv1.Side_SIDE_CALLED {
		i = all[i].up
	}
	if i < 0 || all[i].service != c.span.service {
		return nil, nil
	}
	o := all[i].seen
	c.of = &Subject{Service: all[i].service, Operation: o.Operation, Code: c.j.ofSpan(&all[i])}
	c.kind = o.Kind
	end := c.until.Add(time.Minute)
	r, err := c.rate(end)
	if err != nil {
		return nil, err
	}
	c.of.Count, c.of.Errors = r.count, r.errors
	if r.errors > 0 {
		// The number of failures up to a time never decreases, so a binary search finds the first.
		lo, hi := int64(0), int64(end.Sub(c.from)/time.Minute)+1
		for lo < hi {
			mid := (lo + hi) / 2
			r, err := c.rate(c.from.Add(time.Duration(mid) * time.Minute))
			if err != nil {
				return nil, err
			}
			if r.errors > 0 {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		c.of.Since = c.from.Add(time.Duration(lo-1) * time.Minute).Truncate(time.Minute)
	}
	c.j.a.Step(query.Step{
		Operator: "first failure", Inputs: map[string]string{"service": c.of.Service, "operation": c.of.Operation, "since": c.of.Since.Format(time.RFC3339)},
		Counts: map[string]int64{"served": int64(c.of.Count), "failed": int64(c.of.Errors)},
	})
	c.j.a.RecordTime("first failure")
	return c.of, nil
}

// rate returns the requests and failures of the subject from the beginning of the searched days up
// to a time.
func (c *causes) rate(until time.Time) (rate, error) {
	minute := until.Truncate(time.Minute).UnixNano()
	if r, ok := c.rates[minute]; ok {
		return r, nil
	}
	var r rate
	if from := c.from.Truncate(time.Minute).UnixNano(); minute > from {
		rows, err := c.j.a.view.ServerSums(c.j.a.Ctx, observed.Range{From: from, To: minute}, c.of.Service)
		if err != nil {
			return r, err
		}
		for i := range rows {
			if rows[i].Kind == c.kind && rows[i].Operation == c.of.Operation {
				r.count, r.errors = r.count+rows[i].Count, r.errors+rows[i].Errors
			}
		}
	}
	c.rates[minute] = r
	return r, nil
}

// hint returns what the search could not see.
func (c *causes) hint(found int) string {
	switch {
	case found > 0 && c.of != nil && c.of.Code != nil && !c.of.Code.Resolved():
		return "the code that handles it is not known, so no commit could be judged: " + c.of.Code.Why
	case found > 0:
		return c.j.c.Left()
	case c.of == nil:
		return "no span of the service names its operation, and nothing was deployed or configured in these days"
	case c.of.Code == nil || !c.of.Code.Resolved():
		return "the code that handles it is not known, and nothing was deployed or configured in these days; raise days to search further back"
	}
	return "no commit changed the handler or its callees, and nothing was deployed or configured in these days; raise days to search further back"
}
