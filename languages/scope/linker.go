package scope

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	Calls      = recountv1.EdgeKind_EDGE_KIND_CALLS
	MayCall    = recountv1.EdgeKind_EDGE_KIND_MAY_CALL
	References = recountv1.EdgeKind_EDGE_KIND_REFERENCES

	ScopeResolved = recountv1.Provenance_PROVENANCE_SCOPE_RESOLVED
	ByFlow        = recountv1.Provenance_PROVENANCE_FLOW
)

// Linker makes the edges that begin in one file.
type Linker struct {
	Program *Program
	Module  *Module
	Graph   *resolve.FileGraph
}

// FileKey returns the key of the node of a module's file.
func FileKey(m *Module) schemas.NodeKey { return resolve.FileKey(m.File.Path) }

// Edge adds an edge from the declaration with the index in (plus 1; 0 is the file) to a node.
func (l *Linker) Edge(kind recountv1.EdgeKind, in uint32, to schemas.NodeKey, how recountv1.Provenance, at *recountv1.Place) {
	l.Graph.Edges = append(l.Graph.Edges, resolve.Edge{From: l.Module.Key(in), To: to, Kind: kind, Edge: resolve.EdgeAt(how, at)})
}

// How returns the provenance of a sure edge to a declaration, which may be nil: what another script declares is only
// known to be meant by who else declares its name.
func (l *Linker) How(to *Decl) recountv1.Provenance {
	if to != nil && to.Mod != l.Module && l.Program.Lang.Exports && l.Module.isScript() {
		return ByFlow
	}
	return ScopeResolved
}

// External adds an edge to a name of the language outside the repository.
func (l *Linker) External(kind recountv1.EdgeKind, in uint32, pkg, name string, at *recountv1.Place) {
	l.Outside(kind, in, l.Program.Lang.Outside, pkg, name, ScopeResolved, at)
}

// Outside adds an edge to a name outside the repository, of any language.
func (l *Linker) Outside(kind recountv1.EdgeKind, in uint32, lang, pkg, name string, how recountv1.Provenance, at *recountv1.Place) {
	l.Graph.Externals = append(l.Graph.Externals, resolve.External{
		From: l.Module.Key(in), Kind: kind, Language: lang, Package: pkg, Name: name, Edge: resolve.EdgeAt(how, at),
	})
}

// Unresolved adds a reference that nothing was found for.
func (l *Linker) Unresolved(kind recountv1.EdgeKind, in uint32, path string, at *recountv1.Place) {
	l.Graph.Unresolved = append(l.Graph.Unresolved, resolve.Unresolved{From: l.Module.Key(in), Kind: kind, Path: path, At: at})
}

// Effect makes the edges to what is outside every program: environment variables, processes and
// HTTP endpoints.
func (l *Linker) Effect(r *recountv1.Reference) {
	switch r.Edge {
	case recountv1.EdgeKind_EDGE_KIND_READS_ENV:
		l.Outside(r.Edge, r.In, "", "env", r.Attributes["variable"], ScopeResolved, r.At)
	case recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS:
		if command := strings.Fields(r.Attributes["command"]); len(command) > 0 {
			l.Outside(r.Edge, r.In, "", "process", command[0], ScopeResolved, r.At)
		}
	case recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT:
		l.Outside(r.Edge, r.In, "", "http", r.Attributes["method"]+" "+r.Attributes["url"], ScopeResolved, r.At)
	}
}

// Target is what a call may lead to: a declaration, or a value outside the repository.
type Target struct {
	Decl     *Decl
	External *Value
}

// Targets are the targets of one call in the order in which they were found, and whether each is
// sure. Known is true also if the call leads to a method of a container, which is no target.
type Targets struct {
	List  []Target
	Sure  map[Target]bool
	Known bool
}

// Add adds a target. It is sure if it was added as sure once.
func (t *Targets) Add(to Target, sure bool) {
	if t.Sure == nil {
		t.Sure = map[Target]bool{}
	}
	was, there := t.Sure[to]
	if !there {
		t.List = append(t.List, to)
	}
	t.Sure[to] = was || sure
	t.Known = true
}

// imports reports whether a file imports another one, or is it.
func (m *Module) imports(other *Module) bool {
	if m == other || slices.ContainsFunc(m.Stars, func(i Imported) bool { return i.Mod == other }) {
		return true
	}
	for _, s := range m.Scopes {
		for _, v := range s.Vars {
			if slices.ContainsFunc(v.Imports, func(i Imported) bool { return i.Mod == other }) {
				return true
			}
		}
	}
	return false
}

// alternatives reports whether the sure targets are declarations of one name in the branches of a
// condition, as for two platforms.
func (t *Targets) alternatives() bool {
	var first *Decl
	for _, to := range t.List {
		switch d := to.Decl; {
		case !t.Sure[to]:
		case d == nil || d.Attributes[conditional] == "" && d.Attributes[condition] == "":
			return false
		case first == nil:
			first = d
		case d.Outer != first.Outer || d.Of != first.Of || d.Name != first.Name:
			return false
		}
	}
	return first != nil
}

// declared returns the method of a class if it is the only one among the sure targets, and the others are
// functions that are put into its place on instances, as a subclass would override it. It returns nil if
// there is no such method.
func (t *Targets) declared() (method *Decl) {
	for _, to := range t.List {
		switch {
		case !t.Sure[to] || to.Decl != nil && !to.Decl.isMember():
		case to.Decl == nil || method != nil || to.Decl.Class() == nil:
			return nil
		default:
			method = to.Decl
		}
	}
	return method
}

// Overridden returns the sure target whose class all other sure targets' classes extend or implement: the method
// of a declared type, beside those of what is known to be assigned. It returns nil if there is none.
func (p *Program) Overridden(t *Targets) *Decl {
	var base *Decl
	for _, to := range t.List {
		switch {
		case !t.Sure[to]:
		case to.Decl == nil || to.Decl.Class() == nil:
			return nil
		case base == nil || to.Decl.Class() != base.Class() && p.extends(base.Class(), to.Decl.Class(), map[*Decl]bool{}):
			base = to.Decl
		}
	}
	for _, to := range t.List {
		if t.Sure[to] && to.Decl != base && (to.Decl.Class() == base.Class() || !p.extends(to.Decl.Class(), base.Class(), map[*Decl]bool{})) {
			return nil
		}
	}
	return base
}

// Extends reports whether a class extends or implements another one.
func (p *Program) Extends(class, base *Decl) bool { return p.extends(class, base, map[*Decl]bool{}) }

// extends reports whether a class extends or implements another one, among the bases that were not seen yet.
func (p *Program) extends(class, base *Decl, seen map[*Decl]bool) bool {
	seen[base] = true
	for _, sub := range p.Subs[base] {
		if sub == class || !seen[sub] && p.extends(class, sub, seen) {
			return true
		}
	}
	return false
}

// conditional is the attribute of a declaration in one of several branches, condition that of one with the
// condition under which it is compiled.
const (
	conditional = "conditional"
	condition   = "cfg"
)

// Emit makes the edges of a call: calls to a sure target if it is the only one, may_call to the
// others. It leaves out targets that only tests and examples pass in, unless the call is in one.
func (l *Linker) Emit(in uint32, at *recountv1.Place, t *Targets) {
	from := l.Module.Decl(in)
	testing := l.Module.Test || from != nil && from.Test
	if !testing {
		t.List = slices.DeleteFunc(t.List, func(to Target) bool {
			if to.Decl == nil || !to.Decl.Test && l.Module.Sees(to.Decl.Mod) {
				return false
			}
			followed := !l.Program.Lang.Typed && l.Program.Rules == nil
			return !t.Sure[to] || followed && !l.Module.imports(to.Decl.Mod)
		})
	}
	sure := 0
	for _, to := range t.List {
		if t.Sure[to] {
			sure++
		}
	}
	unsure := len(t.List) - sure
	if sure > 1 && t.alternatives() {
		sure = 1
	}
	var own *Decl
	if l.Program.Lang.Exports {
		own = t.declared()
	}
	if own == nil && sure > 1 && !l.Program.Lang.Typed && l.Program.Rules == nil {
		own = l.Program.Overridden(t)
	}
	for _, to := range t.List {
		kind, how := MayCall, ByFlow
		if t.Sure[to] && (sure == 1 || own != nil && to.Decl == own) {
			kind, how = Calls, l.How(to.Decl)
		} else if !t.Sure[to] && unsure > maxTargets {
			continue
		}
		if to.External != nil {
			l.Outside(kind, in, l.Program.Lang.Outside, to.External.Pkg, to.External.Name, how, at)
		} else {
			l.Edge(kind, in, to.Decl.Key, how, at)
		}
	}
}

const (
	ImplementsRPC = recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS_RPC
	ConsumesRPC   = recountv1.EdgeKind_EDGE_KIND_CONSUMES_RPC
)

// Stub is what a name in generated gRPC code stands for.
type Stub struct {
	// Pkg is the package by which the language knows the procedures of the service.
	Pkg, Service string
	// Server is set if the name is what a server extends or registers; otherwise it is a client.
	Server bool
}
