package golang

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// A spot is where a router may be: a variable, a field, a parameter or a result of a function, or
// the result of a call. Spots of packages have names that all packages agree on, so that routers
// are followed from one to another.

// routeFacts has the routers and routes of one unit, as strings, so that it can be kept between commits.
type routeFacts struct {
	bodies []*routeBody
	// declared has the frameworks of the routers that spots are declared to hold; whole are those
	// that are never below a prefix.
	declared map[string]*framework
	whole    map[string]bool
	// names has the names of variables at spots.
	names map[string]string
	// holders has the fields of structs that are declared to hold a router; true are those that are embedded.
	holders map[string]bool
	// returns has the texts that functions return, and results the calls of functions that texts are made of (wrapper.go).
	returns map[string]text
	results map[string]textCall
}

// routeBody has the routers and routes of one declaration.
type routeBody struct {
	fn     string // the function's full name, empty outside of functions
	key    schemas.NodeKey
	test   bool
	made   []madeRouter
	flows  [][2]string // from a spot to a spot
	wraps  [][2]string // from an argument to the handler that a call makes of it
	chains []chained
	mounts []mounted
	routes []registered
	calls  []passing
}

// madeRouter is a call that makes a router.
type madeRouter struct {
	at string
	of *framework
}

// chained is the call of a method of what may be a router: it returns the router, or one below a
// prefix, or passes one to a function's parameter.
type chained struct {
	on, name string
	prefix   text
	methods  []string // of Methods
	at       string   // the result
	inside   string   // the parameter; empty if no function is passed
}

// mounted is a call that puts a router below a prefix of another.
type mounted struct {
	on, name, sub string
	prefix        text
}

// text is a constant text, if it is known.
type text struct {
	is    string
	known bool
}

// registered is a call that may register a route.
type registered struct {
	on, name string
	args     []text
	methods  []string // the first argument, if it is a list, or of calls around this one
	routers  []string // the spots of arguments
	pattern  string   // of a gorilla chain
	chain    bool
	lost     bool // the pattern is only the known part
	// targets has the functions that arguments stand for.
	targets    [][]target
	path, pkg  string
	file       schemas.NodeKey
	test       bool
	start, end *recountv1.Place
}

// routing reads the routers and routes of a unit.
type routing struct {
	*unit
	facts *routeFacts
	body  *routeBody
	// params has the spots of the parameters of functions.
	params map[types.Object]string
	// result is the spot of the result of the function that is read.
	result string
	here   registered            // where what is read is
	groups map[lappedCall]string // the spots of calls that were read

	// loops and guards are those around what is read, round is what the variables of the loops stand
	// for, and set has the values of variables and functions (tables.go).
	loops  []loop
	guards []guard
	round  map[types.Object]ast.Expr
	lap    []int // which row of each loop the round has, where what loops make is told apart
	set    map[types.Object]ast.Expr
	// appended has what statements append to parameters.
	appended map[types.Object][]appended
	bare     map[types.Object]bool // variables that are declared without a value
	steps    int                   // of the text that is put together (composed.go)
	// rebound has the statements that set a variable to what a call of its own value returns, in order.
	rebound map[*types.Var][]rebound
}

// routerFacts reads a unit.
func (u *unit) routerFacts() *routeFacts {
	r := &routing{
		unit: u, params: map[types.Object]string{}, groups: map[lappedCall]string{}, appended: map[types.Object][]appended{}, rebound: map[*types.Var][]rebound{},
		facts: &routeFacts{
			declared: map[string]*framework{}, whole: map[string]bool{}, names: map[string]string{},
			holders: map[string]bool{}, returns: map[string]text{}, results: map[string]textCall{},
		},
	}
	for _, f := range u.files {
		for _, decl := range f.syntax.Decls {
			if fn, ok := decl.(*ast.FuncDecl); ok {
				r.parameters(fn)
			}
		}
	}
	for i, f := range u.files {
		for _, decl := range f.syntax.Decls {
			from := u.names[i].file
			r.result, r.body = "", &routeBody{test: f.test}
			if fn, ok := decl.(*ast.FuncDecl); ok {
				from = u.names[i].ofName[fn.Name]
				if obj, ok := u.info.Defs[fn.Name].(*types.Func); ok {
					r.result, r.body.fn = obj.FullName()+"=>", obj.FullName()
					r.returned(obj)
				}
			}
			r.body.key = from
			r.here = registered{path: f.Path, file: u.names[i].file, test: f.test}
			if nodes := u.names[i].nodes; len(nodes) > 0 {
				r.here.pkg = nodes[0].Node.Package
			}
			r.read(decl, f, u.names[i], from)
			r.facts.bodies = append(r.facts.bodies, r.body)
		}
	}
	return r.facts
}

// parameters gives the parameters of a function spots that its callers can name.
func (r *routing) parameters(fn *ast.FuncDecl) {
	obj, ok := r.info.Defs[fn.Name].(*types.Func)
	if !ok {
		return
	}
	if fn.Recv != nil && len(fn.Recv.List) == 1 && len(fn.Recv.List[0].Names) == 1 {
		if v := r.info.Defs[fn.Recv.List[0].Names[0]]; v != nil {
			r.params[v] = parameter(obj, -1)
		}
	}
	if results := fn.Type.Results; results.NumFields() > 0 && len(results.List[0].Names) > 0 {
		if v := r.info.Defs[results.List[0].Names[0]]; v != nil && !isText(v.Type()) {
			r.params[v] = obj.FullName() + "=>"
		}
	}
	i := 0
	for _, p := range fn.Type.Params.List {
		for _, name := range p.Names {
			if v := r.info.Defs[name]; v != nil {
				r.params[v] = parameter(obj, i)
			}
			i++
		}
		if len(p.Names) == 0 {
			i++
		}
	}
}

// parameter returns the spot of a function's parameter i; -1 is its receiver.
func parameter(fn *types.Func, i int) string { return fmt.Sprintf("%s#%d", fn.Origin().FullName(), i) }

// read reads a declaration.
func (r *routing) read(decl ast.Decl, f *source, names *declared, from schemas.NodeKey) {
	methods := map[*ast.CallExpr][]ast.Expr{}
	results, closures := []string{r.result}, r.closureCalls(decl)
	var walk func(n ast.Node) bool
	walk = func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Field:
			r.laps(func() { r.withType(n.Names, n.Type) })
		case *ast.ValueSpec:
			r.laps(func() {
				r.withType(n.Names, n.Type)
				for i, name := range n.Names {
					if i < len(n.Values) {
						r.flow(r.value(n.Values[i]), r.spot(name))
					}
				}
			})
		case *ast.AssignStmt:
			r.laps(func() {
				for i, l := range n.Lhs {
					if i < len(n.Rhs) {
						r.flow(r.value(n.Rhs[i]), r.value(l))
					}
				}
			})
		case *ast.TypeSpec:
			r.holder(n)
		case *ast.CompositeLit:
			r.laps(func() { r.literal(n) })
		case *ast.ReturnStmt:
			if len(n.Results) > 0 {
				r.laps(func() { r.flow(r.value(n.Results[0]), results[len(results)-1]) })
			}
		case *ast.FuncLit:
			results = append(results, r.local(n.Pos())+"=>")
			r.rebinds(n.Body)
			ast.Inspect(n.Type, walk)
			loops := r.loops
			if l, called := closures[n]; called {
				r.loops = append(slices.Clone(loops), l)
			}
			ast.Inspect(n.Body, walk)
			r.loops, results = loops, results[:len(results)-1]
			return false
		case *ast.RangeStmt:
			return !r.enterLoop(n, walk)
		case *ast.SwitchStmt, *ast.IfStmt:
			return !r.guarded(n, walk)
		case *ast.CallExpr:
			r.narrowed(n, methods)
			r.laps(func() {
				r.value(n)
				r.wrapped(n)
				r.passed(n)
			})
			r.rounds(func() { r.register(n, methods[n], f, names, from) })
		}
		return true
	}
	if fn, ok := decl.(*ast.FuncDecl); ok && fn.Body != nil {
		r.rebinds(fn.Body)
	}
	ast.Inspect(decl, walk)
}

// withType notes variables whose declared type is a router's.
func (r *routing) withType(names []*ast.Ident, t ast.Expr) {
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	of := r.made(t)
	if of == nil {
		return
	}
	for _, name := range names {
		if at := r.spot(name); at != "" {
			r.facts.declared[at] = of
			r.facts.whole[at] = slices.Contains(of.whole, t.(*ast.SelectorExpr).Sel.Name)
		}
	}
}

func (r *routing) flow(from, to string) {
	if from != "" && to != "" && from != to {
		r.body.flows = append(r.body.flows, [2]string{from, to})
	}
}

// spot returns the spot of a variable, "" if it has none.
func (r *routing) spot(name *ast.Ident) string {
	obj := r.info.Defs[name]
	if obj == nil {
		obj = r.info.Uses[name]
	}
	v, ok := obj.(*types.Var)
	if !ok || name.Name == "_" {
		return ""
	}
	at := r.params[v]
	switch {
	case at != "":
	case v.IsField():
		return "" // of a type that only a selection knows
	case v.Pkg() != nil && v.Parent() == v.Pkg().Scope():
		at = v.Pkg().Path() + "." + v.Name()
	default:
		at = r.local(v.Pos()) + r.lapAt(v.Pos())
	}
	at += r.reboundBefore(v, name)
	r.facts.names[at] = v.Name()
	return at
}

// field returns the spot of a field of a type.
func (r *routing) field(t types.Type, name string) string {
	if t == nil {
		return ""
	}
	if p, ok := t.(*types.Pointer); ok {
		t = p.Elem()
	}
	named := namedOf(t)
	if named == nil || named.Obj().Pkg() == nil {
		return ""
	}
	at := named.Obj().Pkg().Path() + "." + named.Obj().Name() + "." + name
	r.facts.names[at] = name
	return at
}

// text returns the constant text of an expression.
func (r *routing) text(e ast.Expr) text {
	e = r.meant(e)
	if s, ok := r.constantOf(e); ok || r.info.Types[e].Value != nil {
		return text{s, true}
	}
	if sel, ok := e.(*ast.SelectorExpr); ok {
		if pkg := (&linker{unit: r.unit}).packageOf(sel); pkg != nil {
			if method, ok := methodNamed(frameworkOf(pkg.Imported().Path()), sel.Sel.Name); ok {
				return text{method, true}
			}
		}
	}
	return r.composed(e, 0)
}

// value returns the spot of an expression that may be a router.
func (r *routing) value(e ast.Expr) string {
	if is := r.meant(e); is != e {
		return r.value(is)
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return r.spot(e)
	case *ast.UnaryExpr:
		return r.value(e.X)
	case *ast.TypeAssertExpr:
		return r.value(e.X)
	case *ast.SelectorExpr:
		if pkg := (&linker{unit: r.unit}).packageOf(e); pkg != nil {
			if v, ok := r.info.Uses[e.Sel].(*types.Var); ok && v.Pkg() != nil {
				return v.Pkg().Path() + "." + v.Name()
			}
			return ""
		}
		if s := r.info.Selections[e]; s != nil && s.Kind() == types.FieldVal {
			field := r.field(s.Recv(), e.Sel.Name)
			if on := r.value(e.X); on != "" && field != "" {
				return on + heldBy + field
			}
			return field
		}
		if e.Sel.Name == "RouterGroup" { // of gin's engine, whose type is not known
			return r.value(e.X)
		}
	case *ast.CompositeLit:
		if namedOf(r.info.Types[e].Type) != nil {
			return r.local(e.Pos()) + r.lapAt(e.Pos())
		}
	case *ast.CallExpr:
		return r.call(e)
	}
	return ""
}

// call returns the spot of a call's result, and notes what the call makes.
func (r *routing) call(e *ast.CallExpr) string {
	key := lappedCall{e, r.lapAt(e.Pos())}
	if at, ok := r.groups[key]; ok {
		return at
	}
	at := r.local(e.Pos()) + "-" + r.fset.Position(endOf(r.fset, e)).String() + key.lap
	r.groups[key] = at
	if of := r.made(e.Fun); of != nil {
		r.body.made = append(r.body.made, madeRouter{at, of})
		return at
	}
	if r.humaAPI(e, at) {
		return at
	}
	_, obj := (&linker{unit: r.unit}).callee(e)
	if fn, ok := obj.(*types.Func); ok && fn.Pkg() != nil && !strings.HasPrefix(fn.FullName(), "(*net/http") {
		if fn.FullName() == "net/http.StripPrefix" {
			r.groups[key] = ""
			return ""
		}
		r.groups[key] = fn.Origin().FullName() + "=>"
		if r.near(fn) {
			r.groups[key] = at
		}
		return r.groups[key]
	}
	if lit := r.closure(e); lit != nil {
		r.groups[key] = r.local(lit.Pos()) + "=>"
		return r.groups[key]
	}
	if len(e.Args) == 1 && r.info.Types[e.Fun].IsType() {
		r.groups[key] = r.value(e.Args[0])
		return r.groups[key]
	}
	sel, ok := e.Fun.(*ast.SelectorExpr)
	if !ok {
		return ""
	}
	on := r.value(sel.X)
	if on == "" {
		r.groups[key] = ""
		return ""
	}
	c := chained{on: on, name: sel.Sel.Name, at: at, prefix: text{known: true}}
	switch {
	case c.name == "Methods":
		c.methods = r.texts(e.Args)
	case len(e.Args) == 0:
	case len(e.Args) > 1 || c.name == "Group" || c.name == "PathPrefix" || c.name == "Path" || c.name == "Mount" || chainsRoute(e):
		c.prefix = r.text(e.Args[0])
	}
	for _, arg := range e.Args {
		if inside := r.entered(arg); inside != "" {
			if c.inside = inside; arg == e.Args[0] {
				c.prefix = text{known: true}
			}
			break
		}
	}
	r.body.chains = append(r.body.chains, c)
	return at
}

// entered returns the spot of the first parameter of the function that an expression names.
func (r *routing) entered(f ast.Expr) string {
	switch f := ast.Unparen(f).(type) {
	case *ast.FuncLit:
		if p := f.Type.Params.List; len(p) > 0 && len(p[0].Names) > 0 {
			return r.spot(p[0].Names[0])
		}
	case *ast.Ident, *ast.SelectorExpr:
		if fn, ok := r.function(f).(*types.Func); ok {
			return parameter(fn, 0)
		}
	}
	return ""
}

// passed adds the routers that a call passes to a function, and those that it mounts.
func (r *routing) passed(call *ast.CallExpr) {
	_, obj := (&linker{unit: r.unit}).callee(call)
	if fn, ok := obj.(*types.Func); ok && fn.Pkg() != nil {
		if r.near(fn) {
			r.calls(call, fn.Origin())
		} else {
			for i, arg := range call.Args {
				r.flow(r.value(arg), parameter(fn, i))
			}
		}
	}
	if lit, ok := r.setOnce(obj).(*ast.FuncLit); ok { // register := func(r chi.Router) {…}
		var params []*ast.Ident
		for _, p := range lit.Type.Params.List {
			params = append(params, p.Names...)
		}
		for i, arg := range call.Args {
			if i < len(params) {
				r.flow(r.value(arg), r.spot(params[i]))
			}
		}
	}
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || len(call.Args) != 2 {
		return
	}
	on := r.value(sel.X)
	if pkg := (&linker{unit: r.unit}).packageOf(sel); pkg != nil && pkg.Imported().Path() == "net/http" {
		on = defaultMux
	}
	if on == "" {
		return
	}
	sub, strip := r.mountedRouter(call.Args[1])
	prefix := r.text(call.Args[0])
	if sel.Sel.Name == "Handle" { // net/http passes the whole path on
		prefix = strip
	}
	if sub != "" {
		r.body.mounts = append(r.body.mounts, mounted{on, sel.Sel.Name, sub, prefix})
	}
}

// defaultMux is the spot of the mux that net/http's functions register routes on.
const defaultMux = "net/http.DefaultServeMux"

// mountedRouter returns the spot of a router in a handler, through the calls that wrap it, and the
// prefix that they strip.
func (r *routing) mountedRouter(e ast.Expr) (sub string, strip text) {
	strip.known = true
	call, ok := ast.Unparen(e).(*ast.CallExpr)
	if !ok {
		return r.value(e), strip
	}
	_, obj := (&linker{unit: r.unit}).callee(call)
	if fn, ok := obj.(*types.Func); ok && fn.FullName() == "net/http.StripPrefix" && len(call.Args) == 2 {
		sub, inner := r.mountedRouter(call.Args[1])
		prefix := r.text(call.Args[0])
		return sub, text{join(prefix.is, inner.is), prefix.known && inner.known}
	}
	if slices.ContainsFunc(call.Args, r.isHandlerFunc) { // what it wraps is no router
		return "", strip
	}
	if sub := r.value(call); sub != "" {
		return sub, strip
	}
	for _, arg := range call.Args {
		if sub, strip := r.mountedRouter(arg); sub != "" {
			return sub, strip
		}
	}
	return "", strip
}

// register notes a call that may register a route.
func (r *routing) register(call *ast.CallExpr, methods []ast.Expr, f *source, names *declared, from schemas.NodeKey) {
	api, name, given := r.humaRoute(call)
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if api == nil && (!ok || !registers[sel.Sel.Name] || len(call.Args) == 0) {
		return
	}
	if api == nil {
		api, name, given = sel.X, sel.Sel.Name, routeOf(call)
	}
	found := registered{
		name: name, methods: r.texts(methods), path: f.Path, pkg: names.nodes[0].Node.Package, file: names.file, test: f.test,
		start: place(r.fset, call.Pos()), end: place(r.fset, endOf(r.fset, call)),
	}
	on, args := api, given
	if found.name == "HandlerFunc" || found.name == "Handler" { // mux.Path("/x").Methods("GET").HandlerFunc(h)
		for {
			inner, ok := ast.Unparen(on).(*ast.CallExpr)
			if !ok {
				break
			}
			s, ok := inner.Fun.(*ast.SelectorExpr)
			if !ok || s.Sel.Name == "Subrouter" {
				break
			}
			switch on = s.X; s.Sel.Name {
			case "Methods":
				found.methods = append(found.methods, r.texts(inner.Args)...)
			case "Path", "PathPrefix":
				t := text{}
				if len(inner.Args) > 0 {
					t = r.text(inner.Args[0])
				}
				if !t.known {
					return
				}
				found.pattern = t.is + found.pattern
			}
		}
		if found.chain = true; found.pattern == "" && len(found.methods) == 0 {
			return
		}
	} else if len(args) < 2 {
		return
	}
	found.on = r.value(on)
	if pkg := (&linker{unit: r.unit}).packageOf(call.Fun); pkg != nil && pkg.Imported().Path() == "net/http" {
		found.on = defaultMux
	}
	if found.on == "" {
		return
	}
	if list, ok := r.meant(args[0]).(*ast.CompositeLit); ok {
		found.methods = r.texts(list.Elts)
	}
	if chainedRoute(on) { // app.RouteChain("/x").Get(h)
		found.args, found.routers, found.targets = []text{{known: true}}, []string{""}, [][]target{nil}
	}
	for _, arg := range args {
		sub, _ := r.mountedRouter(arg)
		found.args, found.routers, found.targets = append(found.args, r.text(arg)), append(found.routers, sub), append(found.targets, r.handlers(arg, from))
	}
	r.body.routes = append(r.body.routes, found)
}
