package golang

import "go/ast"

// chainsRoute reports whether a call of Fiber begins a chain of methods of one path: app.RouteChain("/x").
func chainsRoute(call *ast.CallExpr) bool {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	return ok && len(call.Args) == 1 && (sel.Sel.Name == "RouteChain" || sel.Sel.Name == "Route")
}

// chainedRoute reports whether an expression is such a chain.
func chainedRoute(e ast.Expr) bool {
	for {
		call, ok := ast.Unparen(e).(*ast.CallExpr)
		if !ok {
			return false
		}
		if chainsRoute(call) {
			return true
		}
		sel, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || fiber.verbs[sel.Sel.Name] == "" && sel.Sel.Name != "All" {
			return false
		}
		e = sel.X
	}
}

// routeOf returns the arguments of a call that registers a route: for e.AddRoute(echo.Route{Method: m, Path: p, Handler:
// h}) the three fields, and for a method of a chained route a path that is empty.
func routeOf(call *ast.CallExpr) []ast.Expr {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return call.Args
	}
	if chainedRoute(sel.X) && len(call.Args) == 1 {
		return append([]ast.Expr{call.Args[0]}, call.Args...)[:2]
	}
	if sel.Sel.Name != "AddRoute" || len(call.Args) != 1 {
		return call.Args
	}
	lit, ok := ast.Unparen(call.Args[0]).(*ast.CompositeLit)
	if !ok {
		return call.Args
	}
	fields := map[string]ast.Expr{}
	for _, e := range lit.Elts {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := kv.Key.(*ast.Ident); ok {
				fields[name.Name] = kv.Value
			}
		}
	}
	if fields["Method"] == nil || fields["Path"] == nil || fields["Handler"] == nil {
		return call.Args
	}
	return []ast.Expr{fields["Method"], fields["Path"], fields["Handler"]}
}
