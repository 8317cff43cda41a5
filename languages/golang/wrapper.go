package golang

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// An application often has functions and types of its own around a router:
//
//	func (s *server) get(path string, h handler) { s.router.Get(path, wrap(h)) }
//
// The body of such a function is read once for each of its calls, with the arguments in place of its parameters.
// A value whose type holds one router stands for that router.

// passing is a call of a function of the repository, with what is passed to its parameters.
type passing struct {
	fn   string
	at   string // the result
	recv string
	args []argument
	site registered // where the call is
}

// argument is what is passed to a parameter.
type argument struct {
	spot    string
	text    text
	targets []target
}

// heldBy separates, in a spot, a value from its field.
const heldBy = "\x00"

// Limits: calls of wrappers in wrappers, and wrappers that are read for a call.
const (
	maxWrapped  = 6
	maxWrappers = 4096
)

// local is the spot of a place inside of the function that is read.
func (r *routing) local(at token.Pos) string {
	place := r.fset.Position(at).String()
	if r.body == nil || r.body.fn == "" {
		return place
	}
	return r.body.fn + "|" + place
}

// near reports whether a function is declared in the repository.
func (r *routing) near(fn *types.Func) bool { return r.target(fn.Origin()).key != "" }

// holder notes the fields of a struct that are declared to hold a router.
func (r *routing) holder(spec *ast.TypeSpec) {
	st, ok := spec.Type.(*ast.StructType)
	obj := r.info.Defs[spec.Name]
	if !ok || obj == nil || obj.Pkg() == nil {
		return
	}
	for _, f := range st.Fields.List {
		t := f.Type
		if star, ok := t.(*ast.StarExpr); ok {
			t = star.X
		}
		if r.made(t) == nil {
			continue
		}
		of := obj.Pkg().Path() + "." + obj.Name() + "."
		for _, name := range f.Names {
			r.facts.holders[of+name.Name] = false
		}
		if len(f.Names) == 0 {
			r.facts.holders[of+t.(*ast.SelectorExpr).Sel.Name] = true
		}
	}
}

// literal notes what the fields of a struct are set to.
func (r *routing) literal(n *ast.CompositeLit) {
	t := r.info.Types[n].Type
	named := namedOf(t)
	if named == nil {
		return
	}
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for i, e := range n.Elts {
		name := ""
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if id, ok := kv.Key.(*ast.Ident); ok {
				name = id.Name
			}
			e = kv.Value
		} else if i < st.NumFields() {
			name = st.Field(i).Name()
		}
		if field := r.field(t, name); name != "" && field != "" {
			r.flow(r.value(e), r.local(n.Pos())+heldBy+field)
		}
	}
}

// calls notes a call of a function of the repository.
func (r *routing) calls(call *ast.CallExpr, fn *types.Func) {
	c := passing{fn: fn.FullName(), at: r.value(call), site: r.here}
	c.site.start, c.site.end = place(r.fset, call.Pos()), place(r.fset, endOf(r.fset, call))
	if sel, ok := call.Fun.(*ast.SelectorExpr); ok && fn.Signature().Recv() != nil {
		c.recv = r.value(sel.X)
	}
	told := c.recv != ""
	for i, arg := range call.Args {
		a := argument{spot: r.value(arg)}
		if params := fn.Signature().Params(); i < params.Len() {
			if isText(params.At(i).Type()) {
				a.text = r.text(arg)
			} else {
				a.targets = r.handlers(arg, r.body.key)
			}
		}
		told = told || a.spot != "" || a.text.known
		c.args = append(c.args, a)
	}
	if !told {
		r.flow(c.fn+"=>", c.at)
		return
	}
	r.body.calls = append(r.body.calls, c)
}

// parameterMark is the package of a target that stands for what is passed to a parameter.
const parameterMark = "\x01"

// parameterTarget returns the target for a parameter that is a handler.
func (r *routing) parameterTarget(e ast.Expr) (target, bool) {
	id, ok := ast.Unparen(e).(*ast.Ident)
	if !ok {
		return target{}, false
	}
	v, ok := r.info.Uses[id].(*types.Var)
	if !ok || r.params[v] == "" {
		return target{}, false
	}
	return target{pkg: parameterMark, name: r.params[v]}, true
}

// unwrapping reads the bodies of wrappers, once for each of their calls.
type unwrapping struct {
	*routers
	of       map[string][]*routeBody
	wrapper  map[*routeBody]bool
	called   map[*routeBody]bool
	stands   map[string]bool // the fields whose struct stands for the router in it
	returns  map[string]text
	results  map[string]textCall
	declared map[string]*framework // by the spots of all units, and below by those of wrappers that were read
	below    map[string]*framework
	count    int
}

// unwrap sets the bodies of routers. It returns the declared routers of wrappers that were read.
func (r *routers) unwrap() map[string]*framework {
	w := &unwrapping{
		routers: r, of: map[string][]*routeBody{}, wrapper: map[*routeBody]bool{}, called: map[*routeBody]bool{}, stands: map[string]bool{},
		returns: map[string]text{}, results: map[string]textCall{}, declared: map[string]*framework{}, below: map[string]*framework{},
	}
	for _, u := range r.units {
		for _, b := range u.bodies {
			if b.fn != "" {
				w.of[b.fn] = append(w.of[b.fn], b)
			}
		}
		maps.Copy(w.returns, u.returns)
		maps.Copy(w.results, u.results)
		maps.Copy(w.declared, u.declared)
	}
	w.find()
	for _, u := range r.units {
		for _, b := range u.bodies {
			if !w.wrapper[b] {
				w.read(b, wrapped{})
			}
		}
	}
	named := map[string]bool{}
	for _, u := range r.units {
		for _, b := range u.bodies {
			for _, c := range b.calls {
				named[c.fn] = true
			}
		}
	}
	for _, last := range [...]bool{false, true} { // what nothing calls may call others
		for _, u := range r.units {
			for _, b := range u.bodies {
				if w.wrapper[b] && !w.called[b] && named[b.fn] == last { // the arguments are not known
					w.read(b, wrapped{})
				}
			}
		}
	}
	return w.below
}

// find finds the wrappers: functions whose routes depend on texts that are passed to them, or that return a
// router made from one of their parameters.
func (w *unwrapping) find() {
	fields := map[string]int{}
	for _, u := range w.units {
		for f := range u.holders {
			fields[f[:strings.LastIndex(f, ".")]]++
		}
	}
	single := func(field string) bool { return fields[field[:max(strings.LastIndex(field, "."), 0)]] == 1 }
	for _, u := range w.units {
		for f, embedded := range u.holders {
			if embedded && single(f) {
				w.stands[f] = true
			}
		}
		for _, b := range u.bodies {
			if b.fn == "" || !b.depends() {
				continue
			}
			w.wrapper[b] = true
			on := func(at string) {
				if of, field, ok := cutLast(at, heldBy); ok && of == b.fn+"#-1" && single(field) {
					w.stands[field] = true
				}
			}
			for _, c := range b.chains {
				on(c.on)
			}
			for _, c := range b.routes {
				on(c.on)
			}
			for _, c := range b.mounts {
				on(c.on)
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for _, u := range w.units {
			for _, b := range u.bodies {
				if b.fn != "" && !w.wrapper[b] && w.wraps(b) {
					w.wrapper[b], grown = true, true
				}
			}
		}
	}
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// depends reports whether a body has texts of routers and routes that its function's parameters are part of.
func (b *routeBody) depends() bool {
	own := openMark + b.fn + "#"
	is := func(t text) bool { return strings.Contains(t.is, own) }
	for _, c := range b.chains {
		if is(c.prefix) {
			return true
		}
	}
	for _, c := range b.mounts {
		if is(c.prefix) {
			return true
		}
	}
	for _, c := range b.routes {
		if slices.ContainsFunc(c.args, is) || strings.Contains(c.pattern, own) || slices.ContainsFunc(c.methods, func(m string) bool { return strings.Contains(m, own) }) {
			return true
		}
	}
	return false
}

// wraps reports whether a body passes its parameters to a wrapper, or returns what one makes.
func (w *unwrapping) wraps(b *routeBody) bool {
	returns := slices.ContainsFunc(b.flows, func(f [2]string) bool { return f[1] == b.fn+"=>" })
	if returns {
		if len(b.chains) > 0 {
			return true
		}
		for _, f := range b.flows {
			if _, field, ok := cutLast(f[1], heldBy); ok && w.stands[field] {
				return true
			}
		}
	}
	for _, c := range b.calls {
		if !slices.ContainsFunc(w.of[c.fn], func(of *routeBody) bool { return w.wrapper[of] }) {
			continue
		}
		if returns || slices.ContainsFunc(c.args, func(a argument) bool { return strings.Contains(a.text.is, openMark+b.fn+"#") }) {
			return true
		}
	}
	return false
}

// wrapped is the call for which a body is read: what is passed to it, and where. suffix is appended to its spots.
type wrapped struct {
	suffix string
	bound  map[string]argument
	site   *registered
	depth  int
}

// read adds the routers and routes of a body for one call.
func (w *unwrapping) read(b *routeBody, in wrapped) {
	out := &routeBody{fn: b.fn, key: b.key, test: b.test}
	w.bodies = append(w.bodies, out)
	spot := func(s string) string { return w.spot(b, in, s) }
	for _, m := range b.made {
		m.at = spot(m.at)
		out.made = append(out.made, m)
	}
	for _, f := range b.flows {
		out.flow(spot(f[0]), spot(f[1]))
		if _, field, ok := cutLast(f[1], heldBy); ok && w.stands[field] {
			out.flow(spot(f[0]), field)
		}
	}
	for _, f := range b.wraps {
		out.wraps = append(out.wraps, [2]string{spot(f[0]), spot(f[1])})
	}
	for _, c := range b.chains {
		c.on, c.at, c.inside, c.prefix = spot(c.on), spot(c.at), spot(c.inside), w.closed(c.prefix, in)
		out.chains = append(out.chains, c)
	}
	for _, m := range b.mounts {
		m.on, m.sub, m.prefix = spot(m.on), spot(m.sub), w.closed(m.prefix, in)
		out.mounts = append(out.mounts, m)
	}
	for _, c := range b.routes {
		out.routes = append(out.routes, w.route(b, in, c))
	}
	for _, c := range b.calls {
		w.call(b, in, c, out)
	}
}

func (b *routeBody) flow(from, to string) {
	if from != "" && to != "" && from != to {
		b.flows = append(b.flows, [2]string{from, to})
	}
}

// spot returns a spot of a body in a call.
func (w *unwrapping) spot(b *routeBody, in wrapped, s string) string {
	if of, field, ok := cutLast(s, heldBy); ok {
		if w.stands[field] {
			return w.spot(b, in, of)
		}
		return field
	}
	rest, own := strings.CutPrefix(s, b.fn)
	if !own || in.suffix == "" || rest == "" || !strings.Contains("#=|", rest[:1]) {
		return s
	}
	if f := w.declared[s]; f != nil {
		w.below[s+in.suffix] = f
	}
	return s + in.suffix
}

// closed replaces the parts of a text that only a call knows.
func (w *unwrapping) closed(t text, in wrapped) text {
	for range maxComposed * 4 {
		before, rest, found := cutLast(t.is, openMark)
		if !found {
			return t
		}
		at, after, _ := strings.Cut(rest, closeMark)
		is := in.bound[at].text
		if c, ok := w.results[at]; ok {
			is = w.returns[c.fn]
			for i, a := range c.args {
				mark := openMark + fmt.Sprintf("%s#%d", c.fn, i) + closeMark
				if is.known && strings.Contains(is.is, mark) {
					is.is, is.known = strings.ReplaceAll(is.is, mark, a.is), a.known
				}
			}
		}
		if !is.known {
			if strings.Contains(after, openMark) {
				after = ""
			}
			return text{is: after}
		}
		t.is = before + is.is + after
	}
	return text{}
}

// route returns a route that a body registers in a call. A wrapper's route has the place of the call.
func (w *unwrapping) route(b *routeBody, in wrapped, c registered) registered {
	passed := false
	change := func(t text) text {
		passed = passed || strings.Contains(t.is, openMark+b.fn+"#")
		return w.closed(t, in)
	}
	c.on = w.spot(b, in, c.on)
	c.args, c.methods, c.routers, c.targets = slices.Clone(c.args), slices.Clone(c.methods), slices.Clone(c.routers), slices.Clone(c.targets)
	for i := range c.args {
		c.args[i] = change(c.args[i])
	}
	methods := c.methods[:0]
	for _, m := range c.methods {
		if t := change(text{m, true}); t.known && t.is != "" {
			methods = append(methods, strings.ToUpper(t.is))
		}
	}
	c.methods = methods
	if c.pattern != "" {
		t := change(text{c.pattern, true})
		c.pattern, c.lost = t.is, !t.known
	}
	for i := range c.routers {
		c.routers[i] = w.spot(b, in, c.routers[i])
	}
	for i, all := range c.targets {
		c.targets[i] = w.targets(b, in, all)
	}
	if passed && in.site != nil {
		c.path, c.pkg, c.file, c.test, c.start, c.end = in.site.path, in.site.pkg, in.site.file, in.site.test, in.site.start, in.site.end
	}
	return c
}

// targets returns the functions that targets are in a call. A function without a name in a wrapper stands for
// the handlers that are passed to it.
func (w *unwrapping) targets(b *routeBody, in wrapped, all []target) (out []target) {
	for _, t := range all {
		switch {
		case t.pkg == parameterMark:
			out = append(out, in.bound[t.name].targets...)
		case t.key != "" && t.key == b.key && in.site != nil:
			var passed []target
			for i := range len(in.bound) {
				passed = append(passed, in.bound[fmt.Sprintf("%s#%d", b.fn, i)].targets...)
			}
			if len(passed) == 0 {
				passed = []target{t}
			}
			out = append(out, passed...)
		default:
			out = append(out, t)
		}
	}
	return out
}

// call reads a call of a function of the repository.
func (w *unwrapping) call(b *routeBody, in wrapped, c passing, out *routeBody) {
	suffix := ""
	for _, of := range w.of[c.fn] {
		if !w.wrapper[of] || in.depth >= maxWrapped || w.count >= maxWrappers {
			continue
		}
		if suffix == "" {
			w.count++
			suffix = fmt.Sprintf("@%d", w.count)
		}
		w.called[of] = true
		next := wrapped{suffix: suffix, bound: map[string]argument{}, site: in.site, depth: in.depth + 1}
		if next.site == nil {
			next.site = &c.site
		}
		for i, a := range c.args {
			a.text, a.targets = w.closed(a.text, in), w.targets(b, in, a.targets)
			next.bound[fmt.Sprintf("%s#%d", c.fn, i)] = a
		}
		w.read(of, next)
	}
	out.flow(w.spot(b, in, c.recv), c.fn+"#-1"+suffix)
	for i, a := range c.args {
		out.flow(w.spot(b, in, a.spot), fmt.Sprintf("%s#%d%s", c.fn, i, suffix))
	}
	out.flow(c.fn+"=>"+suffix, w.spot(b, in, c.at))
}

// wrapped notes what a call that returns a handler is given: logging(mux).
func (r *routing) wrapped(call *ast.CallExpr) {
	of := namedOf(r.info.Types[call].Type)
	if at := r.value(call); at != "" && of != nil && of.Obj().Pkg() != nil && of.Obj().Pkg().Path() == "net/http" {
		for _, arg := range call.Args {
			if from := r.value(arg); from != "" && from != at {
				r.body.wraps = append(r.body.wraps, [2]string{from, at})
			}
		}
	}
}

// within reports whether a router is another one or a group of it, which is not mounted on the group: it may only seem
// so, where both go through one function.
func (one *router) within(of *router, seen map[*router]bool) bool {
	if one == of {
		return true
	}
	if seen[one] {
		return false
	}
	seen[one] = true
	return slices.ContainsFunc(one.from, func(up *router) bool { return up.within(of, seen) })
}
