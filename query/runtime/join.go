package runtime

import (
	"cmp"
	"slices"
	"strings"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Join is the code behind something that runs, and how it was found.
type Join struct {
	Rule string `json:"rule" enum:"route,request,rpc,method,table,function,unresolved" example:"route" doc:"How the code was found. route: the service's route is a route of the code, in any framework's syntax. request: a concrete path matches a route of the code. rpc: a method implements the procedure. method: a method in the service's folder has the procedure's name. table: the schema declares the table. function: the span names the function. unresolved: no code was found; every query searches again."`
	// Confidence is the minimum of those of the service's home, the rule and the edge.
	Confidence float64      `json:"confidence" example:"0.9" doc:"Confidence, 0 to 1; 0.3 if unresolved."`
	Home       *Home        `json:"home,omitempty" doc:"The repository of the service, if known."`
	Route      string       `json:"route,omitempty" example:"GET /orders/{id}" doc:"The route as the code writes it."`
	Symbol     *code.Symbol `json:"symbol,omitempty" doc:"The code that handles it, or the route itself if its handler could not be resolved."`
	Others     int          `json:"others,omitempty" example:"1" doc:"The number of other symbols that it might be instead."`
	Why        string       `json:"why,omitempty" example:"two repositories have the route" doc:"The reason, if it is unresolved or not certain."`

	handled *code.Handled
	route   *code.ServedRoute
}

// These are the rules that find code.
const (
	ruleRoute      = "route"
	ruleRequest    = "request"
	ruleRPC        = "rpc"
	ruleMethod     = "method"
	ruleTable      = "table"
	ruleFunction   = "function"
	ruleUnresolved = "unresolved"
)

// Resolved reports whether code was found.
func (j *Join) Resolved() bool { return j.Rule != ruleUnresolved }

// These are the confidences of the rules if everything else is certain.
const (
	sureRoute    = 0.95
	sureRequest  = 0.85
	sureRPC      = 0.95
	sureMethod   = 0.6
	sureTable    = 0.7
	sureFunction = 0.9
	// sureAlone applies if the service's home is not known, but only one repository has the code.
	sureAlone = 0.6
	// sureAmong is the maximum if several symbols are possible.
	sureAmong      = 0.5
	sureUnresolved = 0.3
)

// operation identifies what a service serves.
type operation struct {
	service   string
	kind      recountv1.RuntimeKind
	name      string
	templated bool
}

// joiner joins operations with code. It caches its results for one query.
type joiner struct {
	a     *session
	c     *code.Codebase
	homes homes
	known map[operation]*Join
	// by counts the joins by rule, for the proof.
	by map[string]int64
}

// joiner opens the codebase.
func (a *session) joiner() (*joiner, error) {
	c, err := a.codebase()
	if err != nil {
		return nil, err
	}
	services, err := a.view.Services(a.Ctx)
	if err != nil {
		return nil, err
	}
	j := &joiner{a: a, c: c, known: map[operation]*Join{}, by: map[string]int64{}}
	j.homes = homes{c: c, configured: a.s.Services, known: map[string]*Home{}}
	j.homes.index(services)
	return j, nil
}

// prove adds the counts of joins to the proof.
func (j *joiner) prove() {
	j.a.Step(query.Step{Operator: "join", Counts: j.by})
	j.a.RecordTime("join")
}

// joinOf returns the code behind an operation.
func (j *joiner) joinOf(o operation) *Join {
	if known, ok := j.known[o]; ok {
		return known
	}
	var found *Join
	switch o.kind {
	case recountv1.RuntimeKind_RUNTIME_KIND_RPC:
		found = j.procedure(o)
	case recountv1.RuntimeKind_RUNTIME_KIND_QUERIES:
		found = j.table(o)
	case recountv1.RuntimeKind_RUNTIME_KIND_CALLS:
		found = j.request(o)
	default:
		found = unresolved("messages and work inside a service are joined by the function that a span names")
	}
	found.Home = j.homes.homeOf(o.service)
	if found.Home == nil && found.Why == "" {
		found.Why = "the service's repository is not known"
	}
	j.known[o] = found
	j.by[found.Rule]++
	return found
}

func unresolved(why string) *Join {
	return &Join{Rule: ruleUnresolved, Confidence: sureUnresolved, Why: why}
}

// candidate is code that an operation may mean.
type candidate struct {
	h     code.Handled
	route *code.ServedRoute
	sure  float64
	rank  int // higher is better
}

// choose selects from the candidates those of the service's home, and of these the best. Its
// confidence is limited to sureAmong if several are equally good. none is the reason to give if
// there are no candidates.
func (j *joiner) choose(o operation, rule string, all []candidate, none string) *Join {
	if len(all) == 0 {
		return unresolved(none)
	}
	home := j.homes.homeOf(o.service)
	bound, why := sureAlone, ""
	if home != nil {
		var own, beside []candidate
		for _, c := range all {
			switch {
			case home.holds(c.h.Repo, c.h.Key.Path()):
				own = append(own, c)
			case c.h.Repo == home.Repo:
				beside = append(beside, c)
			}
		}
		switch {
		case len(own) > 0:
			all, bound = own, home.Confidence
		case len(beside) > 0:
			all, why = beside, "nothing in "+home.Dir+" has it, code beside it does"
		default:
			return unresolved("nothing in " + home.Repo + " has it")
		}
	} else if repos := reposOf(all); len(repos) > 1 {
		return unresolved("the service's repository is not known, and several have it: " + strings.Join(repos[:min(len(repos), 3)], ", "))
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Or(cmp.Compare(b.rank, a.rank), cmp.Compare(b.sure, a.sure)) })
	best := all[0]
	join := &Join{Rule: rule, Confidence: min(bound, best.sure), Symbol: &best.h.Symbol, Why: why, handled: &best.h, route: best.route}
	if best.route != nil {
		join.Route = best.route.Name
	}
	for _, c := range all[1:] {
		if c.rank == best.rank && c.h.Key != best.h.Key {
			join.Others++
		}
	}
	if join.Others > 0 {
		join.Confidence = min(join.Confidence, sureAmong)
	}
	return join
}

func reposOf(all []candidate) (repos []string) {
	for _, c := range all {
		if !slices.Contains(repos, c.h.Repo) {
			repos = append(repos, c.h.Repo)
		}
	}
	slices.Sort(repos)
	return repos
}

// request finds the route of an HTTP operation: "GET /users/{id}".
func (j *joiner) request(o operation) *Join {
	all, rule := j.routes(o)
	if rule == "" {
		return unresolved("no method and path")
	}
	// Every service may answer "/", and what takes any path says as little about whose it is.
	if len(all) > 0 && j.homes.homeOf(o.service) == nil {
		all = slices.DeleteFunc(all, func(c candidate) bool { return !c.route.Named() })
		if len(all) == 0 {
			return unresolved("the service's repository is not known, and any service may have such a route")
		}
	}
	return j.choose(o, rule, all, "no route of the code answers it")
}

// routes returns the routes that an HTTP operation may mean, and the rule; rule is "" if the
// operation has no path. Routes written the same way take precedence over those that would match
// the request.
func (j *joiner) routes(o operation) (all []candidate, rule string) {
	if asked, ok := schemas.ParseRoute(o.name); ok && o.templated {
		for _, r := range j.c.Routes() {
			if sameRoute(r.Endpoint, asked) {
				rank := 0
				if r.Method == asked.Method {
					rank = 1
				}
				all = append(all, routed(r, rank, sureRoute)...)
			}
		}
		if len(all) > 0 {
			return all, ruleRoute
		}
	}
	asked, ok := schemas.ParseRequest(o.name)
	if !ok {
		return nil, ""
	}
	for _, r := range j.c.Routes() {
		if literal, ok := r.Answers(asked); ok {
			all = append(all, routed(r, literal, sureRequest)...)
		}
	}
	return all, ruleRequest
}

// sameRoute reports whether two routes are the same: equal segments, and compatible methods.
func sameRoute(a, b schemas.Endpoint) bool {
	same := func(x, y string) bool { return x == y || (a.AnyCase || b.AnyCase) && strings.EqualFold(x, y) }
	return slices.EqualFunc(a.Segments, b.Segments, same) && (a.Method == b.Method || a.Method == anyMethod || b.Method == anyMethod)
}

const anyMethod = "ANY"

// routed returns a route's handlers, or the route itself if they are not known.
func routed(r code.ServedRoute, rank int, sure float64) (all []candidate) {
	for _, h := range r.Handlers {
		all = append(all, candidate{h, &r, min(sure, h.Confidence), rank})
	}
	if len(all) == 0 {
		all = append(all, candidate{r.Route, &r, sure, rank})
	}
	return all
}

// procedure finds what implements "shop.v1.Carts/GetCart".
func (j *joiner) procedure(o operation) *Join {
	var all []candidate
	found, declared := j.c.Procedure(o.name)
	for _, h := range found {
		rank := 1
		if h.Generated {
			rank = 0
		}
		all = append(all, candidate{h, nil, min(sureRPC, h.Confidence), rank})
	}
	join := j.choose(o, ruleRPC, all, "no code implements the procedure")
	if join.Resolved() && join.Why == "" && !join.handled.Generated {
		return join
	}
	// A method with that name in the service's own folder is the only indication if the generated
	// code is not in the repository, or if it is not known what implements its interface.
	home := j.homes.homeOf(o.service)
	if home == nil || !declared && home.Dir == "" {
		return join
	}
	all = nil
	_, method, _ := strings.Cut(o.name, "/")
	for _, h := range j.c.Methods(method) {
		if home.holds(h.Repo, h.Key.Path()) && !isClient(h) {
			all = append(all, candidate{h, nil, sureMethod, 0})
		}
	}
	if len(all) == 0 || home.Dir == "" && len(all) > 1 {
		return join
	}
	return j.choose(o, ruleMethod, all, "")
}

// isClient reports whether a method belongs to a client of a service, by the names that generated
// code has: it calls the procedure.
func isClient(h code.Handled) bool {
	owner, _, _ := strings.Cut(h.Key.Chain(), ".")
	for _, suffix := range []string{"Client", "ClientImpl", "Stub"} {
		if strings.HasSuffix(owner, suffix) {
			return true
		}
	}
	return false
}

// table finds the table of "SELECT shop.carts". The caller need not declare it: any repository may.
func (j *joiner) table(o operation) *Join {
	name := o.name[strings.LastIndexByte(o.name, ' ')+1:]
	var all []candidate
	for _, h := range j.c.Tables(name) {
		all = append(all, candidate{h, nil, sureTable, 0})
	}
	if len(all) == 0 {
		return unresolved("no schema of the code declares it")
	}
	home := j.homes.homeOf(o.service)
	if home != nil && !slices.ContainsFunc(all, func(c candidate) bool { return c.h.Repo == home.Repo }) {
		best := all[0]
		return &Join{Rule: ruleTable, Confidence: sureAmong, Symbol: &best.h.Symbol, Others: len(all) - 1, Why: "another repository declares it", handled: &best.h}
	}
	return j.choose(o, ruleTable, all, "")
}

// function finds the function that a span names by code.function.name, file and line.
func (j *joiner) function(service, name, file string, line uint32) *Join {
	if name == "" && (file == "" || line == 0) {
		return unresolved("the span names no function")
	}
	var all []candidate
	for _, h := range j.c.Function(name, file, line) {
		all = append(all, candidate{h, nil, sureFunction, 0})
	}
	o := operation{service: service}
	join := j.choose(o, ruleFunction, all, "no function of the code is called "+cmp.Or(name, file))
	join.Home = j.homes.homeOf(service)
	return join
}
