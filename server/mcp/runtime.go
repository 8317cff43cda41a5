package mcp

import (
	"cmp"
	"context"

	"github.com/recountdb/recount/query/runtime"
)

type runtimeIn struct {
	View    string `json:"view,omitempty" enum:"services,traffic,calls,dead_routes,stats,traces,trace" default:"traffic"`
	Service string `json:"service,omitempty"`
	Match   string `json:"match,omitempty" doc:"part of a route"`
	Trace   string `json:"trace,omitempty" doc:"32 hex digits"`
	Failing bool   `json:"failing,omitempty"`
	Slow    bool   `json:"slow,omitempty"`
	Since   string `json:"since,omitempty" doc:"7d or a time"`
	Repo    string `json:"repo,omitempty"`
	Limit   int    `json:"limit,omitempty"`
	Cursor  string `json:"cursor,omitempty"`
}

func running(ctx context.Context, c *call, in runtimeIn) (a answer, err error) {
	p, err := page("runtime", &in.Cursor, in.Limit, 30, &in)
	if err != nil {
		return a, err
	}
	b, err := c.ask(ctx)
	if err != nil {
		return a, err
	}
	var w runtime.Window
	if w.From, err = since("runtime", in.Since); err != nil {
		return a, err
	}
	view := in.View
	if view == "" && in.Trace != "" {
		view = "trace"
	}
	switch view {
	case "services":
		r, err := runtime.ServicesQuestion.Ask(ctx, b, runtime.ServicesRequest{Window: w, Limit: p.limit()})
		if err != nil {
			return a, err
		}
		r.Services, a.next = cut(p, r.Services)
		r.Next, r.Truncated = "", 0
		a.add(runtime.ServicesQuestion.Path, r, r.Basis)
	case "calls":
		r, err := runtime.EdgesQuestion.Ask(ctx, b, runtime.EdgesRequest{Window: w, Service: in.Service, Failing: in.Failing, Slow: in.Slow, Limit: p.limit()})
		if err != nil {
			return a, err
		}
		r.Edges, a.next = cut(p, r.Edges)
		r.Truncated = 0
		a.add(runtime.EdgesQuestion.Path, r, r.Basis, "bounds")
	case "dead_routes":
		r, err := runtime.DeadRoutesQuestion.Ask(ctx, b, runtime.DeadRoutesRequest{Window: w, Repo: in.Repo, Limit: p.limit()})
		if err != nil {
			return a, err
		}
		r.Routes, a.next = cut(p, r.Routes)
		r.Truncated = 0
		a.add(runtime.DeadRoutesQuestion.Path, r, r.Basis)
	case "stats":
		r, err := runtime.StatsQuestion.Ask(ctx, b, runtime.StatsRequest{Window: w})
		if err != nil {
			return a, err
		}
		a.add(runtime.StatsQuestion.Path, r, r.Basis)
	case "traces":
		r, err := runtime.TracesQuestion.Ask(ctx, b, runtime.TracesRequest{Window: w, Service: in.Service, Operation: in.Match, Failing: in.Failing, Slow: in.Slow, Limit: min(p.limit(), runtime.MaxTraces)})
		if err != nil {
			return a, err
		}
		r.Traces, a.next = cut(p, r.Traces)
		a.add(runtime.TracesQuestion.Path, r, r.Basis)
	case "trace":
		r, err := runtime.TraceQuestion.Ask(ctx, b, runtime.TraceRequest{Window: w, Trace: in.Trace, Failing: in.Failing, Limit: cmp.Or(in.Limit, 100)})
		if err != nil {
			return a, err
		}
		a.add(runtime.TraceQuestion.Path, r, r.Basis, "attributes")
	default:
		r, err := runtime.TrafficQuestion.Ask(ctx, b, runtime.TrafficRequest{Window: w, Service: in.Service, Operation: in.Match, Failing: in.Failing, Slow: in.Slow, Limit: p.limit()})
		if err != nil {
			return a, err
		}
		r.Operations, a.next = cut(p, r.Operations)
		r.Truncated = 0
		a.add(runtime.TrafficQuestion.Path, r, r.Basis)
	}
	return a, nil
}
