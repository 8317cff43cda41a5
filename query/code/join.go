package code

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/languages/documents"
	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Procedures and HTTP endpoints have namespaces of their own, and no resolver of a language sees all of
// such a namespace: a file of one language declares a name, others implement and call it, in this or other
// repositories. So a snapshot stores the uses as externals, and they are joined to the declarations
// when it is loaded: to the repository's own nodes here, to other repositories' in world.across.
//
// A request leads to the routes that match its method and path (schemas.Endpoint), those with the
// fewest parameters; a request that names a host on the internet leads to none. Unless the request
// has only a path and its own repository has the route, it is not known whether the host is that
// service, so the edge is known by name only.

// join adds an edge for each external that the repository itself declares.
func (g *Graph) join() {
	for i := range g.nodes {
		if g.kind(int32(i)) == recountv1.SymbolKind_SYMBOL_KIND_ROUTE {
			if e, ok := schemas.ParseRoute(g.name(int32(i))); ok {
				e.AnyCase = g.language(int32(i)) == "csharp"
				g.routes = append(g.routes, route{int32(i), e})
			} else if strings.Contains(g.name(int32(i)), schemas.UnknownPrefix) && !g.nodes[i].test {
				g.unplaced++
			}
		}
	}
	for i, s := range g.symbols {
		if isRequest(s) {
			if e, ok := schemas.ParseRequest(s.name); ok && e.Local() {
				g.requests = append(g.requests, request{int32(i), e})
			}
		}
	}
	g.nameInText()
	for _, e := range g.outside {
		s := g.symbols[e.to]
		if !joined(s) {
			continue
		}
		found := g.answers(s)
		if inText(s) && len(found) > 1 {
			continue // it is not known which
		}
		for _, n := range found {
			own := e
			own.to, own.joined, own.confidence = n, true, unsure(e.confidence, len(found))
			if isRequest(s) && !strings.Contains(s.name, " /") {
				own.confidence = min(own.confidence, ambiguous)
			}
			g.edges = append(g.edges, own)
		}
	}
}

// request is a symbol that is an HTTP request; route is a node that is a route.
type request struct {
	symbol int32
	schemas.Endpoint
}

type route struct {
	node int32
	schemas.Endpoint
}

// maxRoutes is the maximum number of routes that one request may lead to; if more match, none is
// used.
const maxRoutes = 8

func isRequest(s symbol) bool { return s.language == "" && s.pkg == "http" }

// answering returns the routes that match a request, those with the fewest parameters.
func (g *Graph) answering(s symbol) []int32 {
	req, ok := schemas.ParseRequest(s.name)
	if !ok || !req.Local() {
		return nil
	}
	var out []int32
	best := -1
	for _, r := range g.routes {
		literal, ok := r.Answers(req)
		if !ok || literal < best {
			continue
		}
		if literal > best {
			best, out = literal, nil
		}
		out = append(out, r.node)
	}
	if len(out) > maxRoutes {
		return nil
	}
	return out
}

// requestsTo calls use with the edges of the requests that a route matches.
func (g *Graph) requestsTo(r schemas.Endpoint, use func(e *edge)) {
	for _, req := range g.requests {
		if _, ok := r.Answers(req.Endpoint); ok {
			for _, i := range g.users[g.userStart[req.symbol]:g.userStart[req.symbol+1]] {
				use(&g.outside[i])
			}
		}
	}
}

// ambiguous is the maximum confidence, in thousandths, of an edge with several possible targets.
const ambiguous = 500

func unsure(confidence uint16, found int) uint16 {
	if found > 1 {
		return min(confidence, ambiguous)
	}
	return confidence
}

// inFile reports whether a symbol names a function by its file (resolve.InFile).
func inFile(s symbol) bool { return s.language == "" && s.pkg == resolve.InFile }

// inFiles returns the function that a symbol names by its file. Python's module may be written with
// dots.
func (g *Graph) inFiles(s symbol) []int32 {
	at := strings.LastIndexByte(s.name, '.')
	if at < 0 {
		return nil
	}
	file, name := s.name[:at], s.name[at+1:]
	var out []int32
	for i := range g.nodes {
		n := int32(i)
		switch g.kind(n) {
		case recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, recountv1.SymbolKind_SYMBOL_KIND_CONSTANT, recountv1.SymbolKind_SYMBOL_KIND_VARIABLE:
		default:
			continue
		}
		if g.chain(n) != name {
			continue
		}
		own := g.keys[n].Path()
		if dot := strings.LastIndexByte(own, '.'); dot > 0 {
			own = own[:dot]
		}
		if own == file || own == strings.ReplaceAll(file, ".", "/") {
			out = append(out, n)
		}
	}
	if len(out) > 1 {
		return nil // files of several languages
	}
	return out
}

// inText reports whether a symbol is a name in a document (resolve.InText).
func inText(s symbol) bool { return s.language == "" && s.pkg == resolve.InText }

// isDocument reports whether a node is a document: its edges say what it names, not what code uses.
func (g *Graph) isDocument(n int32) bool { return documents.Is(g.language(n)) }

// maxNamed is the maximum number of declarations that a name in a document may mean.
const maxNamed = 3

// nameInText finds what the names in documents mean: of the exported declarations of their last word,
// outside tests and examples, those that have most of the words before it. A file is named by its path.
func (g *Graph) nameInText() {
	wanted := map[string][]int32{} // by last word
	g.named = map[string][]int32{}
	for _, s := range g.symbols {
		if !inText(s) {
			continue
		}
		if strings.HasPrefix(s.name, "/") {
			if n, ok := g.find(resolve.FileKey(s.name[1:])); ok {
				g.named[s.name] = []int32{n}
			}
			continue
		}
		wanted[lastName(strings.TrimSuffix(s.name, "()"))] = nil
	}
	if len(wanted) == 0 {
		return
	}
	apart := map[string]bool{}
	for i := range g.nodes {
		n := int32(i)
		name := g.name(n)
		of, is := wanted[name]
		if !is || name == "" || g.nodes[n].test || !g.nodes[n].exported {
			continue
		}
		path := g.keys[n].Path()
		is, known := apart[path]
		if !known {
			is = apartFromCode(path)
			apart[path] = is
		}
		if !is {
			wanted[name] = append(of, n)
		}
	}
	for _, s := range g.symbols {
		if !inText(s) || strings.HasPrefix(s.name, "/") {
			continue
		}
		if found := g.meant(s.name, wanted[lastName(strings.TrimSuffix(s.name, "()"))]); len(found) > 0 {
			g.named[s.name] = found
		}
	}
}

// meant returns those of some declarations that a name in a document means. What comes before the last
// word may be a variable of an example (c.JSON) if they are members, but no type.
func (g *Graph) meant(name string, all []int32) (found []int32) {
	words := strings.Split(strings.TrimSuffix(name, "()"), ".")
	best := 0
	for _, n := range all {
		of := strings.FieldsFunc(g.unversioned(n)+"."+g.chain(n), func(r rune) bool { return strings.ContainsRune("./:", r) })
		same := 0
		for same < min(len(words), len(of)) && words[len(words)-1-same] == of[len(of)-1-same] {
			same++
		}
		if same == 1 && len(words) > 1 {
			if before := words[len(words)-2]; before != strings.ToLower(before) || g.owner(n) == "" {
				continue
			}
		}
		if same > best {
			best, found = same, nil
		}
		if same == best {
			found = append(found, n)
		}
	}
	if len(found) > maxNamed {
		return nil
	}
	return found
}

// answers returns the nodes that an external symbol leads to. Of copies of one .proto file only the
// first by path is returned.
func (g *Graph) answers(s symbol) []int32 {
	if isRequest(s) {
		return g.answering(s)
	}
	if inFile(s) {
		return g.inFiles(s)
	}
	if inText(s) {
		return g.named[s.name]
	}
	all := g.declares(s)
	if !joined(s) {
		return all
	}
	var out []int32
	seen := map[symbol]bool{}
	for _, n := range all {
		if own := g.symbol(n); !seen[own] {
			seen[own] = true
			out = append(out, n)
		}
	}
	if s.pkg == resolve.AnyStub && len(out) > 1 {
		return nil // its name alone does not identify one
	}
	return out
}

// joined reports whether a symbol is in a namespace that languages share.
func joined(s symbol) bool {
	return s.language == "proto" && s.name != "" && s.pkg != "" || isRequest(s) || inFile(s) || inText(s)
}

// known returns the symbols by which externals refer to a node.
func (g *Graph) known(n int32) []symbol {
	all := []symbol{g.symbol(n)}
	if stubs := g.stubs[n]; len(stubs) > 0 {
		service := g.owner(n)
		name := resolve.StubName(service, g.name(n))
		for _, pkg := range append(stubs[:len(stubs):len(stubs)], resolve.AnyStub) {
			all = append(all, symbol{"proto", pkg, name})
		}
	}
	return all
}

// first returns the node that represents all copies of a declaration.
func (g *Graph) first(n int32) int32 {
	if s := g.symbol(n); joined(s) {
		return g.answers(s)[0]
	}
	return n
}

// oneOf reduces nodes that are copies of one declaration to the first.
func (g *Graph) oneOf(found []int32) []int32 {
	for _, n := range found {
		if own := g.symbol(n); !joined(own) || own != g.symbol(found[0]) || g.kind(n) != g.kind(found[0]) {
			return found
		}
	}
	return found[:min(len(found), 1)]
}

// RuntimeWindow asks also for the callers seen at run time, by spans.
type RuntimeWindow struct {
	From time.Time `json:"from,omitzero" example:"2026-11-20T12:00:00Z" doc:"Only calls at this time or later, by the spans' own time."`
	To   time.Time `json:"to,omitzero" example:"2026-11-21T12:00:00Z" doc:"Only calls before this time."`
	At   time.Time `json:"at,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time to use as now: confidence counts the seven days before it. Default: the time of the newest span."`
}

func (r *RuntimeWindow) check() error {
	if r != nil && !r.From.IsZero() && !r.To.IsZero() && !r.From.Before(r.To) {
		return &query.RequestError{Field: "runtime.from", Value: r.From.Format(time.RFC3339), Reason: "not before to, so nothing can match"}
	}
	return nil
}

// RuntimeUse has the callers seen at run time.
type RuntimeUse struct {
	Callers   []RuntimeCaller `json:"callers" nullable:"false" doc:"The callers, by distance, then by number of calls."`
	Total     int             `json:"total" example:"2" doc:"Total number of callers."`
	Truncated int             `json:"truncated" example:"0" doc:"The number of them left out of the list."`
	Hint      string          `json:"hint,omitempty" doc:"Why there are no callers."`
}

// RuntimeCaller is a service that calls an operation whose handler reaches the queried symbol.
type RuntimeCaller struct {
	Caller    string    `json:"caller,omitempty" example:"web" doc:"The calling service; empty if it sends no spans."`
	Service   string    `json:"service" example:"carts" doc:"The called service."`
	Kind      string    `json:"kind" example:"rpc" doc:"The kind of call."`
	Operation string    `json:"operation" example:"shop.v1.Carts/GetCart" doc:"The called operation."`
	Handler   Symbol    `json:"handler" doc:"The code that handles it."`
	Distance  int       `json:"distance" example:"2" doc:"The distance in code edges from the handler to the queried symbol; 0 if the handler is that symbol."`
	Count     uint64    `json:"count" example:"1402" doc:"The number of calls."`
	Errors    uint64    `json:"errors" example:"14" doc:"The number of calls that failed."`
	Last      time.Time `json:"last" doc:"The time of the last call."`
	Trace     string    `json:"trace,omitempty" example:"5b8efff798038103d269b633813fc60c" doc:"The id of one of the traces."`
	// Confidence is whether it is called now; Sure is whether this code handles the operation.
	Confidence float64 `json:"confidence" example:"0.95" doc:"Confidence that the call still happens, from how often and how recently it was seen in the seven days before at."`
	Rule       string  `json:"rule" example:"rpc" doc:"The rule that joined the operation to the code."`
	Sure       float64 `json:"code_confidence" example:"0.9" doc:"Confidence of that rule, multiplied with the confidence of the path from the handler."`
}

// Place identifies a node in every snapshot that has it.
type Place struct {
	Repo string
	Key  schemas.NodeKey
}

// Reached describes how a walk reached a node.
type Reached struct {
	Distance   int
	Confidence float64
}

// Running returns the run-time callers of reached nodes. visible and steps are added to the
// answer's watermark and proof.
type Running func(ctx context.Context, w RuntimeWindow, of map[Place]Reached, limit int) (use RuntimeUse, visible schemas.Watermark, steps []query.Step, err error)

// running returns the run-time callers of what a walk reached, or nil if they were not requested.
func (a *session) running(r *RuntimeWindow, w *world, all []reached, limit int) (*RuntimeUse, error) {
	if r == nil {
		return nil, nil
	}
	if a.s.Running == nil {
		return &RuntimeUse{Callers: []RuntimeCaller{}, Hint: "this process keeps no spans"}, nil
	}
	of := make(map[Place]Reached, len(all))
	for _, x := range all {
		g := w.graphs[x.g]
		of[Place{g.repo, g.keys[x.n]}] = Reached{int(x.depth), confidence(x.confidence)}
	}
	use, visible, steps, err := a.s.Running(a.Ctx, *r, of, limit)
	if err != nil {
		return nil, err
	}
	both := schemas.Watermark{}
	for _, w := range []schemas.Watermark{visible, a.Visible} {
		for tp, next := range w {
			both[tp] = next
		}
	}
	a.Visible = both
	a.Proof = append(a.Proof, steps...)
	a.RecordTime("runtime")
	return &use, nil
}

// runtimeFilters describes which spans were counted.
func runtimeFilters(r *RuntimeWindow) []query.AppliedFilter {
	if r == nil {
		return nil
	}
	all := []query.AppliedFilter{{Field: "runtime", Op: "eq", Value: strconv.FormatBool(true)}}
	for _, f := range []struct {
		field, op string
		t         time.Time
	}{{"runtime.from", "ge", r.From}, {"runtime.to", "lt", r.To}, {"runtime.at", "eq", r.At}} {
		if !f.t.IsZero() {
			all = append(all, query.AppliedFilter{Field: f.field, Op: f.op, Value: f.t.UTC().Format(time.RFC3339Nano)})
		}
	}
	return all
}
