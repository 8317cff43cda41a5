package golang

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/token"
	"path"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/languages/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

const (
	maxDoc       = 2 << 10
	maxSignature = 1 << 10
)

// declared has the nodes of one file: a pure function of the file and its package's path.
type declared struct {
	file    schemas.NodeKey
	nodes   []resolve.Node
	edges   []resolve.Edge // contains
	ofName  map[*ast.Ident]schemas.NodeKey
	ofField map[*ast.Field]schemas.NodeKey // embedded fields
	// byChain has the nodes that other packages may name, by names such as "Client.Produce".
	byChain map[string]schemas.NodeKey
	// local has the names of functions that declare types.
	local map[*ast.Ident]bool
}

// declarer walks a file's declarations.
//
// A file that the build ignores, and every init and _, shares names with other files of
// its package, so their nodes have the file's base name as variant: a symbol's identity
// then depends only on its own file. A second symbol with the same name in a file gets
// "#2".
type declarer struct {
	fset *token.FileSet
	src  *source
	pkg  string
	out  *declared
	// times counts the nodes of one name, owner and kind.
	times map[schemas.NodeKey]int
	// spaced is a buffer of hash.
	spaced []byte
}

// declare returns the nodes of everything that a file declares. pkg is the canonical package path.
func declare(fset *token.FileSet, src *source, pkg string) *declared {
	d := &declarer{fset: fset, src: src, pkg: pkg, times: map[schemas.NodeKey]int{}, out: &declared{
		file: resolve.FileKey(src.Path), ofName: map[*ast.Ident]schemas.NodeKey{},
		ofField: map[*ast.Field]schemas.NodeKey{}, byChain: map[string]schemas.NodeKey{}, local: map[*ast.Ident]bool{},
	}}
	file := &recountv1.CodeNode{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_FILE, Language: language, Package: pkg,
		Name: path.Base(src.Path), Test: src.test,
	}
	attributes := map[string]string{}
	if ast.IsGenerated(src.syntax) {
		attributes["generated"] = "true"
	}
	if !src.built {
		attributes["built"] = "false"
	}
	if len(attributes) > 0 {
		file.Attributes = attributes
	}
	d.out.nodes = append(d.out.nodes, resolve.Node{Key: d.out.file, Node: file})
	for _, decl := range src.syntax.Decls {
		switch decl := decl.(type) {
		case *ast.FuncDecl:
			d.function(decl)
		case *ast.GenDecl:
			d.general(decl, d.out.file, "")
		}
	}
	return d.out
}

// symbol is a declaration that becomes a node.
type symbol struct {
	kind        recountv1.SymbolKind
	owner, name string
	in          schemas.NodeKey // what contains it
	signature   string
	doc         *ast.CommentGroup
	from, to    ast.Node // its text; to may be nil
	exported    bool
}

// add adds the node of a symbol and the contains edge to it.
func (d *declarer) add(s symbol) schemas.NodeKey {
	start, end := s.from.Pos(), endOf(d.fset, s.from)
	if s.to != nil {
		end = endOf(d.fset, s.to)
	}
	variant := ""
	if !d.src.built || s.name == "_" || s.name == "init" && s.owner == "" && s.kind == recountv1.SymbolKind_SYMBOL_KIND_FUNCTION {
		variant = path.Base(d.src.Path)
	}
	plain := schemas.NewNodeKey(d.src.Path, s.owner, s.name, s.kind, variant)
	d.times[plain]++
	if n := d.times[plain]; n > 1 {
		variant += fmt.Sprintf("#%d", n)
	}
	key := schemas.NewNodeKey(d.src.Path, s.owner, s.name, s.kind, variant)
	d.out.nodes = append(d.out.nodes, resolve.Node{Key: key, Node: &recountv1.CodeNode{
		Kind: s.kind, Language: language, Package: d.pkg, Owner: s.owner, Name: s.name, Variant: variant,
		Signature: s.signature, Doc: docText(s.doc), Start: place(d.fset, start), End: place(d.fset, end),
		Exported: s.exported, Test: d.src.test, BodyHash: d.hash(start, end),
	}})
	d.out.edges = append(d.out.edges, resolve.Edge{
		From: s.in, To: key, Kind: recountv1.EdgeKind_EDGE_KIND_CONTAINS,
		Edge: resolve.EdgeAt(recountv1.Provenance_PROVENANCE_DECLARED, place(d.fset, start)),
	})
	chain := key.Chain()
	if _, taken := d.out.byChain[chain]; !taken {
		d.out.byChain[chain] = key
	}
	return key
}

func (d *declarer) function(f *ast.FuncDecl) {
	s := symbol{
		kind: recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, name: f.Name.Name, in: d.out.file, doc: f.Doc, from: f,
		signature: d.text(f.Pos(), endOf(d.fset, f.Type)), exported: f.Name.IsExported(),
	}
	if f.Recv != nil {
		s.kind = recountv1.SymbolKind_SYMBOL_KIND_METHOD
		s.owner = receiverName(f)
		s.exported = s.exported && ast.IsExported(s.owner)
	}
	key := d.add(s)
	d.out.ofName[f.Name] = key
	if f.Body != nil {
		before := len(d.out.nodes)
		if d.locals(f.Body, key); len(d.out.nodes) > before {
			d.out.local[f.Name] = true
		}
	}
}

// locals declares the types of a function's body (and of an initialiser's literals).
func (d *declarer) locals(body ast.Node, in schemas.NodeKey) {
	ast.Inspect(body, func(n ast.Node) bool {
		if decl, ok := n.(*ast.GenDecl); ok && decl.Tok == token.TYPE {
			d.general(decl, in, in.Chain())
			return false
		}
		return true
	})
}

// general declares the constants, variables or types of a declaration; owner is the name of
// the enclosing function, "" at the top level.
func (d *declarer) general(decl *ast.GenDecl, in schemas.NodeKey, owner string) {
	for _, spec := range decl.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			d.typeSpec(decl, spec, in, owner)
		case *ast.ValueSpec:
			kind, word := recountv1.SymbolKind_SYMBOL_KIND_VARIABLE, "var "
			if decl.Tok == token.CONST {
				kind, word = recountv1.SymbolKind_SYMBOL_KIND_CONSTANT, "const "
			}
			for i, name := range spec.Names {
				s := symbol{
					kind: kind, owner: owner, name: name.Name, in: in, doc: docOf(spec.Doc, decl, spec.Comment), from: spec,
					signature: word + name.Name, exported: owner == "" && name.IsExported(),
				}
				if spec.Type != nil {
					s.signature += " " + d.text(spec.Type.Pos(), endOf(d.fset, spec.Type))
				}
				if i < len(spec.Values) && len(spec.Names) == len(spec.Values) {
					if v, ok := spec.Values[i].(*ast.BasicLit); ok {
						s.signature = clip(s.signature+" = "+v.Value, maxSignature)
					}
				}
				d.out.ofName[name] = d.add(s)
			}
			for i, v := range spec.Values {
				d.locals(v, d.out.ofName[spec.Names[min(i, len(spec.Names)-1)]])
			}
		}
	}
}

func (d *declarer) typeSpec(decl *ast.GenDecl, spec *ast.TypeSpec, in schemas.NodeKey, owner string) {
	s := symbol{
		kind: recountv1.SymbolKind_SYMBOL_KIND_TYPE, owner: owner, name: spec.Name.Name, in: in,
		doc: docOf(spec.Doc, decl, spec.Comment), from: spec, exported: owner == "" && spec.Name.IsExported(),
	}
	switch t := spec.Type.(type) {
	case *ast.StructType:
		s.kind, s.signature = recountv1.SymbolKind_SYMBOL_KIND_STRUCT, d.text(spec.Pos(), t.Struct)+" struct"
	case *ast.InterfaceType:
		s.kind, s.signature = recountv1.SymbolKind_SYMBOL_KIND_INTERFACE, d.text(spec.Pos(), t.Interface)+" interface"
	default:
		s.signature = d.text(spec.Pos(), endOf(d.fset, spec))
	}
	s.signature = "type " + s.signature
	key := d.add(s)
	d.out.ofName[spec.Name] = key
	d.members(spec.Type, key, s.exported)
}

// members declares a struct's fields and an interface's methods, also of literal
// types inside: the field of a field is "Config.TLS.Enabled".
func (d *declarer) members(t ast.Expr, in schemas.NodeKey, exported bool) {
	switch t := t.(type) {
	case *ast.StructType:
		for _, f := range t.Fields.List {
			names := f.Names
			embedded := len(names) == 0
			if embedded {
				name := embeddedName(f.Type)
				if name == nil {
					continue
				}
				names = []*ast.Ident{name}
			}
			for _, name := range names {
				s := symbol{
					kind: recountv1.SymbolKind_SYMBOL_KIND_FIELD, owner: in.Chain(), name: name.Name, in: in,
					doc: docOf(f.Doc, nil, f.Comment), from: f, exported: exported && name.IsExported(),
					signature: name.Name + " " + d.text(f.Type.Pos(), endOf(d.fset, f.Type)),
				}
				if embedded {
					s.signature = d.text(f.Type.Pos(), endOf(d.fset, f.Type))
				}
				key := d.add(s)
				if embedded {
					d.out.ofField[f] = key
				} else {
					d.out.ofName[name] = key
				}
				d.members(f.Type, key, exported && name.IsExported())
			}
		}
	case *ast.InterfaceType:
		for _, f := range t.Methods.List {
			for _, name := range f.Names {
				d.out.ofName[name] = d.add(symbol{
					kind: recountv1.SymbolKind_SYMBOL_KIND_METHOD, owner: in.Chain(), name: name.Name, in: in,
					doc: docOf(f.Doc, nil, f.Comment), from: f, exported: exported && name.IsExported(),
					signature: d.text(name.Pos(), endOf(d.fset, f.Type)),
				})
			}
		}
	case *ast.StarExpr:
		d.members(t.X, in, exported)
	case *ast.ArrayType:
		d.members(t.Elt, in, exported)
	case *ast.MapType:
		d.members(t.Value, in, exported)
	case *ast.ChanType:
		d.members(t.Value, in, exported)
	case *ast.ParenExpr:
		d.members(t.X, in, exported)
	}
}

// text returns the source from start to end on one line.
func (d *declarer) text(start, end token.Pos) string {
	return clip(string(bytes.Join(bytes.Fields(d.span(start, end)), []byte{' '})), maxSignature)
}

func (d *declarer) span(start, end token.Pos) []byte {
	from, to := d.fset.PositionFor(start, false).Offset, d.fset.PositionFor(end, false).Offset
	if from > to || to > len(d.src.content) {
		return nil
	}
	return d.src.content[from:to]
}

// hash returns xxh3 over the text from start to end, with white space folded.
func (d *declarer) hash(start, end token.Pos) uint64 {
	d.spaced = d.spaced[:0]
	for word := range bytes.FieldsSeq(d.span(start, end)) {
		if len(d.spaced) > 0 {
			d.spaced = append(d.spaced, ' ')
		}
		d.spaced = append(d.spaced, word...)
	}
	return xxh3.Hash(d.spaced)
}

// receiverName returns the name of a method's receiver type.
func receiverName(f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return ""
	}
	if name := embeddedName(f.Recv.List[0].Type); name != nil {
		return name.Name
	}
	return "_"
}

// embeddedName returns the implicit name of an embedded field.
func embeddedName(t ast.Expr) *ast.Ident {
	switch t := t.(type) {
	case *ast.Ident:
		return t
	case *ast.StarExpr:
		return embeddedName(t.X)
	case *ast.ParenExpr:
		return embeddedName(t.X)
	case *ast.SelectorExpr:
		return t.Sel
	case *ast.IndexExpr:
		return embeddedName(t.X)
	case *ast.IndexListExpr:
		return embeddedName(t.X)
	}
	return nil
}

// docOf returns a specification's own comment, or that of its declaration if that has no
// parentheses, or the comment on its line.
func docOf(doc *ast.CommentGroup, decl *ast.GenDecl, line *ast.CommentGroup) *ast.CommentGroup {
	if doc == nil && decl != nil && !decl.Lparen.IsValid() {
		doc = decl.Doc
	}
	if doc == nil {
		doc = line
	}
	return doc
}

func docText(doc *ast.CommentGroup) string {
	if doc == nil {
		return ""
	}
	return clip(strings.TrimSpace(strings.ToValidUTF8(doc.Text(), "\uFFFD")), maxDoc)
}

// clip cuts at most n bytes out of a text, at a character's boundary, and keeps it UTF-8.
func clip(s string, n int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= n {
		return s
	}
	for n > 0 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// endOf returns where a node ends. The parser puts the end of what a file breaks off in beyond the file,
// where another file of the set may begin, or nowhere; such a node ends with its file.
func endOf(fset *token.FileSet, n ast.Node) token.Pos {
	f := fset.File(n.Pos())
	if f == nil {
		return n.Pos()
	}
	if last := token.Pos(f.Base() + f.Size()); n.End() < n.Pos() || n.End() > last {
		return last
	}
	return n.End()
}

// place returns a position in the form of the graph; //line comments are ignored.
func place(fset *token.FileSet, pos token.Pos) *recountv1.Place {
	p := fset.PositionFor(pos, false)
	if p.Line == 0 {
		return nil
	}
	return &recountv1.Place{Line: uint32(p.Line), Column: uint32(p.Column - 1)}
}
