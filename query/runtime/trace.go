package runtime

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TraceRequest asks for one trace.
type TraceRequest struct {
	Window
	Trace      string `json:"trace" minLength:"32" maxLength:"32" example:"5b8efff798038103d269b633813fc60c" doc:"The trace's id, 32 hexadecimal digits."`
	Failing    bool   `json:"failing,omitempty" doc:"Only failing spans and their ancestors."`
	Attributes bool   `json:"attributes,omitempty" doc:"Return all attributes and events of spans. Default: only generative AI (gen_ai.*) attributes and exceptions."`
	Limit      int    `json:"limit,omitempty" minimum:"1" maximum:"200000" default:"200" example:"200" doc:"Maximum number of spans, in the order of the tree."`
}

// DefaultSpans is the default of TraceRequest.Limit.
const DefaultSpans = 200

// TraceResponse is the answer of trace.
type TraceResponse struct {
	query.Basis
	Trace    string      `json:"trace" doc:"The trace's id."`
	Start    time.Time   `json:"start" doc:"The start of its first span."`
	Duration int64       `json:"duration_ns" example:"51000000" doc:"From the first span's start to the last one's end, in nanoseconds, by the services' own clocks."`
	Services []string    `json:"services" nullable:"false" doc:"The services that took part."`
	Failed   int         `json:"failed" example:"2" doc:"The number of failed spans."`
	Spans    []TraceSpan `json:"spans" nullable:"false" doc:"The spans in tree order: each before its children, which are ordered by start."`
	Total    int         `json:"total" example:"17" doc:"Total number of spans."`
	Cut      int         `json:"truncated" example:"0" doc:"The number of requested spans that are left out."`
	Deploys  []DeployOf  `json:"deploys" nullable:"false" doc:"For each service, the deploy before the trace, or else the newest deploy of any kind in the week before."`
}

// DeployOf is the deploy that a service ran with.
type DeployOf struct {
	Service string          `json:"service" example:"carts" doc:"The service."`
	Command commands.Intent `json:"command" doc:"The command."`
	About   string          `json:"about,omitempty" example:"names carts" doc:"How the command relates to the service; empty if it is only the newest deploy."`
}

// TraceSpan is a span of a trace.
type TraceSpan struct {
	ID      string `json:"id" example:"eee19b7ec3c1b174" doc:"The span's id."`
	Parent  string `json:"parent,omitempty" example:"eee19b7ec3c1b173" doc:"The id of its parent span, as recorded."`
	Missing bool   `json:"missing_parent,omitempty" doc:"Whether its parent is not among the trace's spans, so that it is shown at the top."`
	Cycle   bool   `json:"cycle,omitempty" doc:"Whether it is its own ancestor; the tree is cut above it."`
	Depth   int    `json:"depth" example:"2" doc:"Its depth in the tree."`
	Service string `json:"service" example:"carts" doc:"The service that sent it."`
	Version string `json:"version,omitempty" example:"1.4.2" doc:"The service's version."`
	Name    string `json:"name" example:"GET /carts/{id}" doc:"The span's own name."`
	Side    string `json:"side" enum:"caller,called,inside" example:"called" doc:"The end of the call that it describes."`
	Kind    string `json:"kind" enum:"calls,rpc,produces,consumes,queries,work" example:"calls" doc:"The kind of call."`

	Operation string            `json:"operation" example:"GET /carts/{id}" doc:"The called operation, as interpreted."`
	Peer      string            `json:"peer,omitempty" example:"postgres:5432" doc:"The called service, as named by the caller."`
	Start     time.Time         `json:"start" doc:"Its start, by its service's clock."`
	Offset    int64             `json:"offset_ns" example:"120000" doc:"The time since the trace's start, in nanoseconds."`
	Duration  int64             `json:"duration_ns" example:"1200000" doc:"The duration in nanoseconds."`
	Clock     bool              `json:"clock,omitempty" doc:"Whether it ended before it began; the duration is then 0."`
	Failed    bool              `json:"failed,omitempty" doc:"Whether it failed."`
	Status    string            `json:"status,omitempty" example:"503" doc:"The protocol's own code, or the span's status."`
	Message   string            `json:"message,omitempty" doc:"The message of its status."`
	Attribute map[string]string `json:"attributes,omitempty" doc:"Attributes of agents (gen_ai.*) and exceptions, or all if attributes was set."`
	Code      *Join             `json:"code,omitempty" doc:"The code behind it: on the called side, the handler; otherwise the code that the span names."`
	Changed   *code.Changed     `json:"changed,omitempty" doc:"The last commit that changed that code before the span."`
	Position  schemas.Position  `json:"position" doc:"The event that holds it."`
}

func (r TraceRequest) check() error {
	_, err := parseTrace(r.Trace)
	if err == nil && (r.Limit < 0 || r.Limit > MaxSpans) {
		err = &query.RequestError{Field: "limit", Value: r.Limit, Reason: fmt.Sprintf("want 1 to %d", MaxSpans)}
	}
	return cmp.Or(r.Window.check(), err)
}

func parseTrace(s string) (id traceID, err error) {
	if b, derr := hex.DecodeString(s); derr != nil || len(b) != len(id) {
		return id, &query.RequestError{Field: "trace", Value: fmt.Sprintf("%q", s), Reason: "want a trace's id: 32 hexadecimal digits"}
	} else {
		copy(id[:], b)
	}
	return id, nil
}

// TraceOf returns one trace.
func TraceOf(ctx context.Context, s Sources, r TraceRequest) (TraceResponse, error) {
	resp := TraceResponse{Services: []string{}, Spans: []TraceSpan{}, Deploys: []DeployOf{}}
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	id, _ := parseTrace(r.Trace)
	all, left, err := a.spans(id)
	if err != nil {
		return resp, err
	}
	if len(all) == 0 {
		return resp, &query.NotFoundError{Ref: r.Trace, Hint: a.s.unknownTrace()}
	}
	order := buildTree(all)
	resp.Trace, resp.Total = id.String(), len(all)
	start, end := all[0].seen.StartUnixNano, all[0].end()
	wanted := make([]bool, len(all))
	for i := range all {
		x := &all[i]
		start, end = min(start, x.seen.StartUnixNano), max(end, x.end())
		if !slices.Contains(resp.Services, x.service) {
			resp.Services = append(resp.Services, x.service)
		}
		if x.failed() {
			resp.Failed++
		}
		if x.failed() || !r.Failing {
			for j := i; j >= 0 && !wanted[j]; j = all[j].up {
				wanted[j] = true
			}
		}
	}
	slices.Sort(resp.Services)
	resp.Start, resp.Duration = time.Unix(0, start).UTC(), end-start
	order = slices.DeleteFunc(order, func(i int) bool { return !wanted[i] })
	resp.Cut = max(0, len(order)-cmp.Or(r.Limit, DefaultSpans))
	order = order[:len(order)-resp.Cut]
	j, err := a.joiner()
	if err != nil {
		return resp, err
	}
	for _, i := range order {
		resp.Spans = append(resp.Spans, j.traceSpan(&all[i], start, r.Attributes))
	}
	j.prove()
	if err := j.blame(resp.Spans); err != nil {
		return resp, err
	}
	if len(resp.Spans) > 0 {
		if resp.Deploys, err = j.ranWith(resp.Services, resp.Start); err != nil {
			return resp, err
		}
	}
	hint := j.c.Left()
	switch {
	case left:
		hint = fmt.Sprintf("the trace has more than %d spans: only those were read", MaxSpans)
	case r.Failing && resp.Failed == 0:
		hint = "no span of this trace failed"
	}
	resp.Basis = a.basis(len(resp.Spans) == 0, hint, named("trace", "eq", resp.Trace, "failing", "eq", truth(r.Failing))...)
	return resp, nil
}

// traceSpan returns a span as answers show it.
func (j *joiner) traceSpan(s *span, start int64, attrs bool) TraceSpan {
	o := s.seen
	t := TraceSpan{
		ID: s.id.String(), Missing: s.missing, Cycle: s.cycle, Depth: s.depth, Service: s.service, Version: s.version,
		Name: s.raw.GetName(), Side: sideName(o.Side), Kind: kindName(o.Kind), Operation: o.Operation, Peer: o.Peer,
		Start: time.Unix(0, o.StartUnixNano).UTC(), Offset: o.StartUnixNano - start, Duration: o.DurationNano, Clock: o.Clock,
		Failed: s.failed(), Message: s.raw.GetStatus().GetMessage(), Attribute: attributes(s.raw, attrs), Code: j.ofSpan(s), Position: s.at,
	}
	if s.parent != (spanID{}) {
		t.Parent = s.parent.String()
	}
	switch {
	case o.Code != nil:
		t.Status = fmt.Sprint(*o.Code)
	case o.Status != recountv1.Status_STATUS_UNSPECIFIED:
		t.Status = strings.ToLower(strings.TrimPrefix(o.Status.String(), "STATUS_"))
	}
	return t
}

func sideName(s recountv1.Side) string {
	switch s {
	case recountv1.Side_SIDE_CALLER:
		return "caller"
	case recountv1.Side_SIDE_CALLED:
		return "called"
	}
	return "inside"
}

// ofSpan returns the code behind a span: the function that it names, else the handler of its
// operation. It returns nil for spans of the caller's side and for internal work that name no
// function.
func (j *joiner) ofSpan(s *span) *Join {
	o := s.seen
	if o.Function != "" || o.File != "" {
		if join := j.function(s.service, o.Function, o.File, o.Line); join.Resolved() {
			return join
		}
	}
	if o.Side == recountv1.Side_SIDE_CALLED || o.Kind == recountv1.RuntimeKind_RUNTIME_KIND_QUERIES {
		return j.joinOf(operation{s.service, o.Kind, o.Operation, o.Templated})
	}
	return nil
}

// blame adds to spans the last commit before them that changed their code.
func (j *joiner) blame(spans []TraceSpan) error {
	var of []code.Handled
	var at []int
	for i := range spans {
		if c := spans[i].Code; c != nil && c.handled != nil {
			of, at = append(of, *c.handled), append(at, i)
		}
	}
	changes, err := j.c.Changes(of, maxCommits)
	if err != nil {
		return err
	}
	step := query.Step{Operator: "changes", Counts: map[string]int64{"symbols": int64(len(of))}}
	shown := map[string]bool{}
	for k, i := range at {
		for n := range changes[k] {
			if ch := &changes[k][n]; !ch.Time.After(spans[i].Start) {
				spans[i].Changed = ch
				if !shown[ch.Commit] && len(step.Hits) < maxHits {
					shown[ch.Commit] = true
					step.Hits = append(step.Hits, query.Evidence{Position: ch.Position})
				}
				break
			}
		}
	}
	j.a.Step(step)
	j.a.RecordTime("changes")
	return nil
}

// ranWith returns for each service the deploy before a time.
func (j *joiner) ranWith(services []string, at time.Time) ([]DeployOf, error) {
	out := []DeployOf{}
	all, err := j.a.commands("deploy", time.Time{}, at, maxCommands)
	if err != nil {
		return nil, err
	}
	d := deploys{all: all, homes: &j.homes, known: map[string]*commands.Intent{}}
	for _, s := range services {
		if c := d.before(s, at); c != nil {
			out = append(out, DeployOf{s, *c, concerns(*c, s, j.homes.observers, j.homes.homeOf)})
		}
	}
	return out, nil
}
