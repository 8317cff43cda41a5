package scope

import (
	"slices"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxWrappers limits the functions that are looked at to find out whether one wraps what it is given.
const maxWrappers = 64

// wrapped returns the function that calls wrap as the handler of a route, wrap(auth.login): the only one among what they
// are given, if the calls' results call it. It is ByFlow if a called function is not known.
func (rt *Routing) wrapped(m *Module, in uint32, r *recountv1.RouteFact) (handler *Decl, how recountv1.Provenance) {
	if len(r.Given) == 0 {
		return nil, 0
	}
	wrappers := []string{r.Handler}
	for _, path := range r.Given {
		if strings.HasSuffix(path, "()") {
			wrappers = append(wrappers, path)
			continue
		}
		if d := rt.know.Handler(m, in, m.Path(path)); d != nil && d.IsFunction() {
			if handler != nil && handler != d {
				return nil, 0
			}
			handler = d
		}
	}
	if handler == nil {
		return nil, 0
	}
	how = ScopeResolved
	for _, path := range wrappers {
		switch d := rt.know.Handler(m, in, m.Path(strings.TrimSuffix(path, "()"))); {
		case d == nil || !d.IsFunction():
			how = ByFlow
		case !rt.wraps(d, map[*Decl]bool{}):
			return nil, 0
		}
	}
	return handler, how
}

// wraps reports whether the result of a function calls a parameter, or the function gives a parameter to one of which
// that is so. It leaves out functions that were seen before.
func (rt *Routing) wraps(d *Decl, seen map[*Decl]bool) bool {
	if d.Attributes[Wraps] != "" {
		return true
	}
	if seen[d] || len(seen) == maxWrappers {
		return false
	}
	seen[d] = true
	for _, ref := range d.Mod.Facts.References {
		if ref.In != d.Index || ref.Edge != Calls {
			continue
		}
		if !slices.ContainsFunc(ref.Args, func(a *recountv1.Argument) bool {
			return slices.ContainsFunc(d.Parameters, func(p *recountv1.Parameter) bool { return p.Name == a.Path })
		}) {
			continue
		}
		if to := rt.know.Handler(d.Mod, ref.In, d.Mod.Path(ref.Path)); to != nil && to.IsFunction() && rt.wraps(to, seen) {
			return true
		}
	}
	return false
}
