package main

import (
	"errors"
	"fmt"
	"go/types"
	"os"
	"strings"

	"golang.org/x/tools/go/callgraph"
	"golang.org/x/tools/go/callgraph/static"
	"golang.org/x/tools/go/callgraph/vta"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// oracle has the call graphs of x/tools for a module.
type oracle struct {
	module      string
	paths       map[string]bool // the module's packages
	static, vta map[pair]bool
}

// load builds the module's program as cmd/callgraph does.
func load(dir string) (*oracle, error) {
	initial, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Dir: dir,
		Env: append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "GOFLAGS=-mod=readonly"),
	}, "./...")
	if err != nil {
		return nil, err
	}
	if len(initial) == 0 || initial[0].Module == nil {
		return nil, errors.New("no packages of a module")
	}
	o := &oracle{module: initial[0].Module.Path, paths: map[string]bool{}}
	for _, p := range initial {
		for _, e := range p.Errors {
			return nil, fmt.Errorf("%s: %v", p.PkgPath, e)
		}
		o.paths[p.PkgPath] = true
	}
	prog, _ := ssautil.AllPackages(initial, ssa.InstantiateGenerics)
	prog.Build()
	all := ssautil.AllFunctions(prog)
	o.static = o.pairs(static.CallGraph(prog))
	var literals func(f *ssa.Function)
	literals = func(f *ssa.Function) {
		for _, b := range f.Blocks {
			for _, instr := range b.Instrs {
				if site, ok := instr.(ssa.CallInstruction); ok {
					if callee := site.Common().StaticCallee(); callee != nil {
						o.add(o.static, f, callee)
					}
				}
			}
		}
		for _, anon := range f.AnonFuncs {
			literals(anon)
		}
	}
	for f := range all {
		literals(f)
	}
	o.vta = o.pairs(vta.CallGraph(all, nil))
	return o, nil
}

func (o *oracle) pairs(g *callgraph.Graph) map[pair]bool {
	pairs := map[pair]bool{}
	for _, n := range g.Nodes {
		if n.Func == nil {
			continue
		}
		for _, e := range n.Out {
			o.add(pairs, n.Func, e.Callee.Func)
		}
	}
	return pairs
}

func (o *oracle) add(pairs map[pair]bool, from, to *ssa.Function) {
	caller, ok := o.name(from, false)
	if !ok {
		return
	}
	callee, ok := o.name(to, true)
	if !ok || caller == callee && to.Parent() != nil || strings.HasSuffix(callee, " init") {
		return
	}
	pairs[pair{caller, callee}] = true
}

// name returns a function's name in the form of the resolver's nodes. A called wrapper has
// the name of the method that it calls; a calling wrapper has none.
func (o *oracle) name(f *ssa.Function, called bool) (string, bool) {
	for f.Parent() != nil {
		f = f.Parent()
	}
	if f.Origin() != nil {
		f = f.Origin()
	}
	if f.Synthetic == "package initializer" {
		return f.Pkg.Pkg.Path() + " init", o.paths[f.Pkg.Pkg.Path()]
	}
	if f.Synthetic != "" && !called {
		return "", false
	}
	obj, ok := f.Object().(*types.Func)
	if !ok || obj.Pkg() == nil || !o.paths[obj.Pkg().Path()] {
		return "", false
	}
	obj = obj.Origin()
	name := obj.Name()
	if recv := obj.Signature().Recv(); recv != nil {
		t := types.Unalias(recv.Type())
		if p, ok := t.(*types.Pointer); ok {
			t = types.Unalias(p.Elem())
		}
		named, ok := t.(*types.Named)
		if !ok || types.IsInterface(named) {
			return "", false
		}
		name = named.Obj().Name() + "." + name
	}
	return obj.Pkg().Path() + " " + name, true
}
