package code

import (
	"context"
	"errors"
	slash "path"
	"slices"
	"strings"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Codebase is the newest graph of every repository, for queries that join code with other data,
// such as runtime data (package query/runtime). It is used by one goroutine for one query, and
// closed by its caller.
type Codebase struct {
	a *session
	w *world

	routes []ServedRoute
	listed bool
}

// Handled is a symbol that something at run time may lead to, with the confidence of that.
type Handled struct {
	Symbol
	Key        schemas.NodeKey
	Confidence float64
	// Generated reports that its file was generated from a .proto file.
	Generated bool

	at ref
}

// ServedRoute is a route of a codebase; routes in tests are excluded.
type ServedRoute struct {
	// Route is the route's own node.
	Route Handled
	schemas.Endpoint
	// Name is the method and the pattern as the framework writes it.
	Name     string
	Handlers []Handled
}

// OpenCodebase opens every repository that has a graph at HEAD. An error is that of ctx or of the
// projection.
func OpenCodebase(ctx context.Context, s Sources) (*Codebase, error) {
	a, err := s.open(ctx, Scope{})
	if err != nil {
		return nil, err
	}
	c := &Codebase{a: a, w: &world{}}
	if err := c.open(); err != nil {
		a.Close()
		return nil, err
	}
	return c, nil
}

func (c *Codebase) open() error {
	repos, err := c.a.view.Repositories()
	if err != nil {
		return err
	}
	for _, r := range repos {
		if len(c.w.graphs) == maxRepositories {
			c.w.left = len(repos) - maxRepositories
			break
		}
		s, err := c.a.view.Snapshot(r, "HEAD")
		if errors.Is(err, snapshots.ErrUnknown) || errors.Is(err, snapshots.ErrNoGraph) {
			continue
		}
		if err != nil {
			return err
		}
		g, err := c.a.s.Graphs.Get(c.a.Ctx, s)
		if err != nil {
			return err
		}
		c.w.graphs, c.w.snaps = append(c.w.graphs, g), append(c.w.snaps, s)
		c.a.Step(query.Step{
			Operator: "code",
			Inputs:   map[string]string{"repository": r.Name, "commit": s.Commit, "hash": s.Hash().String()},
			Hits:     []query.Evidence{{Position: schemas.PositionOf(s.Position)}},
		})
	}
	return nil
}

// Close releases the codebase.
func (c *Codebase) Close() { c.a.Close() }

// Visible returns the watermark of the graphs.
func (c *Codebase) Visible() schemas.Watermark { return c.a.Visible }

// Steps returns the part of a proof that lists the graphs read.
func (c *Codebase) Steps() []query.Step { return c.a.Proof }

// Left describes the repositories that exceed the limit of a codebase.
func (c *Codebase) Left() string { return c.w.leftOut() }

// Repositories returns the names of the repositories, in order.
func (c *Codebase) Repositories() []string {
	var all []string
	for _, g := range c.w.graphs {
		all = append(all, g.repo)
	}
	return all
}

// Repository returns the full name of the only repository that matches a name or the end of one.
func (c *Codebase) Repository(name string) (string, bool) {
	i, err := c.w.repository(name)
	if err != nil || i < 0 {
		return "", false
	}
	return c.w.graphs[i].repo, true
}

func (c *Codebase) handled(r ref, conf uint16) Handled {
	g := c.w.graphs[r.g]
	return Handled{c.w.symbol(r), g.keys[r.n], confidence(conf), g.madeByMachine(r.n), r}
}

// Unplaced returns the number of routes that Routes leaves out because their prefix is unknown.
func (c *Codebase) Unplaced() int {
	n := 0
	for _, g := range c.w.graphs {
		n += g.unplaced
	}
	return n
}

// Routes returns the routes of all repositories whose whole path is known, ordered by repository, file and place.
func (c *Codebase) Routes() []ServedRoute {
	if c.listed {
		return c.routes
	}
	c.listed = true
	for gi, g := range c.w.graphs {
		for _, r := range g.routes {
			if g.nodes[r.node].test {
				continue
			}
			at := ref{int32(gi), r.node}
			route := ServedRoute{Route: c.handled(at, 1000), Endpoint: r.Endpoint, Name: g.name(r.node)}
			by := rules{along: kindsOf(eHandles), against: kindsOf(eHandles)}
			c.w.from(at, &by, func(to ref, l link) {
				other := c.w.graphs[to.g]
				if other.kind(to.n) != recountv1.SymbolKind_SYMBOL_KIND_ROUTE && !other.nodes[to.n].test {
					route.Handlers = append(route.Handlers, c.handled(to, l.confidence))
				}
			})
			// A resource of a manifest stands for the function that it runs, if that is known.
			isResource := func(h Handled) bool { return h.Kind == "resource" }
			if slices.ContainsFunc(route.Handlers, isResource) && !slices.ContainsFunc(route.Handlers, func(h Handled) bool { return !isResource(h) }) {
				isResource = func(Handled) bool { return false }
			}
			route.Handlers = slices.DeleteFunc(route.Handlers, isResource)
			c.routes = append(c.routes, route)
		}
	}
	return c.routes
}

// Procedure returns what implements a procedure, given its full name "shop.v1.Carts/GetCart":
// methods, or an interface's method if nothing is known to implement it. declared reports whether a
// .proto file of a repository has the procedure.
func (c *Codebase) Procedure(full string) (found []Handled, declared bool) {
	names, declared := c.procedure(full)
	seen := map[ref]bool{}
	add := func(r ref, conf uint16) {
		g := c.w.graphs[r.g]
		if !seen[r] && !g.nodes[r.n].test && !generatedServer(g.owner(r.n)) {
			seen[r] = true
			found = append(found, c.handled(r, conf))
		}
	}
	c.users(names, eServes, func(r ref, e *edge) {
		concrete := false
		by := rules{dispatchAgainst: kindsOf(eImplements, eOverrides)}
		c.w.from(r, &by, func(to ref, _ link) {
			if g := c.w.graphs[to.g]; !g.nodes[to.n].test && !generatedServer(g.owner(to.n)) {
				concrete = true
				add(to, e.confidence)
			}
		})
		if !concrete {
			add(r, e.confidence)
		}
	})
	return found, declared
}

// generatedServer reports whether a type is one that protoc-gen-go-grpc generates for embedding.
func generatedServer(owner string) bool {
	return strings.HasPrefix(owner, "Unimplemented") || strings.HasPrefix(owner, "Unsafe")
}

// procedure returns the symbols by which a procedure is known.
func (c *Codebase) procedure(full string) (names map[symbol]bool, declared bool) {
	service, method, ok := strings.Cut(strings.TrimPrefix(full, "/"), "/")
	if !ok {
		return nil, false
	}
	pkg := ""
	if i := strings.LastIndexByte(service, '.'); i >= 0 {
		pkg, service = service[:i], service[i+1:]
	}
	own := symbol{"proto", pkg, service + "." + method}
	names = map[symbol]bool{own: true}
	for _, g := range c.w.graphs {
		for _, n := range g.declares(own) {
			declared = true
			for _, s := range g.known(n) {
				names[s] = true
			}
		}
	}
	return names, declared
}

// users calls use with the edges of a kind that lead to a symbol with one of the names, in the
// order of the graphs. Edges within a repository are included.
func (c *Codebase) users(names map[symbol]bool, kind recountv1.EdgeKind, use func(ref, *edge)) {
	for gi, g := range c.w.graphs {
		var all []int32
		for s := range names {
			if sym, ok := g.numberOf(s); ok {
				all = append(all, g.users[g.userStart[sym]:g.userStart[sym+1]]...)
			}
		}
		slices.Sort(all)
		for _, i := range all {
			if e := &g.outside[i]; recountv1.EdgeKind(e.kind) == kind {
				use(ref{int32(gi), e.from}, e)
			}
		}
	}
}

// ProcedureCallers returns the places in the code that call a procedure.
func (c *Codebase) ProcedureCallers(full string) (found []Handled) {
	names, _ := c.procedure(full)
	c.users(names, recountv1.EdgeKind_EDGE_KIND_CONSUMES_RPC, func(r ref, e *edge) {
		found = append(found, c.handled(r, e.confidence))
	})
	return found
}

// RouteCallers returns the places in the code that send a request that a route answers.
func (c *Codebase) RouteCallers(route schemas.Endpoint) (found []Handled) {
	for gi, g := range c.w.graphs {
		g.requestsTo(route, func(e *edge) {
			found = append(found, c.handled(ref{int32(gi), e.from}, e.confidence))
		})
	}
	return found
}

// Tables returns the tables and views with a name, "shop.carts" or "carts", ignoring case.
func (c *Codebase) Tables(name string) (found []Handled) {
	_, last, qualified := cutLast(name, '.')
	if !qualified {
		last = name
	}
	for gi, g := range c.w.graphs {
		for i := range g.nodes {
			n := int32(i)
			switch g.kind(n) {
			case recountv1.SymbolKind_SYMBOL_KIND_TABLE, recountv1.SymbolKind_SYMBOL_KIND_VIEW:
			default:
				continue
			}
			chain := g.chain(n)
			if _, own, ok := cutLast(chain, '.'); strings.EqualFold(chain, name) || strings.EqualFold(chain, last) || ok && !qualified && strings.EqualFold(own, last) {
				found = append(found, c.handled(ref{int32(gi), n}, 1000))
			}
		}
	}
	return found
}

// Function finds a function by what a running program reports: its qualified name, and its file and
// line; each may be empty. The file may be an absolute path on the machine of the build or of the
// program: its end is compared.
func (c *Codebase) Function(name, file string, line uint32) (found []Handled) {
	for gi, g := range c.w.graphs {
		var all []int32
		switch {
		case name != "":
			all, _ = g.lookup(name)
			all = slices.DeleteFunc(slices.Clone(all), func(n int32) bool { return file != "" && !samePath(g.keys[n].Path(), file) })
		case file != "" && line > 0:
			for i := range g.nodes {
				if n := int32(i); g.kind(n) == recountv1.SymbolKind_SYMBOL_KIND_FILE && samePath(g.keys[n].Path(), file) {
					all = append(all, g.atLine(g.keys[n].Path(), line)...)
				}
			}
		}
		for _, n := range all {
			if g.chain(n) != "" {
				found = append(found, c.handled(ref{int32(gi), n}, 1000))
			}
		}
	}
	return found
}

// samePath reports whether a path of a repository is the end of a path on a machine, or vice versa.
func samePath(own, seen string) bool {
	seen = strings.TrimPrefix(strings.ReplaceAll(seen, `\`, "/"), "./")
	return own == seen || strings.HasSuffix(seen, "/"+own) || strings.HasSuffix(own, "/"+strings.TrimPrefix(seen, "/"))
}

// Deployment is a workload of a manifest.
type Deployment struct {
	Repo string
	// Dir is the folder that its image is built from; "" if that is unknown or is the repository's
	// root.
	Dir string
	// Built reports whether it is known what the image is built from.
	Built bool
	// Manifest is FILE:LINE of the workload.
	Manifest   string
	Confidence float64
}

// workloads are the kinds of Kubernetes objects that run an image, and Service, which refers to
// one.
var workloads = []string{"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod", "Service"}

// Deployments returns the workloads with a name in Kubernetes and Compose manifests.
func (c *Codebase) Deployments(name string) (all []Deployment) {
	for gi, g := range c.w.graphs {
		for i := range g.nodes {
			n := int32(i)
			if g.kind(n) != recountv1.SymbolKind_SYMBOL_KIND_RESOURCE {
				continue
			}
			chain, kind := g.chain(n), ""
			if g.language(n) == "kubernetes" {
				var ok bool
				if kind, chain, ok = strings.Cut(chain, "/"); !ok || !slices.Contains(workloads, kind) {
					continue
				}
			} else if g.language(n) != "compose" {
				continue
			}
			if chain != name {
				continue
			}
			all = append(all, c.deployed(ref{int32(gi), n}, kind == "Service")...)
		}
	}
	return all
}

// deployed follows a workload to what its image is built from. A Service is one step before its
// workloads.
func (c *Codebase) deployed(at ref, service bool) (all []Deployment) {
	g := c.w.graphs[at.g]
	d := Deployment{Repo: g.repo, Manifest: place(g.keys[at.n].Path(), g.nodes[at.n].line), Confidence: 0.5}
	for _, e := range g.edges[g.out[at.n]:g.out[at.n+1]] {
		switch {
		case service && recountv1.EdgeKind(e.kind) == recountv1.EdgeKind_EDGE_KIND_EXPOSES:
			for _, w := range c.deployed(ref{at.g, e.to}, false) {
				w.Confidence = min(w.Confidence, confidence(e.confidence))
				all = append(all, w)
			}
		case !service && recountv1.EdgeKind(e.kind) == recountv1.EdgeKind_EDGE_KIND_DEPLOYS:
			if dir := slash.Dir(g.keys[e.to].Path()); !d.Built || confidence(e.confidence) > d.Confidence {
				d.Built, d.Confidence = true, confidence(e.confidence)
				d.Dir = strings.TrimPrefix(dir, ".")
			}
		}
	}
	if !service {
		all = append(all, d)
	}
	return all
}

// Callers returns some symbols and what calls them, directly or indirectly; the symbols come first.
func (c *Codebase) Callers(of []Handled, depth int) (all []Handled) {
	var seeds []ref
	for _, h := range of {
		seeds = append(seeds, h.at)
	}
	by := toCallers
	for _, x := range c.w.levels(seeds, &by, depth) {
		h := c.handled(x.ref, x.confidence)
		if x.depth == 0 {
			h = of[slices.IndexFunc(of, func(o Handled) bool { return o.at == x.ref })]
		}
		all = append(all, h)
	}
	return all
}

// Reach returns a symbol and what it calls, directly or indirectly, each with its number of calls
// from the symbol.
func (c *Codebase) Reach(from Handled, depth int) (all []Handled, distance []int) {
	by := toCallees
	by.min = ambiguous
	for _, x := range c.w.levels([]ref{from.at}, &by, depth) {
		if !c.w.graphs[x.g].nodes[x.n].test {
			all, distance = append(all, c.handled(x.ref, x.confidence)), append(distance, int(x.depth))
		}
	}
	return all, distance
}

// Methods returns the hand-written methods and functions with a name, ignoring the case of its
// first letter.
func (c *Codebase) Methods(name string) (found []Handled) {
	if name == "" {
		return nil
	}
	for gi, g := range c.w.graphs {
		for i := range g.nodes {
			n := int32(i)
			switch g.kind(n) {
			case recountv1.SymbolKind_SYMBOL_KIND_METHOD, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION:
			default:
				continue
			}
			own := g.name(n)
			if g.nodes[n].test || len(own) != len(name) || own[1:] != name[1:] || !strings.EqualFold(own[:1], name[:1]) || g.madeByMachine(n) {
				continue
			}
			found = append(found, c.handled(ref{int32(gi), n}, 1000))
		}
	}
	return found
}

// madeByMachine reports whether a node's file was generated from a .proto file, judged by its name.
func (g *Graph) madeByMachine(n int32) bool {
	path := g.keys[n].Path()
	for _, suffix := range []string{".pb.go", "_pb2.py", "_pb2_grpc.py", "_pb.js", "_pb.ts", "_pb.d.ts"} {
		if strings.HasSuffix(path, suffix) {
			return true
		}
	}
	return false
}

// Procedures returns the procedures that .proto files of the repositories declare, such as
// shop.v1.Carts/GetCart, without duplicates.
func (c *Codebase) Procedures() (all []string) {
	seen := map[string]bool{}
	for _, g := range c.w.graphs {
		for i := range g.nodes {
			n := int32(i)
			if g.kind(n) != recountv1.SymbolKind_SYMBOL_KIND_RPC || g.language(n) != "proto" {
				continue
			}
			name := g.owner(n) + "/" + g.name(n)
			if pkg := g.pkg(n); pkg != "" {
				name = pkg + "." + name
			}
			if !seen[name] {
				seen[name] = true
				all = append(all, name)
			}
		}
	}
	return all
}
