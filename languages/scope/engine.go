package scope

import (
	"context"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// flowLanguage is what the engine of flows must know of a language.
type flowLanguage struct {
	language
	// constructor is the method that making an instance calls.
	constructor string
	// stub finds what a name of generated gRPC code is; nil where none is known.
	stub func(pkg, name string) (s stub, rest string, ok bool)
	// loads reports whether calling a name of elsewhere reads .proto files.
	loads func(pkg, name string) bool
	// served is how many parameters a method that serves has, where its generated
	// base does not say which methods do.
	served int
	// rules makes what the language does in its own way; nil is the default.
	rules func(*engine) flowRules
}

// flowRules are how a language follows values in its own way.
type flowRules interface {
	nameRules
	// bindNames finds what is imported and what types inherit.
	bindNames()
	// solveItems gives names their values.
	solveItems(ctx context.Context) error
	// step is what a path's next step makes of a value.
	step(f *flow, here at, v *value, of path, st step) set
	// useEdges make a file's edges to what it imports, itemEdges those that belong to
	// none of its references.
	useEdges(l *flowLinker)
	itemEdges(l *flowLinker)
	// byName is what a call means of which nothing but its name is known; nil for nothing.
	byName(of path) *decl
	// macro makes the edge of a macro's use.
	macro(l *flowLinker, r *recountv1.Reference, name string)
	// isLiteral reports whether calling something of elsewhere only wraps a value.
	isLiteral(v *value) bool
}

// engine follows values through a program of a language.
type engine struct {
	*program
	lang     *flowLanguage
	rules    flowRules
	settling bool // decorators that gave nothing give what they decorate
	solved   bool // nothing flows any more
	nested   int
}

// newFlowResolver makes a resolver of a language whose values are followed.
func newFlowResolver(lang *flowLanguage) Resolver {
	return Resolver{&lang.language, func(p *program) func(context.Context) ([]resolve.FileGraph, error) {
		e := &engine{program: p, lang: lang}
		if lang.rules != nil {
			e.rules = lang.rules(e)
			p.rules = e.rules
		}
		return e.resolve
	}}
}

// resolve makes the graphs of the program's files.
func (p *engine) resolve(ctx context.Context) ([]resolve.FileGraph, error) {
	if p.rules != nil {
		p.rules.bindNames()
	} else {
		for _, m := range p.modules {
			p.addImports(m)
		}
		p.addBases()
	}
	if err := p.solve(ctx); err != nil {
		return nil, err
	}
	p.solved = true
	graphs := make([]resolve.FileGraph, len(p.modules))
	byPath := make(map[string]*resolve.FileGraph, len(p.modules))
	for i, m := range p.modules {
		graphs[i] = resolve.Base(m.file, m.facts, m.name)
		byPath[m.file.Path] = &graphs[i]
	}
	routing := newRouting(p.program)
	serving := serving{p, byPath}
	for i, m := range p.modules {
		l := flowLinker{linker{p.program, m, &graphs[i]}, p}
		l.link()
		routing.routes(m, byPath)
		serving.module(m)
	}
	for i := range graphs {
		graphs[i].Normalize()
	}
	return graphs, nil
}
