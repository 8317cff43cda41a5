package scope

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	calls      = recountv1.EdgeKind_EDGE_KIND_CALLS
	mayCall    = recountv1.EdgeKind_EDGE_KIND_MAY_CALL
	references = recountv1.EdgeKind_EDGE_KIND_REFERENCES

	scopeResolved = recountv1.Provenance_PROVENANCE_SCOPE_RESOLVED
	byFlow        = recountv1.Provenance_PROVENANCE_FLOW
)

// linker makes the edges that begin in one file.
type linker struct {
	p     *program
	m     *module
	graph *resolve.FileGraph
}

func fileKey(m *module) schemas.NodeKey { return resolve.FileKey(m.file.Path) }

func (l *linker) edge(kind recountv1.EdgeKind, in uint32, to schemas.NodeKey, how recountv1.Provenance, at *recountv1.Place) {
	l.graph.Edges = append(l.graph.Edges, resolve.Edge{From: l.m.key(in), To: to, Kind: kind, Edge: resolve.EdgeAt(how, at)})
}

func (l *linker) external(kind recountv1.EdgeKind, in uint32, pkg, name string, at *recountv1.Place) {
	l.outside(kind, in, l.p.lang.outside, pkg, name, scopeResolved, at)
}

func (l *linker) outside(kind recountv1.EdgeKind, in uint32, lang, pkg, name string, how recountv1.Provenance, at *recountv1.Place) {
	l.graph.Externals = append(l.graph.Externals, resolve.External{
		From: l.m.key(in), Kind: kind, Language: lang, Package: pkg, Name: name, Edge: resolve.EdgeAt(how, at),
	})
}

func (l *linker) unresolved(kind recountv1.EdgeKind, in uint32, path string, at *recountv1.Place) {
	l.graph.Unresolved = append(l.graph.Unresolved, resolve.Unresolved{From: l.m.key(in), Kind: kind, Path: path, At: at})
}

// effect leads to what is outside of every program.
func (l *linker) effect(r *recountv1.Reference) {
	switch r.Edge {
	case recountv1.EdgeKind_EDGE_KIND_READS_ENV:
		l.outside(r.Edge, r.In, "", "env", r.Attributes["variable"], scopeResolved, r.At)
	case recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS:
		if command := strings.Fields(r.Attributes["command"]); len(command) > 0 {
			l.outside(r.Edge, r.In, "", "process", command[0], scopeResolved, r.At)
		}
	case recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT:
		l.outside(r.Edge, r.In, "", "http", r.Attributes["method"]+" "+r.Attributes["url"], scopeResolved, r.At)
	}
}

// target is where a call could lead: a declaration, or something of elsewhere.
type target struct {
	decl     *decl
	external *value
}

// targets are a call's, in the order found, and whether each is sure. known is also
// true where the call leads to a method of a container.
type targets struct {
	list  []target
	sure  map[target]bool
	known bool
}

func (t *targets) add(to target, sure bool) {
	if t.sure == nil {
		t.sure = map[target]bool{}
	}
	was, there := t.sure[to]
	if !there {
		t.list = append(t.list, to)
	}
	t.sure[to] = was || sure
	t.known = true
}

// emit makes the edges of a call: calls where one target is sure, and may_call to
// the others.
func (l *linker) emit(in uint32, at *recountv1.Place, t *targets) {
	from := l.m.decl(in)
	testing := l.m.test || from != nil && from.Test
	if !testing {
		t.list = slices.DeleteFunc(t.list, func(to target) bool {
			return !t.sure[to] && to.decl != nil && (to.decl.Test || to.decl.mod.test)
		})
	}
	sure := 0
	for _, to := range t.list {
		if t.sure[to] {
			sure++
		}
	}
	unsure := len(t.list) - sure
	for _, to := range t.list {
		kind, how := mayCall, byFlow
		if t.sure[to] && sure == 1 {
			kind, how = calls, scopeResolved
		} else if !t.sure[to] && unsure > maxTargets {
			continue
		}
		if to.external != nil {
			l.outside(kind, in, l.p.lang.outside, to.external.pkg, to.external.name, how, at)
		} else {
			l.edge(kind, in, to.decl.key, how, at)
		}
	}
}

const (
	implementsRPC = recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS_RPC
	consumesRPC   = recountv1.EdgeKind_EDGE_KIND_CONSUMES_RPC
)

// stub is what a name of generated code stands for.
type stub struct {
	// pkg is the package by which the language knows the service's procedures.
	pkg, service string
	// server: it is what a server's class extends, or its description; else a client.
	server bool
}
