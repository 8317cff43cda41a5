package golang

import (
	"go/ast"
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"strings"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	calls      = recountv1.EdgeKind_EDGE_KIND_CALLS
	mayCall    = recountv1.EdgeKind_EDGE_KIND_MAY_CALL
	references = recountv1.EdgeKind_EDGE_KIND_REFERENCES
	implements = recountv1.EdgeKind_EDGE_KIND_IMPLEMENTS
	extends    = recountv1.EdgeKind_EDGE_KIND_EXTENDS
	overrides  = recountv1.EdgeKind_EDGE_KIND_OVERRIDES
	imports    = recountv1.EdgeKind_EDGE_KIND_IMPORTS

	typesResolved  = recountv1.Provenance_PROVENANCE_TYPES_RESOLVED
	declaredByFile = recountv1.Provenance_PROVENANCE_DECLARED
)

// linker makes the edges that begin in one file of a checked unit.
type linker struct {
	*unit
	names *declared
	graph *resolve.FileGraph
	// from is the declaration that is being walked: a literal's edges belong to the
	// enclosing declaration, an initialiser's to its variable.
	from schemas.NodeKey
	// called are the names in the function position of a call: they are not references.
	called map[*ast.Ident]bool
}

// link makes the edges of a unit's files, except those kept from before, and finds the uses
// and flows of their functions.
func (u *unit) link() {
	var whole []int
	for i, f := range u.files {
		if f.kept == nil {
			whole = append(whole, i)
		}
	}
	u.found = make([]found, len(u.files))
	ways := []func(i int){u.linkFile, u.findUses, u.findFlows}
	spread(len(whole)*len(ways), func(n int) { ways[n%len(ways)](whole[n/len(ways)]) })
}

func (u *unit) linkFile(i int) {
	l := &linker{unit: u, names: u.names[i], graph: &u.graphs[i], called: map[*ast.Ident]bool{}}
	for j, decl := range u.files[i].syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			if u.files[i].carries(j) != nil {
				continue
			}
			l.from = l.names.ofName[decl.Name]
			l.overrides(decl)
			l.served(decl)
			l.walk(decl.Type)
			if decl.Body != nil {
				l.walk(decl.Body)
			}
		case *ast.GenDecl:
			l.general(decl)
		}
	}
	u.files[i].carry(l.graph)
}

func (l *linker) general(decl *ast.GenDecl) {
	outer := l.from
	defer func() { l.from = outer }()
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			l.from = l.names.ofName[spec.Name]
			if spec.TypeParams != nil {
				l.walk(spec.TypeParams)
			}
			l.walk(spec.Type)
			l.embedded(spec)
		case *ast.ValueSpec:
			for i, name := range spec.Names {
				if key, ok := l.names.ofName[name]; ok {
					l.from = key
				}
				if i == 0 && spec.Type != nil {
					l.walk(spec.Type)
				}
				if i < len(spec.Values) {
					l.walk(spec.Values[i])
				}
			}
		}
	}
}

// walk visits everything below n; local types are declarations of their own.
func (l *linker) walk(n ast.Node) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			if n.Tok == token.TYPE {
				l.general(n)
				return false
			}
		case *ast.CallExpr:
			l.call(n)
		case *ast.SelectorExpr:
			l.selector(n)
		case *ast.Ident:
			l.name(n)
		}
		return true
	})
}

// call makes the edge of a call with a known function: a function, a method, or an
// interface's method. Calls of function values are left to flow.
func (l *linker) call(call *ast.CallExpr) {
	l.rpc(call)
	name, obj := l.callee(call)
	if name == nil {
		return
	}
	switch obj := obj.(type) {
	case *types.Func:
		l.called[name] = true
		l.edge(calls, obj, name)
		l.environment(call, obj)
		l.requested(call, obj)
	case nil:
		if pkg := l.packageOf(call.Fun); pkg != nil {
			l.called[name] = true
			l.external(calls, language, pkg.Imported().Path(), name.Name, name)
		} else if !l.known(call.Fun) {
			l.called[name] = true
			l.graph.Unresolved = append(l.graph.Unresolved, resolve.Unresolved{
				From: l.from, Kind: calls, Path: accessPath(call.Fun), At: place(l.fset, name.Pos()),
			})
		}
	}
}

// callee returns the name in the function position of a call, and its object; nil if the
// function is the result of an expression.
func (l *linker) callee(call *ast.CallExpr) (*ast.Ident, types.Object) {
	fun := ast.Unparen(call.Fun)
	switch f := fun.(type) {
	case *ast.IndexExpr:
		fun = ast.Unparen(f.X)
	case *ast.IndexListExpr:
		fun = ast.Unparen(f.X)
	}
	switch f := fun.(type) {
	case *ast.Ident:
		return f, l.info.Uses[f]
	case *ast.SelectorExpr:
		if s := l.info.Selections[f]; s != nil {
			return f.Sel, s.Obj()
		}
		return f.Sel, l.info.Uses[f.Sel]
	}
	return nil, nil
}

// known reports whether the checker gave an expression a type.
func (l *linker) known(e ast.Expr) bool {
	t, ok := l.info.Types[e]
	return ok && t.Type != nil && t.Type != types.Typ[types.Invalid]
}

// packageOf returns the package whose name qualifies an expression, or nil.
func (l *linker) packageOf(e ast.Expr) *types.PkgName {
	switch x := ast.Unparen(e).(type) {
	case *ast.IndexExpr:
		return l.packageOf(x.X)
	case *ast.IndexListExpr:
		return l.packageOf(x.X)
	case *ast.SelectorExpr:
		if id, ok := x.X.(*ast.Ident); ok {
			pkg, _ := l.info.Uses[id].(*types.PkgName)
			return pkg
		}
	}
	return nil
}

// selector adds a reference to a name of a missing package; name handles all others.
func (l *linker) selector(e *ast.SelectorExpr) {
	if l.called[e.Sel] || l.info.Uses[e.Sel] != nil {
		return
	}
	if pkg := l.packageOf(e); pkg != nil && pkg.Imported().Path() != "C" {
		l.external(references, language, pkg.Imported().Path(), e.Sel.Name, e.Sel)
	}
}

// name adds a reference to an identifier's object, if that is a type, a constant, a package
// variable, or a function used as a value.
func (l *linker) name(id *ast.Ident) {
	if l.called[id] {
		return
	}
	switch obj := l.info.Uses[id].(type) {
	case *types.TypeName:
		if _, param := obj.Type().(*types.TypeParam); param || obj.Pkg() == nil {
			return
		}
		l.edge(references, obj, id)
	case *types.Const:
		if obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
			l.edge(references, obj, id)
		}
	case *types.Var:
		if obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
			l.edge(references, obj, id)
		}
	case *types.Func:
		l.edge(references, obj, id)
	}
}

// edge adds an edge to an object, in the repository or outside.
func (l *linker) edge(kind recountv1.EdgeKind, obj types.Object, at ast.Node) {
	switch t := l.target(obj); {
	case t.external:
		l.external(kind, language, t.pkg, t.name, at)
	case t.key == "" || t.key == l.from && kind != calls:
	default:
		l.graph.Edges = append(l.graph.Edges, resolve.Edge{
			From: l.from, To: t.key, Kind: kind, Edge: resolve.EdgeAt(typesResolved, place(l.fset, at.Pos())),
		})
	}
}

func (l *linker) external(kind recountv1.EdgeKind, lang, pkg, name string, at ast.Node) {
	l.graph.Externals = append(l.graph.Externals, resolve.External{
		From: l.from, Kind: kind, Language: lang, Package: pkg, Name: name,
		Edge: resolve.EdgeAt(typesResolved, place(l.fset, at.Pos())),
	})
}

// environment adds edges to environment variables that are read and programs that are run,
// if the call names them by a constant.
func (l *linker) environment(call *ast.CallExpr, f *types.Func) {
	if f.Pkg() == nil || f.Signature().Recv() != nil {
		return
	}
	switch name := f.Pkg().Path() + "." + f.Name(); name {
	case "os.Getenv", "os.LookupEnv", "syscall.Getenv":
		if v, ok := l.constant(call, 0); ok {
			l.external(recountv1.EdgeKind_EDGE_KIND_READS_ENV, "", "env", v, call.Args[0])
		}
	case "os/exec.Command":
		if v, ok := l.constant(call, 0); ok {
			l.external(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, "", "process", v, call.Args[0])
		}
	case "os/exec.CommandContext":
		if v, ok := l.constant(call, 1); ok {
			l.external(recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, "", "process", v, call.Args[1])
		}
	}
}

// requested adds an edge to the endpoint that a call of net/http requests, as far as its URL
// is constant; "{}" stands for the rest.
func (l *linker) requested(call *ast.CallExpr, f *types.Func) {
	if f.Pkg() == nil || f.Pkg().Path() != "net/http" {
		return
	}
	method, at := "", 0
	switch f.Name() {
	case "Get", "Head", "Post":
		method = strings.ToUpper(f.Name())
	case "PostForm":
		method = "POST"
	case "NewRequest":
		method, _ = l.constant(call, 0)
		at = 1
	case "NewRequestWithContext":
		method, _ = l.constant(call, 1)
		at = 2
	default:
		return
	}
	if recv := f.Signature().Recv(); recv != nil {
		if n := namedOf(recv.Type()); n == nil || n.Obj().Name() != "Client" {
			return
		}
	}
	if method == "" {
		method = "ANY"
		if _, empty := l.info.Types[call.Args[max(at-1, 0)]]; empty && at > 0 && l.info.Types[call.Args[at-1]].Value != nil {
			method = "GET" // NewRequest's ""
		}
	}
	if at < len(call.Args) {
		if url := l.constantParts(call.Args[at], 0); strings.Trim(url, "{}") != "" {
			l.external(recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, "", "http", method+" "+url, call.Args[at])
		}
	}
}

// maxURL is the maximum length of a stored URL.
const maxURL = 512

// constantParts returns a string with "{}" for its parts that are not constant, from a
// concatenation or a call of fmt.Sprintf.
func (l *linker) constantParts(e ast.Expr, depth int) string {
	if s, ok := l.constantOf(e); ok && len(s) <= maxURL {
		return s
	}
	switch e := ast.Unparen(e).(type) {
	case *ast.BinaryExpr:
		if e.Op == token.ADD && depth < 16 {
			if s := l.constantParts(e.X, depth+1) + l.constantParts(e.Y, depth+1); len(s) <= maxURL {
				return strings.ReplaceAll(s, "{}{}", "{}")
			}
		}
	case *ast.CallExpr:
		if sel, ok := e.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Sprintf" {
			if f, ok := l.info.Uses[sel.Sel].(*types.Func); ok && f.FullName() == "fmt.Sprintf" {
				if format, ok := l.constant(e, 0); ok && len(format) <= maxURL {
					return verb.ReplaceAllString(format, "{}")
				}
			}
		}
	}
	return "{}"
}

var verb = regexp.MustCompile(`%[-+# 0]*[0-9]*(?:\.[0-9]+)?(?:\[[0-9]+\])?[a-zA-Z]`)

// constant returns the value of a constant string argument.
func (u *unit) constant(call *ast.CallExpr, i int) (string, bool) {
	if i >= len(call.Args) {
		return "", false
	}
	return u.constantOf(call.Args[i])
}

func (u *unit) constantOf(e ast.Expr) (string, bool) {
	v := u.info.Types[e].Value
	if v == nil || v.Kind() != constant.String {
		return "", false
	}
	s := constant.StringVal(v)
	return s, s != "" && !strings.ContainsRune(s, 0)
}

// embedded adds the edges to the types that a type embeds.
func (l *linker) embedded(spec *ast.TypeSpec) {
	var fields []*ast.Field
	switch t := spec.Type.(type) {
	case *ast.StructType:
		fields = t.Fields.List
	case *ast.InterfaceType:
		fields = t.Methods.List
	default:
		return
	}
	for _, f := range fields {
		name := embeddedName(f.Type)
		if len(f.Names) > 0 || name == nil {
			continue
		}
		obj, ok := l.info.Uses[name].(*types.TypeName)
		if !ok {
			if pkg := l.packageOf(f.Type); pkg != nil {
				l.external(extends, language, pkg.Imported().Path(), name.Name, name)
			}
			continue
		}
		if _, param := obj.Type().(*types.TypeParam); param || obj.Pkg() == nil {
			continue
		}
		l.edge(extends, obj, name)
	}
}

// overrides adds edges from a method to the methods with the same name that its type would
// otherwise have had by embedding.
func (l *linker) overrides(decl *ast.FuncDecl) {
	m, ok := l.info.Defs[decl.Name].(*types.Func)
	if !ok || m.Signature().Recv() == nil {
		return
	}
	named := namedOf(m.Signature().Recv().Type())
	if named == nil {
		return
	}
	st, ok := named.Underlying().(*types.Struct)
	if !ok {
		return
	}
	for f := range st.Fields() {
		if !f.Embedded() {
			continue
		}
		hidden, _, _ := types.LookupFieldOrMethod(f.Type(), true, l.pkg, m.Name())
		if h, ok := hidden.(*types.Func); ok {
			l.edge(overrides, h, decl.Name)
		}
	}
}

// accessPath returns a chain of names in the form of facts: "c.pool.Get()".
func accessPath(e ast.Expr) string {
	switch e := ast.Unparen(e).(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return accessPath(e.X) + "." + e.Sel.Name
	case *ast.CallExpr:
		return accessPath(e.Fun) + "()"
	case *ast.IndexExpr:
		return accessPath(e.X) + "[]"
	case *ast.StarExpr:
		return accessPath(e.X)
	case *ast.UnaryExpr:
		return accessPath(e.X)
	case *ast.TypeAssertExpr:
		return accessPath(e.X)
	}
	return "?"
}
