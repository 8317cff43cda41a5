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

// SpanWhyRequest asks what led to a failing span, or to one that took longer than usual.
type SpanWhyRequest struct {
	Window
	Ref   string `json:"ref" maxLength:"300" example:"5b8efff798038103d269b633813fc60c" doc:"A trace's id (32 hexadecimal digits), which stands for its deepest failing span or, if none failed, for what made it slower than usual; a failing span's id (16 digits); or TRACE/SPAN."`
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
	Way    []TraceSpan `json:"way" nullable:"false" doc:"The spans from the root of the trace down to it: of more than 100, the first 20 and the last 80."`
	WayCut int         `json:"way_truncated,omitempty" example:"0" doc:"The number of spans left out of way, after its first 20."`
	// Subject is the operation whose failures were counted.
	Subject *Subject `json:"subject,omitempty" doc:"The operation of its service that the span was part of; absent if no span names one."`
	// Slow is set if the span did not fail, and is explained because it took longer than usual.
	Slow   *Slow       `json:"slow,omitempty" doc:"How much longer it took than usual, if it did not fail. The subject's errors then count requests that took as long."`
	Causes []SpanCause `json:"causes" nullable:"false" doc:"The most plausible causes, the most probable first."`
	// Unknown is set if Unexplained exceeds the score of every cause.
	Unknown     bool    `json:"unknown" doc:"Whether it is most probable that nothing recorded explains the failure. The causes listed are then weak."`
	Unexplained float64 `json:"unexplained" example:"0.07" doc:"The probability that nothing recorded explains it. Together with the scores of all causes it is 1."`
	Total       int     `json:"total" example:"4" doc:"Total number of causes."`
	Truncated   int     `json:"truncated" example:"0" doc:"The number of them left out of the list."`
}

// Slow compares a request with the usual ones of its operation.
type Slow struct {
	Duration int64 `json:"duration_ns" example:"2100000000" doc:"How long it took, in nanoseconds."`
	Usual    int64 `json:"usual_ns" example:"120000000" doc:"How long requests of the operation usually take, in nanoseconds."`
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
	Kind       string           `json:"kind" enum:"commit,configuration,deploy,command,version,dependency" example:"commit" doc:"commit: a commit that changed the code. configuration: a commit that changed configuration files. deploy: a command that starts a service anew. command: another command. version: a version of the service that was not seen before. dependency: what the span called refused it, failed or did not answer, and nothing recorded shows why."`
	Time       time.Time        `json:"time" doc:"The time of the cause; of a dependency that of the failure."`
	Score      float64          `json:"score" example:"0.83" doc:"The probability that it is the cause, 0 to 1: exp of the sum of its evidence, divided by the sum of that for all causes and for the case that nothing recorded explains the failure."`
	Commit     *code.Changed    `json:"commit,omitempty" doc:"The commit."`
	Files      []string         `json:"files,omitempty" doc:"The configuration files that the commit changed."`
	Symbol     *code.Symbol     `json:"symbol,omitempty" doc:"The nearest symbol that the commit changed."`
	Distance   int              `json:"distance,omitempty" example:"1" doc:"The distance in calls from the operation's handler, or from what raised the error, to that symbol."`
	Command    *commands.Intent `json:"command,omitempty" doc:"The command."`
	Version    *Version         `json:"version,omitempty" doc:"The version."`
	Dependency *Dependency      `json:"dependency,omitempty" doc:"What the span called."`
	Evidence   []CauseEvidence  `json:"evidence" nullable:"false" doc:"The evidence."`
}

// Dependency is what a failing span called without success.
type Dependency struct {
	Name    string `json:"name" example:"redis:6379" doc:"The name that the caller uses."`
	Service string `json:"service,omitempty" example:"stock" doc:"The service that answered earlier calls, if it sends spans."`
	System  string `json:"system,omitempty" example:"redis" doc:"The product or protocol."`
}

// CauseEvidence is one piece of evidence for or against a cause.
type CauseEvidence struct {
	Shows  string  `json:"shows" example:"changed what handles it: carts.server.GetCart" doc:"The observation."`
	Weight float64 `json:"weight" example:"2.4" doc:"Its weight, a difference of log-odds; negative evidence speaks against the cause."`
	// Rule names the kind of evidence. The rule prior is the weight before any evidence.
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

// Limits of SpanWhyResponse.Way: the spans of a longer one, and how many of them are from its beginning.
const (
	maxWay   = 100
	WayBegin = 20
)

// wayTo returns the spans from the root of a trace down to one, and how many are left out.
func wayTo(all []span, at int) (way []int, left int) {
	for i := at; i >= 0; i = all[i].up {
		way = append(way, i)
	}
	slices.Reverse(way)
	if left = len(way) - maxWay; left <= 0 {
		return way, 0
	}
	return slices.Delete(way, WayBegin, WayBegin+left), left
}

// WhyOf ranks what may have led to a failing span.
func WhyOf(ctx context.Context, s Sources, r SpanWhyRequest) (SpanWhyResponse, error) {
	resp := SpanWhyResponse{Way: []TraceSpan{}, Causes: []SpanCause{}}
	r.Days = cmp.Or(r.Days, DefaultDays)
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	c := causes{days: time.Duration(r.Days) * day, rates: map[int64]rate{}, onsets: map[uint64]time.Time{}, folders: map[string]*Home{}, places: map[string]string{}}
	trace, err := c.choose(a, r.Ref)
	if err != nil {
		return resp, err
	}
	if c.j, err = a.joiner(); err != nil {
		return resp, err
	}
	resp.Trace = trace.String()
	start := c.all[0].seen.StartUnixNano
	way, left := wayTo(c.all, c.at)
	resp.WayCut = left
	for _, i := range way {
		resp.Way = append(resp.Way, c.j.traceSpan(&c.all[i], start, false))
	}
	if err := c.j.blame(resp.Way); err != nil {
		return resp, err
	}
	resp.Span = resp.Way[len(resp.Way)-1]

	if resp.Subject, err = c.subject(); err != nil {
		return resp, err
	}
	if c.slow != nil {
		resp.Slow = &Slow{Duration: c.span.seen.DurationNano, Usual: c.slow.usual}
	}
	found, unexplained, err := c.find()
	if err != nil {
		return resp, err
	}
	resp.Unexplained = unexplained
	resp.Unknown = len(found) == 0 || found[0].Score < unexplained
	resp.Total = len(found)
	limit := cmp.Or(r.Limit, DefaultCauses)
	resp.Truncated = max(0, len(found)-limit)
	resp.Causes = append(resp.Causes, found[:min(len(found), limit)]...)
	resp.Basis = a.basis(len(found) == 0, c.hint(len(found), resp.Unknown), named("ref", "eq", r.Ref, "days", "le", fmt.Sprint(r.Days))...)
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

// choose finds the span that a reference means, with the tree of its trace. For a trace it is the
// deepest failing span, and the earliest of these; if none failed, it is what made the trace slower
// than usual.
func (c *causes) choose(a *session, ref string) (trace traceID, err error) {
	trace, id, err := parseSpan(ref)
	if err != nil {
		return trace, err
	}
	if trace == (traceID{}) {
		if trace, err = a.failingTrace(id); err != nil {
			return trace, err
		}
	}
	if c.all, _, err = a.spans(trace); err != nil {
		return trace, err
	}
	all := c.all
	if len(all) == 0 {
		return trace, &query.NotFoundError{Ref: ref, Hint: a.s.unknownTrace()}
	}
	c.at = -1
	order := buildTree(all)
	for _, i := range order {
		s := &all[i]
		switch {
		case id != (spanID{}):
			// Of a shared id the called side is meant: its service handles the operation that
			// fails.
			if s.id == id && (c.at < 0 || s.seen.Side == recountv1.Side_SIDE_CALLED) {
				c.at = i
			}
		case s.failed() && (c.at < 0 || s.depth > all[c.at].depth || s.depth == all[c.at].depth && s.seen.StartUnixNano < all[c.at].seen.StartUnixNano):
			c.at = i
		}
	}
	operator := "failing"
	switch {
	case id != (spanID{}) && c.at < 0:
		return trace, &query.NotFoundError{Ref: ref, Hint: "the trace has no span of that id"}
	case id != (spanID{}) && !all[c.at].failed():
		in := observed.Range{From: all[c.at].seen.StartUnixNano - int64(c.days), To: all[c.at].seen.StartUnixNano + int64(time.Minute)}
		if sum, err := a.typicalOf(&all[c.at], in); err != nil {
			return trace, err
		} else if sum != nil {
			c.slow = unusual(all[c.at].seen.DurationNano, sum)
		}
	case c.at < 0:
		operator = "slower than usual"
		if c.at, c.slow, err = a.slowest(all, order, c.days); err != nil {
			return trace, err
		}
		if c.at < 0 {
			return trace, &query.NotFoundError{Ref: ref, Hint: "no span of that trace failed, and none took longer than its operation usually does; name another span by TRACE/SPAN"}
		}
	}
	c.span = &all[c.at]
	c.until = time.Unix(0, c.span.seen.StartUnixNano).UTC()
	c.from = c.until.Add(-c.days)
	a.Step(query.Step{Operator: operator, Inputs: map[string]string{"span": c.span.id.String(), "service": c.span.service}, Hits: []query.Evidence{{Position: c.span.at}}})
	return trace, nil
}

// subject returns the operation that a span was part of: that of the nearest span of the called
// side at or above it in its own service.
func (c *causes) subject() (*Subject, error) {
	i := c.at
	for i >= 0 && c.all[i].service == c.span.service && c.all[i].seen.Side != recountv1.Side_SIDE_CALLED {
		i = c.all[i].up
	}
	c.handle = i
	if i < 0 || c.all[i].service != c.span.service {
		c.handle = c.at
		return nil, nil
	}
	o := c.all[i].seen
	c.of = &Subject{Service: c.all[i].service, Operation: o.Operation, Code: c.j.ofSpan(&c.all[i])}
	c.kind = o.Kind
	if c.slow != nil && i != c.at {
		// The requests of the subject are counted, so it is compared with them.
		in := observed.Range{From: c.from.UnixNano(), To: c.end().UnixNano()}
		sum, err := c.j.a.typicalOf(&c.all[i], in)
		if err != nil {
			return nil, err
		}
		if slow := unusual(o.DurationNano, sum); slow != nil {
			c.slow.limit = slow.limit
		}
	}
	r, err := c.rate(c.end())
	if err != nil {
		return nil, err
	}
	c.of.Count, c.of.Errors = r.count, r.errors
	if r.errors > 0 {
		if c.of.Since, err = c.firstFailure(0); err != nil {
			return nil, err
		}
	}
	c.j.a.Step(query.Step{
		Operator: "first failure", Inputs: map[string]string{"service": c.of.Service, "operation": c.of.Operation, "since": c.of.Since.Format(time.RFC3339)},
		Counts: map[string]int64{"served": int64(c.of.Count), "failed": int64(c.of.Errors)},
	})
	c.j.a.RecordTime("first failure")
	return c.of, nil
}

// hint returns what the search could not see.
func (c *causes) hint(found int, unknown bool) string {
	unjoined := ""
	if c.of != nil && (c.of.Code == nil || !c.of.Code.Resolved()) {
		unjoined = "the code that handles it is not known"
		if c.of.Code != nil {
			unjoined += ": " + c.of.Code.Why
		}
	}
	switch {
	case found == 0 && c.of == nil:
		return "no span of the service names its operation, and no recorded change concerns it; raise days to search further back"
	case found == 0:
		return strings.TrimPrefix(unjoined+"; no recorded change of these days concerns it; raise days to search further back", "; ")
	case unknown:
		return strings.TrimPrefix(unjoined+"; nothing recorded explains this: the causes listed are weak", "; ")
	case unjoined != "":
		return unjoined
	}
	return c.j.c.Left()
}
