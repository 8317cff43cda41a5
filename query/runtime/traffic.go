package runtime

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// TrafficRequest asks what services serve.
type TrafficRequest struct {
	Window
	Service   string `json:"service,omitempty" maxLength:"4096" example:"carts" doc:"Only this service."`
	Operation string `json:"operation,omitempty" maxLength:"4096" example:"/orders" doc:"Only operations whose name contains this, ignoring case."`
	Failing   bool   `json:"failing,omitempty" doc:"Only failing operations, those with the most errors first."`
	Slow      bool   `json:"slow,omitempty" doc:"Order by p95 latency, the slowest first."`
	Limit     int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of operations."`
}

// TrafficResponse is the answer of traffic.
type TrafficResponse struct {
	query.Basis
	Operations []Traffic `json:"operations" nullable:"false" doc:"The operations, the most frequent first."`
	Total      int       `json:"total" example:"12" doc:"Total number of operations."`
	Folded     int       `json:"folded,omitempty" example:"99000" doc:"The number of operations that are not listed by name: those of a service beyond its first 1,000 are summed up as \"other\", by kind."`
	Truncated  int       `json:"truncated" example:"0" doc:"The number of operations left out because of limit; each sum called other counts as one."`
}

// Traffic is an operation that a service serves.
type Traffic struct {
	Service   string `json:"service" example:"carts" doc:"The service."`
	Kind      string `json:"kind" enum:"calls,rpc,produces,consumes,queries,work" example:"calls" doc:"calls: HTTP, and any call known only by its span kind. rpc: a procedure. consumes: from a topic."`
	Operation string `json:"operation" example:"GET /carts/{id}" doc:"The operation's name."`
	Templated bool   `json:"templated,omitempty" doc:"Whether the operation is a route pattern and not a concrete path."`
	System    string `json:"system,omitempty" example:"grpc" doc:"The protocol or the product."`
	Folded    int    `json:"folded,omitempty" example:"99000" doc:"The number of operations that this entry sums up; its name is then other."`
	Measure
	Code *Join `json:"code" doc:"The code that handles it."`
}

func (r TrafficRequest) check() error {
	return cmp.Or(r.Window.check(), query.CheckName("service", r.Service), query.CheckName("operation", r.Operation), checkLimit(r.Limit))
}

type servedKey struct {
	service   string
	kind      recountv1.RuntimeKind
	operation string
	templated bool
	system    string
}

func keyOfServed(s *observed.ServerSum) servedKey {
	return servedKey{s.Service, s.Kind, s.Operation, s.Templated, s.System}
}

func sumOfServed(s *observed.ServerSum) *observed.Sum {
	return &s.Sum
}

func served(ctx context.Context, v *observed.View, within observed.Range, service string) ([]observed.ServerSum, error) {
	return v.ServerSums(ctx, within, service)
}

// TrafficOf counts what services serve. An error is a *query.RequestError, a
// *query.NotVisibleError, that of ctx, or that of a projection; this holds for the other questions
// too.
func TrafficOf(ctx context.Context, s Sources, r TrafficRequest) (TrafficResponse, error) {
	resp := TrafficResponse{Operations: []Traffic{}}
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	rows, err := served(ctx, a.view, a.within, r.Service)
	if err != nil {
		return resp, err
	}
	seen := len(rows)
	part := strings.ToLower(r.Operation)
	rows = slices.DeleteFunc(rows, func(x observed.ServerSum) bool {
		return !strings.Contains(strings.ToLower(x.Operation), part) || r.Failing && x.Errors == 0
	})
	sure, err := confident(ctx, a, served, r.Service, keyOfServed, sumOfServed)
	if err != nil {
		return resp, err
	}
	a.Step(query.Step{Operator: "served", Counts: map[string]int64{"operations": int64(seen), "matching": int64(len(rows))}})
	a.RecordTime("served")
	resp.Total = len(rows)
	all, folded := foldOperations(ordered(rows, r.Failing, r.Slow, sumOfServed), sure)
	if resp.Folded = folded; folded > 0 {
		all = ordered(all, r.Failing, r.Slow, sumOfListed)
		a.Step(query.Step{Operator: "fold", Inputs: map[string]string{"operations of a service": strconv.Itoa(maxOperations)}, Counts: map[string]int64{"folded": int64(folded)}})
	}
	resp.Truncated = cut(&all, r.Limit)
	j, err := a.joiner()
	if err != nil {
		return resp, err
	}
	for i := range all {
		if err := ctx.Err(); err != nil {
			return resp, err
		}
		x := &all[i]
		handled := unresolved("it stands for several operations")
		if x.folded == 0 {
			handled = j.joinOf(operation{x.Service, x.Kind, x.Operation, x.Templated})
		}
		resp.Operations = append(resp.Operations, Traffic{
			Service: x.Service, Kind: kindName(x.Kind), Operation: x.Operation, Templated: x.Templated, System: x.System,
			Folded: x.folded, Measure: measure(&x.Sum, x.confidence), Code: handled,
		})
	}
	j.prove()
	hint := j.c.Left()
	if resp.Total == 0 {
		if hint, err = a.nothingServed(seen, r.Service); err != nil {
			return resp, err
		}
	}
	resp.Basis = a.basis(resp.Total == 0, hint, named("service", "eq", r.Service, "operation", "contains", r.Operation, "failing", "eq", truth(r.Failing))...)
	return resp, nil
}

// nothingServed returns the reason why nothing was served, even if there were spans.
func (a *session) nothingServed(seen int, service string) (string, error) {
	if seen > 0 {
		return a.nothing(), nil
	}
	calls, err := a.view.Calls(a.Ctx, a.within, service)
	if err != nil || len(calls) == 0 {
		return a.nothing(), err
	}
	return "the spans of this time have no kind (server, client, …), so none is known to be the served side; see recount runtime edges for calls", nil
}

// ordered sorts rows by failures, by slowness, or by count, the greatest first. Equal rows keep
// their order, which is by name.
func ordered[R any](rows []R, failing, slow bool, sum func(*R) *observed.Sum) []R {
	type row struct {
		at            int
		p95           float64
		errors, count uint64
	}
	order := make([]row, len(rows))
	for i := range rows {
		s := sum(&rows[i])
		order[i] = row{at: i, count: s.Count}
		if failing {
			order[i].errors = s.Errors
		} else if slow {
			order[i].p95, _ = s.Quantile(0.95)
		}
	}
	slices.SortStableFunc(order, func(a, b row) int {
		return cmp.Or(cmp.Compare(b.errors, a.errors), cmp.Compare(b.p95, a.p95), cmp.Compare(b.count, a.count))
	})
	all := make([]R, len(rows))
	for i, o := range order {
		all[i] = rows[o.at]
	}
	return all
}

// cut truncates a list to a limit, and returns the number of omitted rows.
func cut[R any](all *[]R, limit int) int {
	n := cmp.Or(limit, DefaultLimit)
	left := max(0, len(*all)-n)
	*all = (*all)[:min(len(*all), n)]
	return left
}

// named returns the filters with a value. Its arguments are triples of field, operator and value.
func named(of ...string) (all []query.AppliedFilter) {
	for i := 0; i+2 < len(of); i += 3 {
		if of[i+2] != "" {
			all = append(all, query.AppliedFilter{Field: of[i], Op: of[i+1], Value: of[i+2]})
		}
	}
	return all
}

func truth(b bool) string {
	if !b {
		return ""
	}
	return strconv.FormatBool(b)
}
