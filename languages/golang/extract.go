package golang

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/golang/bounded"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// extractor extracts declarations, imports, and what code reads of the environment, runs or
// requests. Calls and routes are left to the resolver, which type-checks the content: the facts
// contain it. A method's owner is the name of its receiver's type (owner_path), since another file
// may declare that type.
var extractor = extract.Language{Name: "go", Version: 1, Matches: extract.Suffixed(".go"), Extract: extractGo}

type goFile struct {
	*extract.Builder
	base  int // the Pos of the first byte
	known map[string]string
}

func extractGo(content []byte, facts *recountv1.FileFacts) {
	facts.ContentZstd = schemas.Compress(content)
	src, bad := extract.ValidText(content)
	facts.Generated = extract.IsGenerated(src)
	fset := token.NewFileSet()
	tree, err := parser.ParseFile(fset, "", src, parser.ParseComments|parser.SkipObjectResolution)
	g := &goFile{Builder: extract.NewBuilder(facts, src), known: map[string]string{}}
	if list, ok := err.(scanner.ErrorList); ok && len(list) > 0 {
		at := min(max(list[0].Pos.Offset, 0), len(src))
		extract.Partial(facts, g.Place(uint32(at)), "syntax error near "+extract.QuoteShort(src[at:]))
	} else if err != nil {
		extract.Partial(facts, nil, "syntax error")
	}
	if bad >= 0 {
		extract.Partial(facts, g.Place(uint32(bad)), "a byte that is not UTF-8 text")
	}
	if tree == nil {
		return
	}
	if bounded.Nesting(tree) {
		extract.Partial(facts, nil, extract.TooDeep)
	}
	g.base = int(tree.FileStart)
	if tree.Name != nil && tree.Name.Name != "_" {
		facts.Package = extract.Clip(tree.Name.Name, extract.MaxName)
	}
	g.imports(tree)
	for _, d := range tree.Decls {
		g.declareAll(d, 0)
	}
	g.Sort()
}

// offset returns the byte offset of a position; a broken file has positions beyond its end.
func (g *goFile) offset(p token.Pos) uint32 {
	return uint32(min(max(int(p)-g.base, 0), len(g.Content)))
}

func (g *goFile) imports(tree *ast.File) {
	for _, spec := range tree.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		i := g.AddImport(0, path, g.offset(spec.Pos()))
		name := path[strings.LastIndexByte(path, '/')+1:]
		if spec.Name != nil {
			name = spec.Name.Name
			i.Alias = name
			i.Wildcard = name == "."
		}
		g.known[name] = path
	}
}

// declareAll declares every name in a declaration of the file or of a function.
func (g *goFile) declareAll(d ast.Decl, in uint32) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		g.function(d)
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			doc := d.Doc
			if d.Lparen.IsValid() {
				doc = nil
			}
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				g.typeSpec(spec, firstDoc(spec.Doc, doc, spec.Comment), in)
			case *ast.ValueSpec:
				if in == 0 {
					g.values(spec, d.Tok, firstDoc(spec.Doc, doc, spec.Comment))
				}
			}
		}
	}
}

func firstDoc(groups ...*ast.CommentGroup) string {
	for _, g := range groups {
		if text := strings.TrimSpace(g.Text()); text != "" {
			return extract.Clip(text, extract.MaxDoc)
		}
	}
	return ""
}

func (g *goFile) function(d *ast.FuncDecl) {
	if d.Name.Name == "" {
		return
	}
	head := d.End()
	if d.Body != nil {
		head = d.Body.Pos()
	}
	decl := extract.Declaration{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, Name: d.Name.Name,
		Start: g.offset(d.Type.Func), End: g.offset(d.End()), Head: g.offset(head), Doc: firstDoc(d.Doc),
	}
	if d.Recv != nil {
		decl.Kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
	}
	in, out := g.Declare(decl)
	out.Exported = d.Name.IsExported()
	out.Parameters, out.Type = g.signature(d.Type)
	if d.Recv != nil && len(d.Recv.List) > 0 {
		out.OwnerPath = g.typePath(d.Recv.List[0].Type)
		out.Exported = out.Exported && ast.IsExported(out.OwnerPath)
	} else {
		out.Test = isGoTest(d.Name.Name, out.Parameters)
	}
	if d.Body != nil {
		g.body(d.Body, in)
	}
}

// isGoTest reports whether the go command would run a function as a test, a benchmark or a fuzz
// target.
func isGoTest(name string, params []*recountv1.Parameter) bool {
	for prefix, typ := range map[string]string{"Test": "testing.T", "Benchmark": "testing.B", "Fuzz": "testing.F"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && len(params) == 1 && params[0].Type == typ {
			return rest == "" || rest[0] < 'a' || rest[0] > 'z'
		}
	}
	return false
}

func (g *goFile) signature(t *ast.FuncType) (params []*recountv1.Parameter, result string) {
	for _, f := range t.Params.List {
		typ, variadic := f.Type, false
		if e, ok := typ.(*ast.Ellipsis); ok {
			typ, variadic = e.Elt, true
		}
		names := f.Names
		if len(names) == 0 {
			names = []*ast.Ident{{Name: "_"}}
		}
		for _, n := range names {
			params = append(params, &recountv1.Parameter{Name: extract.Clip(n.Name, extract.MaxName), Type: g.typePath(typ), Variadic: variadic})
		}
	}
	if t.Results != nil && len(t.Results.List) > 0 {
		result = g.typePath(t.Results.List[0].Type)
	}
	return params, result
}

// typePath returns the name of a type, through pointers and without type arguments; "" if it has no
// name.
func (g *goFile) typePath(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return extract.KnownPath(extract.Checked(e.Name))
	case *ast.SelectorExpr:
		if x, ok := e.X.(*ast.Ident); ok {
			return extract.KnownPath(extract.Member(x.Name, e.Sel.Name))
		}
	case *ast.StarExpr:
		return g.typePath(e.X)
	case *ast.ParenExpr:
		return g.typePath(e.X)
	case *ast.IndexExpr:
		return g.typePath(e.X)
	case *ast.IndexListExpr:
		return g.typePath(e.X)
	}
	return ""
}

func (g *goFile) typeSpec(spec *ast.TypeSpec, doc string, in uint32) {
	if spec.Name.Name == "" {
		return
	}
	d := extract.Declaration{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_TYPE, Name: spec.Name.Name, In: in,
		Start: g.offset(spec.Pos()), End: g.offset(spec.End()), Prefix: "type ", Doc: doc,
	}
	var fields *ast.FieldList
	switch t := spec.Type.(type) {
	case *ast.StructType:
		d.Kind, fields = recountv1.SymbolKind_SYMBOL_KIND_STRUCT, t.Fields
	case *ast.InterfaceType:
		d.Kind, fields = recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, t.Methods
	}
	if fields != nil {
		d.Head = g.offset(fields.Pos())
	}
	owner, out := g.Declare(d)
	out.Exported = in == 0 && spec.Name.IsExported()
	out.Type = g.typePath(spec.Type)
	if fields == nil {
		return
	}
	for _, f := range fields.List {
		g.member(f, owner, out, d.Kind == recountv1.SymbolKind_SYMBOL_KIND_INTERFACE)
	}
}

// member declares the fields of a struct, or a method of an interface.
func (g *goFile) member(f *ast.Field, owner uint32, of *recountv1.Declaration, inInterface bool) {
	d := extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, In: owner, End: g.offset(f.End()), Doc: firstDoc(f.Doc, f.Comment)}
	if f.Tag != nil {
		d.End = g.offset(f.Type.End())
	}
	names := f.Names
	fn, isFunc := f.Type.(*ast.FuncType)
	if inInterface {
		if !isFunc || len(names) == 0 {
			return // an embedded interface, or a union of types
		}
		d.Kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
	}
	embedded := ""
	if len(names) == 0 {
		embedded = g.typePath(f.Type)
		_, name := extract.SplitLast(embedded)
		names = []*ast.Ident{{Name: name, NamePos: f.Type.Pos()}}
	}
	for _, n := range names {
		if n.Name == "" || n.Name == "_" {
			continue
		}
		d.Name, d.Start = n.Name, g.offset(n.Pos())
		_, out := g.Declare(d)
		out.Exported = of.Exported && n.IsExported()
		out.Type = g.typePath(f.Type)
		if inInterface {
			out.Parameters, out.Type = g.signature(fn)
		}
		if embedded != "" {
			out.Modifiers = []string{"embedded"}
		}
	}
}

func (g *goFile) values(spec *ast.ValueSpec, tok token.Token, doc string) {
	kind, prefix := recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, "var "
	if tok == token.CONST {
		kind, prefix = recountv1.SymbolKind_SYMBOL_KIND_CONSTANT, "const "
	}
	for _, n := range spec.Names {
		if n.Name == "" || n.Name == "_" {
			continue
		}
		start, end := g.offset(n.Pos()), g.offset(spec.End())
		head := end
		if i := bytes.IndexByte(g.Content[start:end], '\n'); i >= 0 {
			head = start + uint32(i)
		}
		_, out := g.Declare(extract.Declaration{Kind: kind, Name: n.Name, Start: start, End: end, Head: head, Prefix: prefix, Doc: doc})
		out.Exported = n.IsExported()
		out.Type = g.typePath(spec.Type)
	}
	for _, v := range spec.Values {
		g.body(v, 0)
	}
}

// body finds declared types, and calls with an effect outside the program.
func (g *goFile) body(n ast.Node, in uint32) {
	ast.Inspect(n, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			g.declareAll(n, in)
		case *ast.CallExpr:
			g.call(n, in)
		}
		return true
	})
}

func (g *goFile) call(c *ast.CallExpr, in uint32) {
	sel, ok := c.Fun.(*ast.SelectorExpr)
	if !ok {
		return
	}
	x, ok := sel.X.(*ast.Ident)
	if !ok {
		return
	}
	var edge recountv1.EdgeKind
	var attributes map[string]string
	switch g.known[x.Name] + "." + sel.Sel.Name {
	case "os.Getenv", "os.LookupEnv":
		edge, attributes = recountv1.EdgeKind_EDGE_KIND_READS_ENV, map[string]string{"variable": g.literal(c, 0)}
	case "os/exec.Command":
		edge, attributes = recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, map[string]string{"command": g.command(c, 0)}
	case "os/exec.CommandContext":
		edge, attributes = recountv1.EdgeKind_EDGE_KIND_EXECUTES_PROCESS, map[string]string{"command": g.command(c, 1)}
	case "net/http.Get", "net/http.Head", "net/http.Post", "net/http.PostForm":
		method := strings.ToUpper(strings.TrimSuffix(sel.Sel.Name, "Form"))
		edge, attributes = recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": method, "url": g.literal(c, 0)}
	case "net/http.NewRequest":
		edge, attributes = recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": extract.FirstOf(g.literal(c, 0), "ANY"), "url": g.literal(c, 1)}
	case "net/http.NewRequestWithContext":
		edge, attributes = recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT, map[string]string{"method": extract.FirstOf(g.literal(c, 1), "ANY"), "url": g.literal(c, 2)}
	default:
		return
	}
	if attributes["url"] == "" && edge == recountv1.EdgeKind_EDGE_KIND_CONSUMES_ENDPOINT || attributes["variable"] == "" && edge == recountv1.EdgeKind_EDGE_KIND_READS_ENV {
		return // no argument names it
	}
	r := g.Refer(edge, in, extract.Member(x.Name, sel.Sel.Name), g.offset(sel.Sel.Pos()))
	r.Attributes = attributes
}

// literal returns the i-th argument if it is a string literal or a constant of net/http that names
// a method, and "" otherwise.
func (g *goFile) literal(c *ast.CallExpr, i int) string {
	if i >= len(c.Args) {
		return ""
	}
	switch a := c.Args[i].(type) {
	case *ast.BasicLit:
		if a.Kind == token.STRING {
			s, _ := strconv.Unquote(a.Value)
			return extract.Clip(strings.ToValidUTF8(s, "_"), extract.MaxValue)
		}
	case *ast.SelectorExpr:
		if x, ok := a.X.(*ast.Ident); ok && g.known[x.Name] == "net/http" {
			if method, ok := strings.CutPrefix(a.Sel.Name, "Method"); ok {
				return strings.ToUpper(method)
			}
		}
	}
	return ""
}

// command returns the command line from argument i on, with {} for arguments that are not literals.
func (g *goFile) command(c *ast.CallExpr, i int) string {
	var words []string
	for ; i < len(c.Args); i++ {
		words = append(words, extract.FirstOf(g.literal(c, i), "{}"))
	}
	return extract.Clip(strings.Join(words, " "), extract.MaxValue)
}
