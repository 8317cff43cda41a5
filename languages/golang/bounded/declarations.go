package bounded

import (
	"go/ast"
	"go/token"
	"slices"
)

// Limits of a declaration once each name in it is replaced by what it means: the parts that it has then, how many names
// lead from one to the next, and the parts that all declarations of a package have together. The checker's time grows
// with all of them.
const (
	maxParts = 1 << 16
	maxNames = 200
	maxAll   = 1 << 24
	// large has the parts above which a declaration is cut once maxAll is reached.
	large = 1000
)

// Declarations returns the files of a package without what is too large in them: such a type is an empty struct, such a
// constant has no value, and a function that declares one has no body. The files themselves do not change.
func Declarations(files []*ast.File) []*ast.File {
	p := &pkg{of: map[string][]*named{}, sizes: map[*named]size{}, means: map[use]*named{}}
	for _, f := range files {
		p.collect(f)
	}
	cut := p.tooLarge()
	if len(cut) == 0 {
		return files
	}
	out := make([]*ast.File, len(files))
	for i, f := range files {
		one := *f
		one.Decls = slices.Clone(f.Decls)
		for k, decl := range one.Decls {
			one.Decls[k] = without(decl, cut)
		}
		out[i] = &one
	}
	return out
}

// named is a type or a constant that a package declares, at its top or in a function.
type named struct {
	at     ast.Node // the *ast.TypeSpec, the name of the constant, or the *ast.FuncDecl around either
	value  ast.Expr
	alias  bool // or a constant
	params []string
}

// size is how much an expression is once its names are replaced. Of a generic type it is that of its own parts;
// each parameter's has how often it is part of that.
type size struct {
	parts, names int
	each         map[string]int
}

type pkg struct {
	all   []*named
	of    map[string][]*named
	sizes map[*named]size
	means map[use]*named
}

// use is the use of a name, as a whole or as a name only.
type use struct {
	name  string
	whole bool
}

func (p *pkg) collect(f *ast.File) {
	for _, decl := range f.Decls {
		switch d := decl.(type) {
		case *ast.GenDecl:
			p.declared(d, nil)
		case *ast.FuncDecl:
			if d.Body != nil {
				ast.Inspect(d.Body, func(n ast.Node) bool {
					if g, ok := n.(*ast.GenDecl); ok {
						p.declared(g, d)
					}
					return true
				})
			}
		}
	}
}

// declared adds what a declaration declares, in a function or at the top.
func (p *pkg) declared(d *ast.GenDecl, in *ast.FuncDecl) {
	add := func(name string, n *named) {
		if in != nil {
			n.at = in
		}
		p.all = append(p.all, n)
		p.of[name] = append(p.of[name], n)
	}
	var values []ast.Expr // of constants without a value of their own
	for _, spec := range d.Specs {
		switch s := spec.(type) {
		case *ast.TypeSpec:
			n := &named{at: s, value: s.Type, alias: s.Assign.IsValid()}
			if s.TypeParams != nil {
				for _, f := range s.TypeParams.List {
					for _, name := range f.Names {
						n.params = append(n.params, name.Name)
					}
				}
			}
			add(s.Name.Name, n)
		case *ast.ValueSpec:
			if d.Tok != token.CONST {
				continue
			}
			if len(s.Values) > 0 || s.Type != nil {
				values = s.Values
			}
			for i, name := range s.Names {
				if i < len(values) {
					add(name.Name, &named{at: name, value: values[i], alias: true})
				}
			}
		}
	}
}

// tooLarge returns what is to be cut.
func (p *pkg) tooLarge() map[ast.Node]bool {
	cut := map[ast.Node]bool{}
	left := maxAll
	for _, n := range p.all {
		s := p.sizeOf(n)
		if left -= s.parts; s.parts >= maxParts || s.names >= maxNames || left < 0 && s.parts > large || len(n.params) > 0 && p.grows(n) {
			cut[n.at] = true
		}
	}
	return cut
}

// sizeOf returns the size of what a name means. What is too large counts as little, since it is cut.
func (p *pkg) sizeOf(n *named) size {
	if s, known := p.sizes[n]; known {
		return s
	}
	p.sizes[n] = size{parts: 1} // of one that means itself
	m := &measure{pkg: p, params: n.params}
	m.add(n.value, 1, true)
	m.size.names++
	p.sizes[n] = m.size
	return m.size
}

// measure adds up the size of an expression.
type measure struct {
	*pkg
	params []string
	size
}

// times multiplies without becoming too large for an int.
func times(a, b int) int { return min(min(a, maxParts)*min(b, maxParts), maxParts) }

func (m *measure) count(parts, by int) { m.parts = min(m.parts+times(parts, by), maxParts) }

// add adds an expression that is there several times. whole is set where a type is as a whole part of what is
// measured, and not only a name, as behind a pointer.
func (m *measure) add(e ast.Expr, by int, whole bool) {
	switch e := e.(type) {
	case nil:
	case *ast.Ident:
		m.name(e.Name, nil, by, whole)
	case *ast.IndexExpr:
		m.instance(e.X, []ast.Expr{e.Index}, by, whole)
	case *ast.IndexListExpr:
		m.instance(e.X, e.Indices, by, whole)
	case *ast.ParenExpr:
		m.add(e.X, by, whole)
	case *ast.BinaryExpr:
		m.add(e.X, by, whole)
		m.add(e.Y, by, whole)
	case *ast.UnaryExpr:
		m.add(e.X, by, whole)
	case *ast.CallExpr:
		for _, a := range e.Args {
			m.add(a, by, whole)
		}
	case *ast.StarExpr:
		m.count(1, by)
		m.add(e.X, by, false)
	case *ast.ArrayType:
		m.count(1, by)
		m.add(e.Elt, by, whole && e.Len != nil)
	case *ast.MapType:
		m.count(1, by)
		m.add(e.Key, by, false)
		m.add(e.Value, by, false)
	case *ast.ChanType:
		m.count(1, by)
		m.add(e.Value, by, false)
	case *ast.StructType:
		m.fields(e.Fields, by, whole)
	case *ast.InterfaceType:
		m.fields(e.Methods, by, whole)
	case *ast.FuncType:
		m.fields(e.Params, by, false)
		m.fields(e.Results, by, false)
	default:
		m.count(1, by)
	}
}

func (m *measure) fields(all *ast.FieldList, by int, whole bool) {
	m.count(1, by)
	if all == nil {
		return
	}
	for _, f := range all.List {
		m.add(f.Type, times(by, max(1, len(f.Names))), whole)
	}
}

func (m *measure) instance(of ast.Expr, args []ast.Expr, by int, whole bool) {
	if name, ok := of.(*ast.Ident); ok {
		m.name(name.Name, args, by, whole)
		return
	}
	m.count(1, by)
	for _, a := range args {
		m.add(a, by, false)
	}
}

// largest returns the largest of what a name may mean that is not cut, nil if it adds nothing.
func (p *pkg) largest(u use) (largest *named) {
	if n, known := p.means[u]; known {
		return n
	}
	parts := -1
	for _, n := range p.of[u.name] {
		if !n.alias && !u.whole {
			continue
		}
		if s := p.sizeOf(n); s.parts < maxParts && s.names < maxNames && s.parts > parts {
			largest, parts = n, s.parts
		}
	}
	p.means[u] = largest
	return largest
}

// name adds what a name means.
func (m *measure) name(name string, args []ast.Expr, by int, whole bool) {
	if slices.Contains(m.params, name) {
		if m.each == nil {
			m.each = map[string]int{}
		}
		m.each[name] = min(m.each[name]+by, maxParts)
		m.count(1, by)
		return
	}
	m.count(1, by)
	var largest size
	var params []string
	if n := m.largest(use{name, whole}); n != nil {
		largest, params = m.sizeOf(n), n.params
	}
	m.names = max(m.names, largest.names)
	m.count(largest.parts, by)
	for i, a := range args {
		often := 1
		if i < len(params) {
			often = max(1, largest.each[params[i]])
		}
		m.add(a, times(by, often), whole)
	}
}

// grows reports whether a generic type embeds, by way of others, itself with arguments that are larger than its
// parameters: a search for a member goes on for ever.
func (p *pkg) grows(n *named) bool {
	seen := map[*named]bool{}
	var reaches func(from *named) bool
	reaches = func(from *named) bool {
		if seen[from] {
			return false
		}
		if seen[from] = true; len(seen) > maxNames {
			return true // or is too far from the end
		}
		for to := range p.embedded(from) {
			if to == n || reaches(to) {
				return true
			}
		}
		return false
	}
	for to, larger := range p.embedded(n) {
		if larger && (to == n || reaches(to)) {
			return true
		}
	}
	return false
}

// embedded returns the generic types that a type embeds or is, and whether an argument of each is more than a name.
func (p *pkg) embedded(n *named) map[*named]bool {
	all := map[*named]bool{}
	add := func(e ast.Expr) {
		if star, ok := e.(*ast.StarExpr); ok {
			e = star.X
		}
		var of ast.Expr
		var args []ast.Expr
		switch e := e.(type) {
		case *ast.IndexExpr:
			of, args = e.X, []ast.Expr{e.Index}
		case *ast.IndexListExpr:
			of, args = e.X, e.Indices
		}
		name, ok := of.(*ast.Ident)
		if !ok {
			return
		}
		larger := slices.ContainsFunc(args, func(a ast.Expr) bool {
			_, plain := a.(*ast.Ident)
			return !plain
		})
		for _, to := range p.of[name.Name] {
			all[to] = all[to] || larger
		}
	}
	var fields *ast.FieldList
	switch t := n.value.(type) {
	case *ast.StructType:
		fields = t.Fields
	case *ast.InterfaceType:
		fields = t.Methods
	default:
		add(t)
	}
	if fields != nil {
		for _, f := range fields.List {
			if len(f.Names) == 0 {
				add(f.Type)
			}
		}
	}
	return all
}

// without returns a declaration with what is cut replaced.
func without(decl ast.Decl, cut map[ast.Node]bool) ast.Decl {
	switch d := decl.(type) {
	case *ast.FuncDecl:
		if cut[d] {
			one := *d
			one.Body = nil
			return &one
		}
	case *ast.GenDecl:
		one := *d
		one.Specs = slices.Clone(d.Specs)
		for i, spec := range one.Specs {
			switch s := spec.(type) {
			case *ast.TypeSpec:
				if cut[s] {
					t := *s
					t.Type = &ast.StructType{Struct: s.Type.Pos(), Fields: &ast.FieldList{Opening: s.Type.Pos(), Closing: s.Type.Pos()}}
					one.Specs[i] = &t
				}
			case *ast.ValueSpec:
				if slices.ContainsFunc(s.Names, func(n *ast.Ident) bool { return cut[n] }) {
					v := *s
					v.Values = make([]ast.Expr, len(s.Names))
					for k, name := range s.Names {
						v.Values[k] = &ast.BadExpr{From: name.Pos(), To: name.End()}
					}
					one.Specs[i] = &v
				}
			}
		}
		return &one
	}
	return decl
}
