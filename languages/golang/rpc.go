package golang

import (
	"go/ast"
	"go/constant"
	"go/types"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// The code that protoc-gen-go-grpc generates shows which procedure a Go method belongs to: a
// client's method calls it by its full name, "/shop.v1.Carts/Add", and the function
// _Carts_Add_Handler calls the method of the server's interface that implements it. The procedures
// are externals of language "proto": package shop.v1, name Carts.Add.

// rpc adds an edge to the procedure that a call of a client connection names.
func (l *linker) rpc(call *ast.CallExpr) {
	sel, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || l.names.nodes[0].Node.Attributes["generated"] != "true" {
		return // in code written by hand, Invoke may mean anything
	}
	at, known := map[string]int{"Invoke": 1, "NewStream": 2}[sel.Sel.Name]
	if !known {
		return
	}
	full, _ := l.constant(call, at)
	if pkg, name, ok := procedure(full); ok {
		l.external(recountv1.EdgeKind_EDGE_KIND_CONSUMES_RPC, "proto", pkg, name, sel.Sel)
	}
}

// fullMethodName is the suffix of the constants that name procedures.
const fullMethodName = "_FullMethodName"

// served adds the edge from a method of a server's interface, which a generated handler calls, to
// its procedure.
func (l *linker) served(decl *ast.FuncDecl) {
	name := handled(decl)
	if name == "" || decl.Body == nil {
		return
	}
	full, ok := l.pkg.Scope().Lookup(name + fullMethodName).(*types.Const)
	if !ok || full.Val().Kind() != constant.String {
		return
	}
	pkg, rpc, ok := procedure(constant.StringVal(full.Val()))
	if !ok {
		return
	}
	ast.Inspect(decl.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if _, obj := l.callee(call); obj != nil && strings.HasSuffix(rpc, "."+obj.Name()) {
			if key, ours := l.own[obj]; ours && key.Path() == l.graph.Path {
				l.graph.Externals = append(l.graph.Externals, resolve.External{
					From: key, Kind: recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS_RPC, Language: "proto", Package: pkg, Name: rpc,
					Edge: resolve.EdgeAt(typesResolved, place(l.fset, call.Pos())),
				})
			}
		}
		return true
	})
}

// handled returns "Carts_Add" for the generated handler _Carts_Add_Handler, and "" for any other
// function.
func handled(decl *ast.FuncDecl) string {
	name, _ := strings.CutSuffix(strings.TrimPrefix(decl.Name.Name, "_"), "_Handler")
	if name == decl.Name.Name || !strings.HasSuffix(decl.Name.Name, "_Handler") {
		return ""
	}
	return name
}

// procedure splits a full name, "/shop.v1.Carts/Add", into package and name.
func procedure(full string) (pkg, name string, ok bool) {
	service, method, ok := strings.Cut(strings.TrimPrefix(full, "/"), "/")
	if !ok || !strings.HasPrefix(full, "/") || service == "" || method == "" || strings.Contains(method, "/") {
		return "", "", false
	}
	if i := strings.LastIndexByte(service, '.'); i >= 0 {
		pkg, service = service[:i], service[i+1:]
	}
	return pkg, service + "." + method, true
}
