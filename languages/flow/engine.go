package flow

import (
	"context"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Language describes a language to the engine.
type Language struct {
	scope.Language
	// Constructor is the name of the method that making an instance calls.
	Constructor string
	// Stub recognizes a name in generated gRPC code and returns what follows it as rest. It is
	// nil if no generated code is known.
	Stub func(pkg, name string) (s scope.Stub, rest string, ok bool)
	// Loads reports whether a function outside the repository loads .proto files.
	Loads func(pkg, name string) bool
	// Common has names of methods that objects outside the repository have. If it is set, a call of
	// a member is taken for the method of the only class whose instances are known to arrive, or, in a
	// language with exports, for the only function of its name, unless the name is common.
	Common map[string]bool
	// Typenames has names of types of engines and libraries, which are not looked for in other files.
	Typenames map[string]bool
	// Served is the number of parameters of a method that serves a procedure. It is used if the
	// generated base is not in the repository, so that its methods are not known.
	Served int
	// Rules returns the language's own rules; nil stands for the default.
	Rules func(*Engine) Rules
}

// Rules are how a language looks names up and follows values in its own way.
type Rules interface {
	scope.Rules
	scope.Routers
	// BindNames finds what files import and what types inherit.
	BindNames()
	// SolveItems gives names their values and follows them until nothing changes.
	SolveItems(ctx context.Context) error
	// Step returns the values that one step of the path makes of v.
	Step(f *scope.Flow, here Site, v *scope.Value, of scope.Path, st scope.Step) scope.Set
	// UseEdges makes the edges from a file to what it imports, ItemEdges those that belong to
	// none of its references.
	UseEdges(l *Linker)
	ItemEdges(l *Linker)
	// ByName returns the function that a call means if only its name is known, nil if there is none.
	ByName(of scope.Path) *scope.Decl
	// Macro makes the edge of the use of a macro.
	Macro(l *Linker, r *recountv1.Reference, name string)
	// IsLiteral reports whether calling a value outside the repository only wraps its argument.
	IsLiteral(v *scope.Value) bool
}

// Engine follows the values in the program of one language.
type Engine struct {
	*scope.Program
	Lang     *Language
	rules    Rules
	settling bool // a decorator without a known result then returns what it decorates
	solved   bool // values no longer flow
	nested   int
	// memberNames has the names of the functions that classes declare.
	memberNames map[string]bool
	named       *named                // see onlyNamed
	shapes      *shapes               // see shaped
	assigned    map[string][]assigned // see fieldKnown
	// made has the routers that calls without a name make, by call.
	made map[call]*scope.Value
	// unknown has the parameters that calls outside tests give something of which nothing is known.
	unknown map[*scope.Variable]map[given]bool
	// tried has the parameters that calls give something known: true if only calls in tests do.
	tried     map[*scope.Variable]bool
	registers *registers
	// withMethods has the object literals with functions.
	withMethods map[*scope.Value]bool
	// mixes is set if the program mixes objects into others, mixtures has those that were, and mixing is set while a
	// member is looked up in them.
	mixes    bool
	mixing   bool
	mixtures map[mixture]bool
	// texts has the constants that are members of objects.
	texts map[member]string
	// optional has the parameters that are texts if a call passes none, with those texts.
	optional map[*scope.Variable][]string
	// viewed has the classes of variables that are set to View.as_view().
	viewed map[*scope.Decl]viewed
	// bare has the plugins that get no prefix, nil before they were collected.
	bare map[*scope.Decl]bool
	// ambient has the modules that files of types declare, overwritten the methods whose places others take.
	ambient     map[string][]*scope.Decl
	overwritten map[*scope.Decl]bool
	// extends has the names of members to which something is assigned.
	extends map[string]bool
	// extended has the containers of what is put into prototypes of other packages.
	extended []*scope.Value
	// entries has what files bind to members of their objects, see entry.
	entries map[*scope.Module]map[string][]string
	// typedefs has what types that comments declare say, onlyClasses the classes that are the only ones of their names.
	typedefs    map[*scope.Value]scope.Set
	onlyClasses map[string]*scope.Decl
	// given has the texts that calls pass to parameters as literals.
	given map[*scope.Variable]map[string]bool
}

// NewResolver returns a resolver that follows values by this engine.
func NewResolver(lang *Language) scope.Resolver {
	return scope.Resolver{Lang: &lang.Language, Start: func(p *scope.Program) func(context.Context) ([]resolve.FileGraph, error) {
		e := &Engine{Program: p, Lang: lang, made: map[call]*scope.Value{}, unknown: map[*scope.Variable]map[given]bool{}, tried: map[*scope.Variable]bool{}, texts: map[member]string{}, optional: map[*scope.Variable][]string{}, viewed: map[*scope.Decl]viewed{}, given: map[*scope.Variable]map[string]bool{}, withMethods: map[*scope.Value]bool{}, mixtures: map[mixture]bool{}, entries: map[*scope.Module]map[string][]string{}, typedefs: map[*scope.Value]scope.Set{}}
		if lang.Rules != nil {
			e.rules = lang.Rules(e)
			p.Rules = e.rules
		}
		return e.resolve
	}}
}

// resolve returns the graphs of the program's files.
func (p *Engine) resolve(ctx context.Context) ([]resolve.FileGraph, error) {
	if p.rules != nil {
		p.rules.BindNames()
	} else {
		for _, m := range p.Modules {
			p.addImports(m)
		}
		p.findMixes()
		p.addBases()
	}
	if err := p.solve(ctx); err != nil {
		return nil, err
	}
	p.solved = true
	p.nameMembers()
	graphs := make([]resolve.FileGraph, len(p.Modules))
	byPath := make(map[string]*resolve.FileGraph, len(p.Modules))
	for i, m := range p.Modules {
		graphs[i] = resolve.Base(m.File, m.Facts, m.Name)
		byPath[m.File.Path] = &graphs[i]
	}
	var known scope.Routers = routers{p}
	if p.rules != nil {
		known = p.rules
	}
	routing := scope.NewRouting(p.Program, known)
	serving := serving{p, byPath}
	for i, m := range p.Modules {
		l := Linker{Linker: scope.Linker{Program: p.Program, Module: m, Graph: &graphs[i]}, e: p}
		l.link()
		routing.Routes(m, byPath)
		serving.module(m)
	}
	for i := range graphs {
		graphs[i].Normalize()
	}
	return graphs, nil
}
