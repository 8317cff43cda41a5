package runtime

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	observed "github.com/recountdb/recount/projections/runtime"
	"github.com/recountdb/recount/query"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// ServicesRequest asks for the service map.
type ServicesRequest struct {
	Window
	After string `json:"after,omitempty" maxLength:"4200" example:"service:carts" doc:"Only the services after this place: the value of next in the previous page."`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"10000" default:"500" example:"500" doc:"Maximum number of services in a page."`
}

// DefaultServices is the default of ServicesRequest.Limit.
const DefaultServices = 500

// ServicesResponse is the answer of services: the service map.
type ServicesResponse struct {
	query.Basis
	Services  []Service `json:"services" nullable:"false" doc:"The services by name; those that send no spans come last."`
	Calls     []MapCall `json:"calls" nullable:"false" doc:"The calls that they make, also to services of other pages, summed by kind."`
	Truncated int       `json:"truncated,omitempty" example:"12" doc:"The number of services after this page."`
	Next      string    `json:"next,omitempty" example:"service:web" doc:"The value of after for the next page, with the same range; absent on the last page."`
}

// Service is a program that sends spans, or is called by one that does.
type Service struct {
	Name    string `json:"name" example:"carts" doc:"The name; if it is outside, the name that its callers use."`
	Outside bool   `json:"outside,omitempty" doc:"Whether it sends no spans."`
	System  string `json:"system,omitempty" example:"postgresql" doc:"The product, if it is outside."`
	// Spans is independent of the range.
	Spans  uint64 `json:"spans,omitempty" example:"120344" doc:"The total number of spans that it has sent."`
	Count  uint64 `json:"count" example:"1402" doc:"The number of calls to it in the range."`
	Errors uint64 `json:"errors" example:"14" doc:"The number of calls that failed."`
	// Operations counts only those that it served.
	Operations int       `json:"operations,omitempty" example:"12" doc:"The number of distinct operations that it served in the range."`
	Folded     int       `json:"folded,omitempty" example:"99000" doc:"The number of operations beyond the first 1,000, which traffic sums up as other."`
	Other      uint64    `json:"other,omitempty" example:"125000" doc:"The number of calls to operations beyond the first 10,000, which are stored as other, without names."`
	First      time.Time `json:"first,omitzero" doc:"The first time it was ever seen."`
	Last       time.Time `json:"last,omitzero" doc:"The last time it was ever seen."`
	Versions   []Version `json:"versions,omitempty" doc:"The versions that were seen, the newest first."`
	Home       *Home     `json:"home,omitempty" doc:"The repository that it is built from, if known."`
}

// Version is a version of a service, from its spans.
type Version struct {
	Version     string    `json:"version,omitempty" example:"1.4.2" doc:"service.version."`
	Revision    string    `json:"revision,omitempty" doc:"The commit that it was built from, according to its spans."`
	Environment string    `json:"environment,omitempty" example:"production" doc:"The environment that it runs in."`
	Instances   int       `json:"instances" example:"3" doc:"The number of instances that were seen."`
	First       time.Time `json:"first" doc:"The first time it was seen."`
	Last        time.Time `json:"last" doc:"The last time it was seen."`
}

// MapCall aggregates all calls of a kind from one service to another.
type MapCall struct {
	Caller  string `json:"caller" example:"web" doc:"The calling service."`
	Callee  string `json:"callee" example:"carts" doc:"The called service."`
	Outside bool   `json:"outside,omitempty" doc:"Whether the called service sends no spans."`
	Kind    string `json:"kind" enum:"calls,rpc,produces,consumes,queries,work" example:"rpc" doc:"The kind of calls."`
	Measure
}

func (r ServicesRequest) check() error {
	_, err := cutPlace(r.After)
	return cmp.Or(r.Window.check(), err, checkLimit(r.Limit))
}

// place is the position of a service in the order of all services: by name, those that send no
// spans last.
type place node

const (
	placeService = "service:"
	placeOutside = "outside:"
)

func placeOf(s *Service) place { return place{s.Name, s.Outside} }

func (p place) String() string {
	if p.outside {
		return placeOutside + p.name
	}
	return placeService + p.name
}

func (p place) compare(q place) int {
	if p.outside != q.outside {
		if p.outside {
			return 1
		}
		return -1
	}
	return strings.Compare(p.name, q.name)
}

// cutPlace parses what String returns; nil is the beginning.
func cutPlace(text string) (*place, error) {
	if text == "" {
		return nil, nil
	}
	if name, ok := strings.CutPrefix(text, placeService); ok {
		return &place{name, false}, nil
	}
	if name, ok := strings.CutPrefix(text, placeOutside); ok {
		return &place{name, true}, nil
	}
	return nil, &query.RequestError{Field: "after", Value: text, Reason: "want the value of next in the previous answer, such as service:carts"}
}

// page keeps the services after the request's place, up to its limit. shows reports whether the
// calls of a caller are on this page: each call is on the page of its caller, or on the first if
// its caller is not listed.
func (r ServicesRequest) page(resp *ServicesResponse) (shows func(caller string) bool) {
	all := resp.Services
	from := 0
	if after, _ := cutPlace(r.After); after != nil {
		from, _ = slices.BinarySearchFunc(all, *after, func(s Service, p place) int {
			if placeOf(&s).compare(p) <= 0 {
				return -1
			}
			return 1
		})
	}
	resp.Services = all[from:]
	if resp.Truncated = cut(&resp.Services, cmp.Or(r.Limit, DefaultServices)); resp.Truncated > 0 {
		resp.Next = placeOf(&resp.Services[len(resp.Services)-1]).String()
	}
	pages := make(map[string]bool, len(all)) // whether the service is on this page
	for i := range all {
		if !all[i].Outside {
			pages[all[i].Name] = from <= i && i < from+len(resp.Services)
		}
	}
	return func(caller string) bool {
		here, listed := pages[caller]
		return here || !listed && r.After == ""
	}
}

// node distinguishes a service of the map from an external one of the same name.
type node struct {
	name    string
	outside bool
}

// ServicesOf returns the service map.
func ServicesOf(ctx context.Context, s Sources, r ServicesRequest) (ServicesResponse, error) {
	resp := ServicesResponse{Services: []Service{}, Calls: []MapCall{}}
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	between := func(ctx context.Context, v *observed.View, within observed.Range, service string) ([]row, error) {
		rows, err := calls(ctx, v, within, service)
		return joinOperations(rows), err
	}
	rows, err := between(ctx, a.view, a.within, "")
	if err != nil {
		return resp, err
	}
	sure, err := confident(ctx, a, between, "", keyOfRow, sumOfRow)
	if err != nil {
		return resp, err
	}
	served, err := a.view.ServerSums(ctx, a.within, "")
	if err != nil {
		return resp, err
	}
	known, err := a.view.Services(ctx)
	if err != nil {
		return resp, err
	}
	a.Step(query.Step{Operator: "services", Counts: map[string]int64{"services": int64(len(known)), "calls": int64(len(rows))}})
	a.RecordTime("services")
	j, err := a.joiner()
	if err != nil {
		return resp, err
	}
	resp.Services = servicesOf(known, served, rows, a.within, j)
	shows := r.page(&resp)
	for i := range rows {
		x := &rows[i]
		if !shows(x.caller) {
			continue
		}
		resp.Calls = append(resp.Calls, MapCall{x.caller, x.callee, x.outside, kindName(x.kind), measure(&x.Sum, sure(x))})
	}
	hint := j.c.Left()
	if len(resp.Services) == 0 {
		hint = a.nothing()
	}
	resp.Basis = a.basis(len(resp.Services) == 0, hint)
	return resp, nil
}

// joinOperations adds up rows that differ only in the operation.
func joinOperations(rows []row) (all []row) {
	at := map[edgeKey]int{}
	for _, x := range rows {
		k := x.edgeKey
		k.operation, k.templated = "", false
		i, ok := at[k]
		if !ok {
			at[k] = len(all)
			all = append(all, row{k, x.Sum})
			continue
		}
		all[i].Merge(&x.Sum)
	}
	return all
}

// servicesOf returns the services that were seen in the range, and the callees that send no spans.
func servicesOf(known []observed.Service, served []observed.ServerSum, rows []row, within observed.Range, j *joiner) []Service {
	all := []Service{}
	at := map[string]int{}
	for _, s := range known {
		if within.From != 0 && s.Last < within.From || within.To != 0 && s.First >= within.To {
			continue
		}
		at[s.Name] = len(all)
		all = append(all, Service{
			Name: s.Name, Spans: s.Spans, First: time.Unix(0, s.First).UTC(), Last: time.Unix(0, s.Last).UTC(),
			Versions: versionsOf(s.Observers), Home: j.homes.homeOf(s.Name),
		})
	}
	for i := range served {
		if n, ok := at[served[i].Service]; ok {
			all[n].Count, all[n].Errors = all[n].Count+served[i].Count, all[n].Errors+served[i].Errors
			all[n].Operations++
			if served[i].Operation == observed.Other {
				all[n].Other += served[i].Count
			}
			all[n].Folded = max(0, all[n].Operations-maxOperations)
		}
	}
	beside := map[string]int{}
	for i := range rows {
		x := &rows[i]
		if !x.outside {
			continue
		}
		n, ok := beside[x.callee]
		if !ok {
			n = len(all)
			beside[x.callee] = n
			all = append(all, Service{Name: x.callee, Outside: true, System: x.system})
		}
		all[n].Count, all[n].Errors = all[n].Count+x.Count, all[n].Errors+x.Errors
	}
	slices.SortStableFunc(all, func(x, y Service) int { return placeOf(&x).compare(placeOf(&y)) })
	return all
}

// versionsOf aggregates the instances of each version.
func versionsOf(observers []observed.Observer) (all []Version) {
	type key struct{ version, revision, environment string }
	at, instances := map[key]int{}, map[key]map[string]bool{}
	for _, o := range observers {
		k := key{o.Version, o.Revision, o.Environment}
		i, ok := at[k]
		if !ok {
			i = len(all)
			at[k], instances[k] = i, map[string]bool{}
			all = append(all, Version{Version: o.Version, Revision: o.Revision, Environment: o.Environment, First: time.Unix(0, o.First).UTC(), Last: time.Unix(0, o.Last).UTC()})
		}
		instances[k][o.Instance] = true
		v := &all[i]
		v.Instances = len(instances[k])
		if first := time.Unix(0, o.First).UTC(); first.Before(v.First) {
			v.First = first
		}
		if last := time.Unix(0, o.Last).UTC(); last.After(v.Last) {
			v.Last = last
		}
	}
	slices.SortStableFunc(all, func(x, y Version) int { return cmp.Or(y.Last.Compare(x.Last), y.First.Compare(x.First)) })
	return all
}

// StatsRequest asks for counts of everything known about a running system.
type StatsRequest struct {
	Window
}

// StatsResponse is the answer of stats.
type StatsResponse struct {
	query.Basis
	First      time.Time      `json:"first,omitzero" doc:"The start of the first span ever."`
	Last       time.Time      `json:"last,omitzero" doc:"The start of the last span ever."`
	Services   int            `json:"services" example:"9" doc:"Number of services that send spans."`
	Outside    int            `json:"outside" example:"2" doc:"Number of called services that send none."`
	Spans      uint64         `json:"spans" example:"120344" doc:"Number of spans ever received."`
	Homes      map[string]int `json:"homes" doc:"The number of services by the rule that found their repository; unknown counts those without one."`
	Operations map[string]int `json:"operations" doc:"The number of operations served in the range, by kind."`
	Served     uint64         `json:"served" example:"40210" doc:"The number of requests for them."`
	Errors     uint64         `json:"errors" example:"98" doc:"The number of failed requests."`
	Calls      int            `json:"calls" example:"31" doc:"The number of distinct calls, by caller, callee and operation."`
	Joined     map[string]int `json:"joined" doc:"The number of operations by the rule that joined them to code, without messages and internal work."`
	// JoinedShare counts operations, not requests.
	JoinedShare float64 `json:"joined_share" example:"0.92" doc:"The fraction of these that were joined."`
}

func (r StatsRequest) check() error { return r.Window.check() }

// StatsOf counts everything known about a running system.
func StatsOf(ctx context.Context, s Sources, r StatsRequest) (StatsResponse, error) {
	resp := StatsResponse{Homes: map[string]int{}, Operations: map[string]int{}, Joined: map[string]int{}}
	a, err := s.open(ctx, r)
	if err != nil {
		return resp, err
	}
	defer a.Close()
	known, err := a.view.Services(ctx)
	if err != nil {
		return resp, err
	}
	served, err := a.view.ServerSums(ctx, a.within, "")
	if err != nil {
		return resp, err
	}
	rows, err := calls(ctx, a.view, a.within, "")
	if err != nil {
		return resp, err
	}
	a.RecordTime("read")
	j, err := a.joiner()
	if err != nil {
		return resp, err
	}
	if first, last := a.view.Bounds(); last != 0 {
		resp.First, resp.Last = time.Unix(0, first).UTC(), time.Unix(0, last).UTC()
	}
	for _, x := range servicesOf(known, served, rows, a.within, j) {
		if x.Outside {
			resp.Outside++
			continue
		}
		resp.Services++
		resp.Spans += x.Spans
		rule := "unknown"
		if x.Home != nil {
			rule = x.Home.Rule
		}
		resp.Homes[rule]++
	}
	joinable, joined := 0, 0
	for i := range served {
		if err := ctx.Err(); err != nil {
			return resp, err
		}
		x := &served[i]
		resp.Operations[kindName(x.Kind)]++
		resp.Served, resp.Errors = resp.Served+x.Count, resp.Errors+x.Errors
		if x.Kind != recountv1.RuntimeKind_RUNTIME_KIND_CALLS && x.Kind != recountv1.RuntimeKind_RUNTIME_KIND_RPC {
			continue
		}
		join := j.joinOf(operation{x.Service, x.Kind, x.Operation, x.Templated})
		resp.Joined[join.Rule]++
		joinable++
		if join.Resolved() {
			joined++
		}
	}
	if joinable > 0 {
		resp.JoinedShare = float64(joined) / float64(joinable)
	}
	resp.Calls = len(rows)
	j.prove()
	hint := j.c.Left()
	if resp.Services == 0 {
		hint = a.nothing()
	}
	resp.Basis = a.basis(resp.Services == 0, hint)
	return resp, nil
}
