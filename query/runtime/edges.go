package runtime

import (
	"cmp"
	"context"
	"slices"
	"strings"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// EdgesRequest asks for the calls between services.
type EdgesRequest struct {
	Window
	Service    string `json:"service,omitempty" maxLength:"4096" example:"carts" doc:"Only calls from or to this service."`
	Failing    bool   `json:"failing,omitempty" doc:"Only failed calls, those with the most errors first."`
	Slow       bool   `json:"slow,omitempty" doc:"Order by p95 latency, the slowest first."`
	Undeclared bool   `json:"undeclared,omitempty" doc:"Only calls that the caller's code does not declare, as far as its repository is known."`
	Limit      int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of calls."`
}

// EdgesResponse is the answer of edges.
type EdgesResponse struct {
	query.Basis
	Edges     []RuntimeEdge `json:"edges" nullable:"false" doc:"The calls, the most frequent first."`
	Total     int           `json:"total" example:"12" doc:"Total number of calls."`
	Truncated int           `json:"truncated" example:"0" doc:"The number of them left out of the list."`
	// Unjudged is set only with Undeclared.
	Unjudged int `json:"unjudged,omitempty" example:"2" doc:"With undeclared: the number of calls that cannot be judged, because the caller's repository is not known, or the called operation is neither a route nor a procedure of the code."`
}

// RuntimeEdge is a call from one service to another, or to a peer that sends no spans.
type RuntimeEdge struct {
	Caller    string `json:"caller" example:"web" doc:"The calling service."`
	Callee    string `json:"callee" example:"carts" doc:"The called service; if it is outside, its name in the caller's spans."`
	Outside   bool   `json:"outside,omitempty" doc:"Whether the called service sends no spans, such as a database or another company's service."`
	Kind      string `json:"kind" enum:"calls,rpc,produces,consumes,queries,work" example:"rpc" doc:"The kind of call."`
	Operation string `json:"operation" example:"shop.v1.Carts/GetCart" doc:"The called operation, as named by the called service, or else by the caller."`
	System    string `json:"system,omitempty" example:"grpc" doc:"The protocol or the product."`
	Measure
	Code *Join `json:"code" doc:"The code that handles it."`
	// Declared is empty if it was not searched for.
	Declared []Declaration `json:"declared,omitempty" doc:"The places in the caller's code that make the call."`
}

// Declaration is a place in the code that makes a call.
type Declaration struct {
	Symbol     code.Symbol `json:"symbol" doc:"The symbol that makes the call."`
	Confidence float64     `json:"confidence" example:"0.98" doc:"Confidence, 0 to 1."`
}

func (r EdgesRequest) check() error {
	return cmp.Or(r.Window.check(), query.CheckName("service", r.Service), checkLimit(r.Limit))
}

// row is an aggregated call.
type row struct {
	edgeKey
	observed.Sum
}

type edgeKey struct {
	caller, callee string
	outside        bool
	kind           recountv1.RuntimeKind
	operation      string
	templated      bool
	system         string
}

// calls returns the calls of a range: those between services, and those without a span of the
// callee, with the caller's name for it.
func calls(ctx context.Context, v *observed.View, within observed.Range, service string) ([]row, error) {
	pairs, err := v.Calls(ctx, within, service)
	if err != nil {
		return nil, err
	}
	var all []row
	at := map[edgeKey]int{}
	add := func(k edgeKey, s *observed.Sum) {
		i, ok := at[k]
		if !ok {
			at[k] = len(all)
			all = append(all, row{k, *s})
			return
		}
		all[i].Merge(s)
	}
	type asked struct {
		service   string
		kind      recountv1.RuntimeKind
		operation string
		peer      string
		system    string
	}
	type tally struct{ count, errors uint64 }
	answered := map[asked]tally{}
	for i := range pairs {
		p := &pairs[i]
		if p.AskedOperation != "" || p.AskedKind != recountv1.RuntimeKind_RUNTIME_KIND_UNSPECIFIED {
			k := asked{p.Caller, p.AskedKind, p.AskedOperation, p.Peer, p.AskedSystem}
			t := answered[k]
			answered[k] = tally{t.count + p.Count, t.errors + p.Errors}
		}
		add(edgeKey{caller: p.Caller, callee: p.Callee, kind: p.Kind, operation: p.Operation, templated: p.Templated, system: p.System}, &p.Sum)
	}
	sides, err := v.ClientSums(ctx, within, service)
	if err != nil {
		return nil, err
	}
	for i := range sides {
		x := &sides[i]
		got := answered[asked{x.Service, x.Kind, x.Operation, x.Peer, x.System}]
		if got.count >= x.Count {
			continue
		}
		// Durations and examples are known only for all of these calls together.
		x.Count -= got.count
		x.Errors = min(x.Errors-min(x.Errors, got.errors), x.Count)
		add(edgeKey{caller: x.Service, callee: cmp.Or(x.Peer, x.System, "unknown"), outside: true, kind: x.Kind, operation: x.Operation, templated: x.Templated, system: x.System}, &x.Sum)
	}
	slices.SortStableFunc(all, func(x, y row) int {
		return cmp.Or(cmp.Compare(x.caller, y.caller), cmp.Compare(x.callee, y.callee), cmp.Compare(x.kind, y.kind), cmp.Compare(x.operation, y.operation))
	})
	return all, nil
}

func keyOfRow(r *row) edgeKey       { return r.edgeKey }
func sumOfRow(r *row) *observed.Sum { return &r.Sum }

// EdgesOf lists the calls between services.
func EdgesOf(ctx context.Context, s Sources, r EdgesRequest) (EdgesResponse, error) {
	resp := EdgesResponse{Edges: []RuntimeEdge{}}
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	rows, err := calls(ctx, a.view, a.within, r.Service)
	if err != nil {
		return resp, err
	}
	sure, err := confident(ctx, a, calls, r.Service, keyOfRow, sumOfRow)
	if err != nil {
		return resp, err
	}
	seen := len(rows)
	rows = slices.DeleteFunc(rows, func(x row) bool { return r.Failing && x.Errors == 0 })
	a.RecordTime("calls")
	j, err := a.joiner()
	if err != nil {
		return resp, err
	}
	declared := map[edgeKey][]Declaration{}
	if r.Undeclared {
		rows = slices.DeleteFunc(rows, func(x row) bool {
			if ctx.Err() != nil {
				return true // the request was cancelled
			}
			found, judged := j.declares(&x)
			if !judged {
				resp.Unjudged++
			}
			return !judged || len(found) > 0
		})
		if err := ctx.Err(); err != nil {
			return resp, err
		}
	}
	a.Step(query.Step{Operator: "calls", Counts: map[string]int64{"calls": int64(seen), "matching": int64(len(rows))}})
	rows = ordered(rows, r.Failing, r.Slow, sumOfRow)
	resp.Total = len(rows)
	resp.Truncated = cut(&rows, r.Limit)
	for i := range rows {
		if err := ctx.Err(); err != nil {
			return resp, err
		}
		x := &rows[i]
		if !r.Undeclared {
			declared[x.edgeKey], _ = j.declares(x)
		}
		resp.Edges = append(resp.Edges, RuntimeEdge{
			Caller: x.caller, Callee: x.callee, Outside: x.outside, Kind: kindName(x.kind), Operation: x.operation, System: x.system,
			Measure: measure(&x.Sum, sure(x)), Code: j.called(x), Declared: declared[x.edgeKey],
		})
	}
	j.prove()
	hint := j.c.Left()
	switch {
	case seen == 0:
		hint = a.nothing()
	case resp.Total == 0 && r.Undeclared:
		hint = "the code declares every call that can be judged"
	case resp.Total == 0:
		hint = "no call failed"
	}
	resp.Basis = a.basis(resp.Total == 0, hint, named("service", "eq", r.Service, "failing", "eq", truth(r.Failing), "undeclared", "eq", truth(r.Undeclared))...)
	return resp, nil
}

// called returns the code behind a call: that of the called service, or, if it sends no spans, a
// table in the caller's repository.
func (j *joiner) called(x *row) *Join {
	if !x.outside {
		return j.joinOf(operation{x.callee, x.kind, x.operation, x.templated})
	}
	if x.kind == recountv1.RuntimeKind_RUNTIME_KIND_QUERIES {
		return j.joinOf(operation{x.caller, x.kind, x.operation, false})
	}
	return unresolved("what is called sends no spans")
}

// stubDepth is the maximum number of calls between a service's own code and a generated client:
// through the client's interface, and one helper.
const stubDepth = 3

// maxDeclared is the maximum number of places listed for an edge.
const maxDeclared = 5

// declares returns where the caller's code makes a call. judged reports whether the code can
// answer: the caller's repository is known, and the callee is a route or a procedure of known code.
func (j *joiner) declares(x *row) (found []Declaration, judged bool) {
	home := j.homes.homeOf(x.caller)
	if home == nil || x.outside {
		return nil, false
	}
	var callers []code.Handled
	switch join := j.called(x); {
	case x.kind == recountv1.RuntimeKind_RUNTIME_KIND_RPC:
		// Generated clients may be in a folder of their own, so their callers count.
		callers = j.c.Callers(j.c.ProcedureCallers(x.operation), stubDepth)
		judged = len(callers) > 0 || join.Resolved()
	case join.route != nil:
		callers = j.c.RouteCallers(join.route.Endpoint)
		judged = true
	}
	for _, c := range callers {
		if home.holds(c.Repo, c.Key.Path()) && !c.Test && c.Kind != "route" && len(found) < maxDeclared {
			found = append(found, Declaration{c.Symbol, min(c.Confidence, home.Confidence)})
		}
	}
	slices.SortStableFunc(found, func(a, b Declaration) int {
		return cmp.Or(cmp.Compare(b.Confidence, a.Confidence), strings.Compare(a.Symbol.Place(), b.Symbol.Place()))
	})
	return found, judged
}
