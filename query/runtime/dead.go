package runtime

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// DeadRoutesRequest asks for the routes in the code that are never requested.
type DeadRoutesRequest struct {
	Window
	Repo  string `json:"repo,omitempty" maxLength:"4096" example:"github.com/acme/shop" doc:"Only routes of this repository: its name, or the part of it after a slash."`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"50" example:"50" doc:"Maximum number of routes."`
}

// DeadRoutesResponse is the answer of dead-routes.
type DeadRoutesResponse struct {
	query.Basis
	Routes    []DeadRoute `json:"routes" nullable:"false" doc:"Routes of the code that no span in the range shows although their service sent spans, ordered by repository, file and name."`
	Total     int         `json:"total" example:"3" doc:"Total number of such routes."`
	Truncated int         `json:"truncated" example:"0" doc:"The number of them left out of the list."`
	Seen      int         `json:"seen" example:"24" doc:"The number of routes and procedures of the code that spans show."`
	// Unwatched are folders for which this is unknown: no service that may serve them sent any
	// span.
	Unwatched []Unwatched `json:"unwatched" nullable:"false" doc:"Folders for which this cannot be decided, because their services sent no spans in the range."`
}

// DeadRoute is a route or a procedure that was never requested.
type DeadRoute struct {
	Kind    string        `json:"kind" enum:"route,rpc" example:"route" doc:"A route, or a procedure."`
	Name    string        `json:"name" example:"GET /orders/{id}/invoice" doc:"Its method and path as the code writes them, or the procedure's full name."`
	Repo    string        `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	File    string        `json:"file" example:"web/routes.go" doc:"The file that declares it."`
	Line    uint32        `json:"line,omitempty" example:"31" doc:"The line."`
	Handler *code.Symbol  `json:"handler,omitempty" doc:"The code that handles it."`
	By      []string      `json:"services" nullable:"false" doc:"The services that would serve it."`
	Watched time.Time     `json:"watched_since" doc:"The time from which spans of these services are known; earlier requests were not observed."`
	Changed *code.Changed `json:"changed,omitempty" doc:"The last commit that changed the handler, as far as it is known."`
}

// Unwatched is a folder whose routes are served by no service with spans.
type Unwatched struct {
	Repo   string `json:"repo" example:"github.com/acme/shop" doc:"The repository."`
	Dir    string `json:"dir,omitempty" example:"src/admin" doc:"The folder that declares the routes."`
	Routes int    `json:"routes" example:"12" doc:"The number of routes and procedures in it."`
}

func (r DeadRoutesRequest) check() error {
	return cmp.Or(r.Window.check(), query.CheckName("repo", r.Repo), checkLimit(r.Limit))
}

// endpoint is a route or a procedure of the code.
type endpoint struct {
	kind, name string
	at         code.Handled
	handlers   []code.Handled
}

// DeadRoutes lists endpoints that are served and never requested.
func DeadRoutes(ctx context.Context, s Sources, r DeadRoutesRequest) (DeadRoutesResponse, error) {
	resp := DeadRoutesResponse{Routes: []DeadRoute{}, Unwatched: []Unwatched{}}
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	served, err := a.view.ServerSums(ctx, a.within, "")
	if err != nil {
		return resp, err
	}
	known, err := a.view.Services(ctx)
	if err != nil {
		return resp, err
	}
	a.RecordTime("served")
	j, err := a.joiner()
	if err != nil {
		return resp, err
	}
	repo := r.Repo
	if repo != "" {
		var ok bool
		if repo, ok = j.c.Repository(repo); !ok {
			return resp, &query.NotFoundError{Ref: r.Repo, Hint: "no repository of that name has a graph; those with a graph are " + strings.Join(j.c.Repositories(), ", ")}
		}
	}
	asked := map[string]bool{}  // by endpoint.key
	watch := map[string]int64{} // service → first span, of those that served in the range
	firsts := map[string]int64{}
	for _, s := range known {
		firsts[s.Name] = s.First
	}
	// If an operation could be several endpoints, none of them counts as dead.
	for i := range served {
		if err := ctx.Err(); err != nil {
			return resp, err
		}
		x := &served[i]
		watch[x.Service] = firsts[x.Service]
		j.asks(operation{x.Service, x.Kind, x.Operation, x.Templated}, asked)
	}
	unwatched := map[Unwatched]int{}
	var handlers []code.Handled
	for _, e := range j.endpoints(repo) {
		if err := ctx.Err(); err != nil {
			return resp, err
		}
		if asked[e.key()] {
			resp.Seen++
			continue
		}
		by, since := j.servers(e, watch)
		if len(by) == 0 {
			unwatched[Unwatched{Repo: e.at.Repo, Dir: dirOf(e.at.File)}]++
			continue
		}
		d := DeadRoute{Kind: e.kind, Name: e.name, Repo: e.at.Repo, File: e.at.File, Line: e.at.Line, By: by, Watched: time.Unix(0, since).UTC()}
		h := e.at
		if len(e.handlers) > 0 {
			h = e.handlers[0]
			d.Handler = &h.Symbol
		}
		resp.Routes, handlers = append(resp.Routes, d), append(handlers, h)
	}
	resp.Total = len(resp.Routes)
	resp.Truncated = cut(&resp.Routes, r.Limit)
	changes, err := j.c.Changes(handlers[:len(resp.Routes)], maxCommits)
	if err != nil {
		return resp, err
	}
	for i := range resp.Routes {
		if len(changes[i]) > 0 {
			resp.Routes[i].Changed = &changes[i][0]
		}
	}
	for u, n := range unwatched {
		u.Routes = n
		resp.Unwatched = append(resp.Unwatched, u)
	}
	slices.SortFunc(resp.Unwatched, func(x, y Unwatched) int { return cmp.Or(cmp.Compare(x.Repo, y.Repo), cmp.Compare(x.Dir, y.Dir)) })
	a.Step(query.Step{Operator: "dead", Counts: map[string]int64{"served": int64(len(served)), "seen": int64(resp.Seen), "dead": int64(resp.Total), "unwatched folders": int64(len(unwatched))}})
	j.prove()
	hint := j.c.Left()
	if resp.Total == 0 {
		hint = j.noneDead(&resp)
	}
	resp.Basis = a.basis(resp.Total == 0, hint, named("repo", "eq", repo)...)
	return resp, nil
}

// noneDead returns why no route is listed.
func (j *joiner) noneDead(resp *DeadRoutesResponse) string {
	switch unplaced := j.c.Unplaced(); {
	case resp.Seen > 0:
		return "every route and procedure of the services that send spans was called"
	case len(resp.Unwatched) > 0:
		return "the services of these routes sent no span in the range, so this cannot be decided"
	case unplaced > 0:
		return fmt.Sprintf("whether a route is called cannot be decided: the prefix of the %d routes of the code is unknown; `recount routes` lists them", unplaced)
	}
	return "no route and no procedure of the code is known; `recount import git PATH` imports code"
}

// maxCommits is the maximum number of commits of a repository that are examined for changes of a
// symbol.
const maxCommits = 5000

func (e *endpoint) key() string { return e.at.Repo + "\x00" + string(e.at.Key) }

func dirOf(path string) string {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return ""
	}
	return path[:i]
}

// endpoints returns the routes and the implemented procedures of the code, ordered by repository,
// file and line.
func (j *joiner) endpoints(repo string) (all []endpoint) {
	for _, r := range j.c.Routes() {
		all = append(all, endpoint{"route", r.Name, r.Route, r.Handlers})
	}
	for _, name := range j.c.Procedures() {
		found, _ := j.c.Procedure(name)
		for _, h := range found {
			all = append(all, endpoint{"rpc", name, h, []code.Handled{h}})
		}
	}
	all = slices.DeleteFunc(all, func(e endpoint) bool { return repo != "" && e.at.Repo != repo })
	slices.SortStableFunc(all, func(x, y endpoint) int {
		return cmp.Or(cmp.Compare(x.at.Repo, y.at.Repo), cmp.Compare(x.at.File, y.at.File), cmp.Compare(x.at.Line, y.at.Line), cmp.Compare(x.name, y.name))
	})
	return all
}

// asks marks the endpoints that an operation may be.
func (j *joiner) asks(o operation, asked map[string]bool) {
	for _, c := range j.candidates(o) {
		at := c.h
		if c.route != nil {
			at = c.route.Route
		}
		asked[at.Repo+"\x00"+string(at.Key)] = true
	}
}

// servers returns the observed services that would serve an endpoint, and the time since which
// spans of any of them are known.
func (j *joiner) servers(e endpoint, watch map[string]int64) (by []string, since int64) {
	for service, first := range watch {
		home := j.homes.homeOf(service)
		at := []code.Handled{e.at}
		if home == nil || !slices.ContainsFunc(append(at, e.handlers...), func(h code.Handled) bool { return home.holds(h.Repo, h.Key.Path()) }) {
			continue
		}
		if len(by) == 0 || first < since {
			since = first
		}
		by = append(by, service)
	}
	slices.Sort(by)
	return by, since
}

// candidates returns all code that an operation may mean, limited to the service's home if that is
// known and has any.
func (j *joiner) candidates(o operation) (all []candidate) {
	switch o.kind {
	case recountv1.RuntimeKind_RUNTIME_KIND_RPC:
		found, _ := j.c.Procedure(o.name)
		for _, h := range found {
			all = append(all, candidate{h: h})
		}
	case recountv1.RuntimeKind_RUNTIME_KIND_CALLS:
		all, _ = j.routes(o)
	}
	home := j.homes.homeOf(o.service)
	if home == nil {
		return all
	}
	own := slices.Clone(all)
	own = slices.DeleteFunc(own, func(c candidate) bool { return !home.holds(c.h.Repo, c.h.Key.Path()) })
	if len(own) > 0 {
		return own
	}
	return all
}
