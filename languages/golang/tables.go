package golang

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strconv"
)

// Routes are often registered in a loop over a table that the package spells out:
//
//	for _, route := range routes {
//		router.HandleFunc(route.Path, route.Handler).Methods(route.Method)
//	}
//
// Such a call is read once for each row, with the variables of the loop standing for what the table
// has there.

// loop is a loop over a table: its variables, and what they stand for in each round.
type loop struct {
	key, value types.Object
	rows       []row
	body       ast.Node // of a loop, nil of a function in a variable
}

// lappedCall is a call in a round of the loops around it.
type lappedCall struct {
	call *ast.CallExpr
	lap  string
}

type row struct {
	key, value ast.Expr
	// with has what the parameters of a function in a variable stand for in one of its calls, which is read as a round;
	// of a row of a table that another row has, it is that row.
	with map[types.Object]ast.Expr
}

// guard is a comparison inside a loop: a call below it is made only in rounds in which an expression
// is one of some constants, or in which it is none of them.
type guard struct {
	of   ast.Expr
	are  []ast.Expr
	none bool
}

// maxLaps limits the rounds in which what a loop makes is told apart.
const maxLaps = 32

// lapped returns how many rounds the loops around what is read have, 1 if what they make is not told apart.
func (r *routing) lapped() int {
	laps := 1
	for _, l := range r.loops {
		if l.body != nil {
			laps *= len(l.rows)
		}
	}
	if laps > maxLaps {
		return 1
	}
	return laps
}

// laps calls read in each round of the loops around what it reads, if what they make is told apart.
func (r *routing) laps(read func()) {
	if len(r.round) == 0 && r.lapped() > 1 {
		r.rounds(read)
		return
	}
	read()
}

// lapAt returns what tells the spot of what is at a position from those of other rounds, "" outside of loops.
func (r *routing) lapAt(at token.Pos) string {
	lap := ""
	for i, l := range r.loops {
		if i < len(r.lap) && l.body != nil && l.body.Pos() <= at && at < l.body.End() {
			lap += fmt.Sprintf("@%d", r.lap[i])
		}
	}
	return lap
}

// maxLoopRounds limits the rounds of the loops around one call.
const maxLoopRounds = 512

// enterLoop reads a loop over a table, and reports whether it is one.
func (r *routing) enterLoop(n *ast.RangeStmt, walk func(ast.Node) bool) bool {
	rows := r.rows(n.X)
	if len(rows) == 0 {
		rows = r.rowsOfRow(n.X)
	}
	if len(rows) == 0 {
		return false
	}
	l := loop{rows: rows, body: n.Body}
	if id, ok := n.Key.(*ast.Ident); ok {
		if of := r.info.TypeOf(n.X); of != nil { // none where the checker gave up
			if _, list := of.Underlying().(*types.Map); list {
				l.key = r.info.Defs[id]
			}
		}
	}
	if id, ok := n.Value.(*ast.Ident); ok {
		l.value = r.info.Defs[id]
	}
	ast.Inspect(n.X, walk)
	r.loops = append(r.loops, l)
	ast.Inspect(n.Body, walk)
	r.loops = r.loops[:len(r.loops)-1]
	return true
}

// rowsOfRow returns the rows of the tables that the rows of a loop around have in a field: for _, x := range group.routes.
func (r *routing) rowsOfRow(e ast.Expr) (all []row) {
	sel, ok := ast.Unparen(e).(*ast.SelectorExpr)
	if !ok {
		return nil
	}
	id, ok := ast.Unparen(sel.X).(*ast.Ident)
	if !ok {
		return nil
	}
	for _, l := range r.loops {
		if l.value == nil || l.value != r.info.Uses[id] {
			continue
		}
		for _, outer := range l.rows {
			lit, ok := outer.value.(*ast.CompositeLit)
			if !ok {
				return nil
			}
			if of := r.fieldOf(lit, sel.Sel.Name); of != nil {
				for _, one := range r.rows(of) {
					one.with = map[types.Object]ast.Expr{l.value: outer.value}
					all = append(all, one)
				}
			}
		}
	}
	return all
}

// closureCalls returns the calls, in a declaration, of functions that variables hold and that get texts:
//
//	handle := func(pattern string, h http.HandlerFunc) { mux.Handle(pattern, wrap(h)) }
func (r *routing) closureCalls(decl ast.Decl) map[*ast.FuncLit]loop {
	all := map[*ast.FuncLit]loop{}
	ast.Inspect(decl, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		lit := r.closure(call)
		if lit == nil {
			return true
		}
		with, texts := map[types.Object]ast.Expr{}, false
		i := 0
		for _, p := range lit.Type.Params.List {
			for _, name := range p.Names {
				if v := r.info.Defs[name]; v != nil && i < len(call.Args) {
					with[v], texts = call.Args[i], texts || isText(v.Type())
				}
				i++
			}
		}
		if texts {
			all[lit] = loop{rows: append(all[lit].rows, row{with: with})}
		}
		return true
	})
	return all
}

// closure returns the function that a call calls if it is written in place, or a variable is set to it once.
func (r *routing) closure(call *ast.CallExpr) *ast.FuncLit {
	fun := ast.Unparen(call.Fun)
	if id, ok := fun.(*ast.Ident); ok {
		fun = r.setOnce(r.info.Uses[id])
	}
	lit, _ := fun.(*ast.FuncLit)
	return lit
}

// guarded reads a switch or a comparison inside a loop over a table, and reports whether it is one.
func (r *routing) guarded(n ast.Node, walk func(ast.Node) bool) bool {
	if len(r.loops) == 0 {
		return false
	}
	below := func(g guard, of ...ast.Node) {
		r.guards = append(r.guards, g)
		for _, n := range of {
			ast.Inspect(n, walk)
		}
		r.guards = r.guards[:len(r.guards)-1]
	}
	switch n := n.(type) {
	case *ast.SwitchStmt:
		if n.Tag == nil || n.Init != nil {
			return false
		}
		ast.Inspect(n.Tag, walk)
		var all []ast.Expr
		for _, s := range n.Body.List {
			all = append(all, s.(*ast.CaseClause).List...)
		}
		for _, s := range n.Body.List {
			clause := s.(*ast.CaseClause)
			g := guard{of: n.Tag, are: clause.List}
			if clause.List == nil {
				g = guard{of: n.Tag, are: all, none: true}
			}
			for _, s := range clause.Body {
				below(g, s)
			}
		}
		return true
	case *ast.IfStmt:
		is, ok := n.Cond.(*ast.BinaryExpr)
		if !ok || n.Init != nil || is.Op != token.EQL && is.Op != token.NEQ {
			return false
		}
		ast.Inspect(n.Cond, walk)
		g := guard{of: is.X, are: []ast.Expr{is.Y}, none: is.Op == token.NEQ}
		below(g, n.Body)
		if n.Else != nil {
			g.none = !g.none
			below(g, n.Else)
		}
		return true
	}
	return false
}

// passes reports whether a call below a guard is made in the current round. A comparison with what is
// not known excludes nothing.
func (r *routing) passes(g guard) bool {
	is := r.text(g.of)
	if !is.known {
		return true
	}
	among := slices.ContainsFunc(g.are, func(e ast.Expr) bool { return r.text(e) == is })
	return among != g.none
}

// rounds calls read in each round of the loops around a call.
func (r *routing) rounds(read func()) {
	total := 1
	for _, l := range r.loops {
		total *= len(l.rows)
	}
	if len(r.loops) == 0 || total > maxLoopRounds {
		read()
		return
	}
	r.round = map[types.Object]ast.Expr{}
	lapped := r.lapped() > 1
	for i := range total {
		r.lap = r.lap[:0]
		other := false // a row of an inner table is one of another row of the outer one
		for _, l := range r.loops {
			at := l.rows[i%len(l.rows)]
			for v, e := range at.with {
				other = other || l.body != nil && r.round[v] != e
			}
			if lapped {
				r.lap = append(r.lap, i%len(l.rows))
			}
			i /= len(l.rows)
			r.stand(l.key, at.key)
			r.stand(l.value, at.value)
			for v, e := range at.with {
				r.stand(v, e)
			}
		}
		if !other && !slices.ContainsFunc(r.guards, func(g guard) bool { return !r.passes(g) }) {
			read()
		}
	}
	r.round, r.lap = nil, nil
}

func (r *routing) stand(v types.Object, e ast.Expr) {
	if v != nil && e != nil {
		r.round[v] = e
	}
}

// rows returns the rows of a table: of a composite literal, of a variable of the package that is set
// to one once, or of a function that returns one.
func (r *routing) rows(e ast.Expr) []row {
	var all []row
	lit := r.table(e, 0)
	if lit == nil {
		return nil
	}
	t := r.info.Types[lit].Type
	if t == nil {
		return nil
	}
	_, isMap := t.Underlying().(*types.Map)
	for _, e := range lit.Elts {
		switch kv, keyed := e.(*ast.KeyValueExpr); {
		case keyed && isMap:
			all = append(all, row{key: kv.Key, value: kv.Value})
		case keyed:
			all = append(all, row{value: kv.Value})
		default:
			all = append(all, row{value: e})
		}
	}
	return all
}

func (r *routing) table(e ast.Expr, depth int) *ast.CompositeLit {
	if depth > 4 {
		return nil
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.CompositeLit:
		if t := r.info.Types[e].Type; t != nil {
			switch t.Underlying().(type) {
			case *types.Slice, *types.Array, *types.Map:
				return e
			}
		}
	case *ast.UnaryExpr:
		return r.table(e.X, depth+1)
	case *ast.Ident:
		if v := r.setOnce(r.info.Uses[e]); v != nil {
			return r.table(v, depth+1)
		}
	case *ast.CallExpr:
		if _, obj := (&linker{unit: r.unit}).callee(e); obj != nil {
			if v := r.setOnce(obj); v != nil {
				return r.table(v, depth+1)
			}
		}
	}
	return nil
}

// setOnce returns the value that a variable of the unit is set to, if that is once, or the only value
// that a function of the unit returns.
func (r *routing) setOnce(of types.Object) ast.Expr {
	if of == nil {
		return nil
	}
	if r.set == nil {
		r.set, r.bare = map[types.Object]ast.Expr{}, map[types.Object]bool{}
		for _, f := range r.files {
			r.settings(f.syntax)
		}
	}
	return r.set[of]
}

// settings notes the values of variables and the results of functions.
func (r *routing) settings(f *ast.File) {
	set := func(of types.Object, e ast.Expr) {
		if of == nil {
			return
		}
		if _, twice := r.set[of]; twice {
			e = nil
		}
		r.set[of] = e
	}
	of := func(e ast.Expr) types.Object {
		id, ok := e.(*ast.Ident)
		if !ok {
			return nil
		}
		if v := r.info.Defs[id]; v != nil {
			return v
		}
		return r.info.Uses[id]
	}
	for _, decl := range f.Decls {
		var fn types.Object
		params := map[types.Object]bool{}
		if d, ok := decl.(*ast.FuncDecl); ok {
			fn = r.info.Defs[d.Name]
			for _, p := range d.Type.Params.List {
				for _, name := range p.Names {
					params[r.info.Defs[name]] = true
				}
			}
		}
		var branches []ast.Node
		ast.Inspect(decl, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.CaseClause:
				branches = append(branches, n)
			case *ast.FuncLit:
				return false
			case *ast.ValueSpec:
				for i, name := range n.Names {
					if i < len(n.Values) {
						set(of(name), n.Values[i])
					} else if v := of(name); v != nil {
						r.bare[v] = true
					}
				}
			case *ast.UnaryExpr:
				if n.Op == token.AND { // what is set through a pointer is not seen
					set(of(n.X), nil)
				}
			case *ast.AssignStmt:
				if v := of(n.Lhs[0]); params[v] && r.appends(v, n, branches) {
					return true
				}
				for i, l := range n.Lhs {
					var v ast.Expr
					if len(n.Rhs) == len(n.Lhs) && (n.Tok == token.DEFINE || n.Tok == token.ASSIGN) {
						v = n.Rhs[i]
					}
					set(of(l), v)
				}
			case *ast.ReturnStmt:
				if len(n.Results) == 1 {
					set(fn, n.Results[0])
				}
			}
			return true
		})
	}
}

// appended is a text that a statement appends to a parameter.
type appended struct {
	at   token.Pos
	text string
}

// appends notes a statement that appends a literal to a parameter, path += "*". In a branch it is a slash, which is
// missing there: if path[len(path)-1] != '/' { path += "/" }.
func (r *routing) appends(to types.Object, n *ast.AssignStmt, branches []ast.Node) bool {
	lit, ok := n.Rhs[0].(*ast.BasicLit)
	if !ok || n.Tok != token.ADD_ASSIGN || lit.Kind != token.STRING {
		return false
	}
	is, err := strconv.Unquote(lit.Value)
	if err != nil {
		return false
	}
	for _, b := range branches {
		if _, branch := b.(*ast.IfStmt); b.Pos() <= n.Pos() && n.End() <= b.End() && (!branch || is != "/") {
			return false
		}
	}
	r.appended[to] = append(r.appended[to], appended{n.Pos(), is})
	return true
}

// meant returns what an expression stands for in the current round of the loops around it, or the
// expression itself.
func (r *routing) meant(e ast.Expr) ast.Expr {
	if len(r.round) == 0 {
		return e
	}
	switch x := ast.Unparen(e).(type) {
	case *ast.Ident:
		if is := r.round[r.info.Uses[x]]; is != nil {
			return is
		}
	case *ast.SelectorExpr:
		of := ast.Unparen(r.meant(x.X))
		if of == ast.Unparen(x.X) {
			break
		}
		if p, ok := of.(*ast.UnaryExpr); ok {
			of = ast.Unparen(p.X)
		}
		if lit, ok := of.(*ast.CompositeLit); ok {
			if is := r.fieldOf(lit, x.Sel.Name); is != nil {
				return is
			}
		}
	}
	return e
}

// fieldOf returns the value of a field in a literal of a struct, nil if it has none.
func (r *routing) fieldOf(lit *ast.CompositeLit, name string) ast.Expr {
	t := r.info.Types[lit].Type
	if t == nil {
		return nil
	}
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	for i, e := range lit.Elts {
		if kv, keyed := e.(*ast.KeyValueExpr); keyed {
			if id, ok := kv.Key.(*ast.Ident); ok && id.Name == name {
				return kv.Value
			}
		} else if i < s.NumFields() && s.Field(i).Name() == name {
			return e
		}
	}
	return nil
}

// rebound is a statement that sets a variable to what a call of its own value returns: r = r.PathPrefix("/x").Subrouter().
// name is where the variable stands on the left, and after it the variable holds another router.
type rebound struct{ name, after token.Pos }

// rebinds notes such statements of a function's body; in a branch or a loop the variable may still hold either.
func (r *routing) rebinds(body *ast.BlockStmt) {
	for _, stmt := range body.List {
		set, ok := stmt.(*ast.AssignStmt)
		if !ok || set.Tok != token.ASSIGN || len(set.Lhs) != 1 || len(set.Rhs) != 1 {
			continue
		}
		left, ok := set.Lhs[0].(*ast.Ident)
		if !ok {
			continue
		}
		v, ok := r.info.Uses[left].(*types.Var)
		if ok && v.Parent() != nil && v.Parent().End() == body.End() && r.info.Uses[receiver(set.Rhs[0])] == v {
			r.rebound[v] = append(r.rebound[v], rebound{left.Pos(), set.End()})
		}
	}
}

// reboundBefore returns what tells the spot of a variable from those before it was set again, "" if it was not.
func (r *routing) reboundBefore(v *types.Var, name *ast.Ident) (mark string) {
	for i, b := range r.rebound[v] {
		if name.Pos() == b.name || name.Pos() >= b.after {
			mark = fmt.Sprintf("'%d", i+1)
		}
	}
	return mark
}

// receiver returns the name that a chain of calls of methods begins with, nil if there is none.
func receiver(chain ast.Expr) *ast.Ident {
	for {
		call, ok := ast.Unparen(chain).(*ast.CallExpr)
		if !ok {
			return nil
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok {
			return nil
		}
		if name, ok := sel.X.(*ast.Ident); ok {
			return name
		}
		chain = sel.X
	}
}

// isHandlerFunc reports whether an expression is a function that serves requests.
func (r *routing) isHandlerFunc(e ast.Expr) bool {
	sig, ok := r.typed(e).(*types.Signature)
	return ok && sig.Params().Len() == 2 && types.TypeString(sig.Params().At(1).Type(), nil) == "*net/http.Request"
}
