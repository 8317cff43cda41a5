package typed

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/scope"
)

// TypeOf returns the type that a text means at a place.
func (t *Typer) TypeOf(at Spot, text string) *Type {
	if text == "" || text == "?" {
		return nil
	}
	e := t.parsed[text]
	if e == nil {
		e = parseType(text)
		t.parsed[text] = e
	}
	return t.typeAs(at, e)
}

func (t *Typer) typeAs(at Spot, e *typeExpr) *Type {
	name, nullable := strings.CutSuffix(e.name, "?")
	switch {
	case len(e.args) == 0:
	case t.lang.ByArity[name]:
		name += strconv.Itoa(len(e.args))
	case t.lang.Arity:
		name += "`" + strconv.Itoa(len(e.args))
	}
	of := t.named(at, name)
	if _, _, ok := t.lang.service("", t.lang.RPC.Client, name); of == nil && ok {
		of = &Type{Name: name} // generated, in a namespace that is not known
	}
	if of == nil && name != "" && !t.ambiguous(name) {
		of = foreign(name)
	}
	if of != nil && len(e.args) > 0 {
		with := *of
		with.Args = nil
		for _, a := range e.args {
			with.Args = append(with.Args, t.typeAs(at, a))
		}
		of = &with
	}
	if nullable && of.isPrimitive() {
		with := *of
		with.nullable = true
		of = &with
	}
	for range e.dims {
		of = &Type{elem: of}
	}
	return of
}

// ambiguous reports whether a class of the repository has the first or the last name of a dotted
// name, which may then be meant.
func (t *Typer) ambiguous(name string) bool {
	if t.simpleNames == nil {
		t.simpleNames = map[string]bool{}
		for _, c := range t.all {
			t.simpleNames[c.Decl.Name] = true
		}
	}
	first, _, _ := strings.Cut(Plain(name), ".")
	_, last := CutLast(Plain(name))
	return t.simpleNames[first] || t.simpleNames[last]
}

// named returns the type of a dotted name.
func (t *Typer) named(at Spot, name string) *Type {
	if name == "" {
		return nil
	}
	first, rest, nested := strings.Cut(name, ".")
	of := t.simple(at, first)
	if of == nil {
		return t.Qualified(at.Module.File.Path, name)
	}
	if nested {
		return t.Nested(of, rest)
	}
	return of
}

// Nested returns the type of a dotted name inside another type.
func (t *Typer) Nested(of *Type, rest string) *Type {
	for name := range strings.SplitSeq(rest, ".") {
		switch {
		case of == nil:
			return nil
		case of.Class != nil:
			c := t.memberType(of.Class, name)
			if c == nil {
				return nil
			}
			of = &Type{Class: c}
		case of.Pkg != "":
			of = &Type{Pkg: of.Pkg, Name: of.Name + "." + name}
		default:
			return nil
		}
	}
	return of
}

// Qualified returns the type of a name that begins with its package, as the file from means it.
func (t *Typer) Qualified(from, name string) *Type {
	for pkg, last := CutLast(name); pkg != ""; {
		first, rest, nested := strings.Cut(last, ".")
		if found := Nearest(from, t.In(pkg, first)); found != nil {
			of := &Type{Class: found}
			if nested {
				return t.Nested(of, rest)
			}
			return of
		}
		var more string
		pkg, more = CutLast(pkg)
		last = more + "." + last
	}
	pkg, class := t.lang.splitPackage(name)
	if of := t.external(pkg, class); pkg != "" && class != "" && !t.Prefixes[pkg] && (t.lang.SmallPackages || of.Class != nil) {
		return of
	}
	return nil
}

// external returns the type of a class outside the repository: one of the library, or one of
// which only the name is known.
func (t *Typer) external(pkg, name string) *Type {
	name = Plain(name)
	_, last := CutLast(name)
	if c := t.Library[last]; c != nil && c.Pkg == pkg && c.Name == name {
		return &Type{Class: c}
	}
	return &Type{Pkg: pkg, Name: name}
}

// simple returns the type of a single name: a type parameter, an enclosing class or a member of
// one, a class of the declaration, or what Language.Names finds.
func (t *Typer) simple(at Spot, name string) *Type {
	for in := at.In; in != 0; {
		d := at.Module.Decl(in)
		own := t.nameOf(d)
		for _, p := range t.params[d] {
			if p.name == name {
				return &Type{param: p}
			}
		}
		if c := t.classes[d]; c != nil {
			if own == name {
				return &Type{Class: c}
			}
			if !(at.base && in == at.In) {
				if m := t.memberType(c, name); m != nil && (Plain(name) == name || t.nameOf(m.Decl) == name) {
					return &Type{Class: m}
				}
			}
		} else if c := t.locals[localName{at.Module, in, name}]; c != nil {
			return &Type{Class: c}
		}
		in = d.Owner
	}
	if at.In == 0 {
		if c := t.locals[localName{at.Module, 0, name}]; c != nil {
			return &Type{Class: c}
		}
	}
	return t.lang.Names(t, at.Module, at.In, name)
}

// memberType returns the class of a name inside a class or one of its bases.
func (t *Typer) memberType(c *Class, name string) (found *Class) {
	t.inherited(&Type{Class: c}, func(s *Type) bool {
		if s.Class != nil {
			found = s.Class.member(name)
		}
		return found == nil
	})
	return found
}

// nameOf returns the name of a type with its number of type parameters, if that is part of names.
func (t *Typer) nameOf(d *scope.Decl) string {
	params := d.Attributes["type_parameters"]
	if !t.lang.Arity || params == "" {
		return d.Name
	}
	return d.Name + "`" + strconv.Itoa(len(splitTypes(params)))
}

// Plain returns a name without the number of its type parameters.
func Plain(name string) string {
	name, _, _ = strings.Cut(name, "`")
	return name
}

// In returns the classes of a package by a name: those with its number of type parameters. If it says
// none and no class is without them, it returns all of the name.
func (t *Typer) In(pkg, name string) []*Class {
	of := t.Packages[pkg]
	if found := of[name]; len(found) > 0 || Plain(name) != name {
		return found
	}
	return of[Plain(name)+"`"]
}

// Anywhere returns the classes of a name in all packages that begin with the same name as pkg.
func (t *Typer) Anywhere(pkg, name string) (found []*Class) {
	if t.anywhere == nil {
		t.anywhere = map[string][]*Class{}
		for _, c := range t.all {
			if c.outer == nil && t.locals[localName{c.Decl.Mod, c.Decl.Owner, c.Decl.Name}] == nil {
				key := t.nameOf(c.Decl)
				t.anywhere[key] = append(t.anywhere[key], c)
			}
		}
	}
	root, _, _ := strings.Cut(pkg, ".")
	for _, c := range t.anywhere[name] {
		if first, _, _ := strings.Cut(c.Pkg, "."); first == root && root != "" {
			found = append(found, c)
		}
	}
	return found
}

// member returns the class of a name inside the class, as In finds it.
func (c *Class) member(name string) *Class {
	if m := c.types[name]; m != nil {
		return m
	}
	return c.types[Plain(name)+"`"]
}

// Nearest returns the class whose path has the most directories in common with a file, nil if
// several have.
func Nearest(from string, of []*Class) *Class {
	if len(of) < 2 {
		if len(of) == 0 {
			return nil
		}
		return of[0]
	}
	var best *Class
	most, tied := -1, false
	for _, c := range of {
		n := 0
		for to := c.Decl.Mod.File.Path; n < len(from) && n < len(to) && from[n] == to[n]; n++ {
		}
		n = strings.LastIndexByte(from[:n], '/') + 1
		if n > most {
			best, most, tied = c, n, false
		} else if n == most {
			tied = true
		}
	}
	if tied {
		return nil
	}
	return best
}

// CutLast cuts a dotted name at its last dot.
func CutLast(name string) (before, last string) {
	i := strings.LastIndexByte(name, '.')
	if i < 0 {
		return "", name
	}
	return name[:i], name[i+1:]
}

func Joined(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return b + "." + a
}
