package flow

import (
	"context"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Language is what the engine of flows must know of a language.
type Language struct {
	scope.Language
	// Constructor is the method that making an instance calls.
	Constructor string
	// Stub finds what a name of generated gRPC code is; nil where none is known.
	Stub func(pkg, name string) (s scope.Stub, rest string, ok bool)
	// Loads reports whether calling a name of elsewhere reads .proto files.
	Loads func(pkg, name string) bool
	// Served is how many parameters a method that serves has, where its generated
	// base does not say which methods do.
	Served int
	// Rules makes what the language does in its own way; nil is the default.
	Rules func(*Engine) Rules
}

// Rules are how a language follows values in its own way.
type Rules interface {
	scope.Rules
	// BindNames finds what is imported and what types inherit.
	BindNames()
	// SolveItems gives names their values.
	SolveItems(ctx context.Context) error
	// Step is what a path's next step makes of a value.
	Step(f *scope.Flow, here Site, v *scope.Value, of scope.Path, st scope.Step) scope.Set
	// UseEdges make a file's edges to what it imports, itemEdges those that belong to
	// none of its references.
	UseEdges(l *Linker)
	ItemEdges(l *Linker)
	// ByName is what a call means of which nothing but its name is known; nil for nothing.
	ByName(of scope.Path) *scope.Decl
	// Macro makes the edge of a macro's use.
	Macro(l *Linker, r *recountv1.Reference, name string)
	// IsLiteral reports whether calling something of elsewhere only wraps a value.
	IsLiteral(v *scope.Value) bool
}

// Engine follows values through a program of a language.
type Engine struct {
	*scope.Program
	Lang     *Language
	rules    Rules
	settling bool // decorators that gave nothing give what they decorate
	solved   bool // nothing flows any more
	nested   int
}

// NewResolver makes a resolver of a language whose values are followed.
func NewResolver(lang *Language) scope.Resolver {
	return scope.Resolver{Lang: &lang.Language, Start: func(p *scope.Program) func(context.Context) ([]resolve.FileGraph, error) {
		e := &Engine{Program: p, Lang: lang}
		if lang.Rules != nil {
			e.rules = lang.Rules(e)
			p.Rules = e.rules
		}
		return e.resolve
	}}
}

// resolve makes the graphs of the program's files.
func (p *Engine) resolve(ctx context.Context) ([]resolve.FileGraph, error) {
	if p.rules != nil {
		p.rules.BindNames()
	} else {
		for _, m := range p.Modules {
			p.addImports(m)
		}
		p.addBases()
	}
	if err := p.solve(ctx); err != nil {
		return nil, err
	}
	p.solved = true
	graphs := make([]resolve.FileGraph, len(p.Modules))
	byPath := make(map[string]*resolve.FileGraph, len(p.Modules))
	for i, m := range p.Modules {
		graphs[i] = resolve.Base(m.File, m.Facts, m.Name)
		byPath[m.File.Path] = &graphs[i]
	}
	routing := scope.NewRouting(p.Program)
	serving := serving{p, byPath}
	for i, m := range p.Modules {
		l := Linker{scope.Linker{Program: p.Program, Module: m, Graph: &graphs[i]}, p}
		l.link()
		routing.Routes(m, byPath)
		serving.module(m)
	}
	for i := range graphs {
		graphs[i].Normalize()
	}
	return graphs, nil
}
