package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Programs from before the class statement, and many after it, make classes by calls of their own:
//
//	var Point = Base.extend(Emitter, { initialize: function (x) {…}, getX: function () {…}, statics: {…} });
//	Point.inject({ add: function () {…} });
//
// What such a call is given are the bases, and objects whose functions are the methods. Names do not matter, but
// the form of the call does.

// extenders are methods of a class that make a class which extends it, injectors those that add members to it;
// mergers are functions that add the members of objects to their first argument.
var (
	extenders = scope.WordSet("extend subclass inherit derive")
	injectors = scope.WordSet("inject include implement mixin reopen addMethods augment")
	mergers   = scope.WordSet("assign extend mixin merge augment extendObject mixIn assignIn copyProperties addMethods")
	// constructors are the names that such classes give their constructor, by precedence.
	constructors = []string{"constructor", "initialize", "init", "_init", "ctor"}
)

// classObject is an object literal whose functions are members of a class: the declaration with the index in, or, if that
// is 0, the one that only values tell, by the path name.
type classObject struct {
	in     uint32
	name   string
	static bool
}

// isClassName reports whether a name has the form of the name of a class.
func isClassName(name string) bool {
	return name != "" && name[0] >= 'A' && name[0] <= 'Z' && strings.ToUpper(name) != name && extract.IsName(strings.ReplaceAll(name, "$", "_"))
}

// lastOf returns the last name of a dotted path, "" if the path is no such path.
func lastOf(path string) string {
	if strings.ContainsAny(path, "([?<") {
		return ""
	}
	_, last := extract.SplitLast(path)
	return extract.FirstOf(last, path)
}

// objectsOf returns the object literals among the arguments of a call, and those that functions return which are
// called in place there. functions is set if one has a function.
func (j *walker) objectsOf(args extract.Ref) (all []extract.Ref, functions bool) {
	for c := range j.Children(args) {
		for _, object := range append(j.returned(j.inPlace(c)), j.unwrapped(c)) {
			if j.Kind(object) == "object" {
				all = append(all, object)
				functions = functions || j.hasFunctions(object) || j.property(object, "statics") != extract.None
			}
		}
	}
	return all, functions
}

// makesClass returns the objects with the members of a class that a call makes, nil if it makes none.
func (j *walker) makesClass(value extract.Ref, name string, s state) []extract.Ref {
	if value = j.unwrapped(value); j.Kind(value) != "call_expression" {
		return nil
	}
	path := j.path(j.Field(value, "function"), s)
	objects, functions := j.objectsOf(j.Field(value, "arguments"))
	of, method := extract.SplitLast(path)
	switch {
	case len(objects) == 0 || strings.ContainsAny(path, "([?<"):
		return nil
	case functions && extenders[method] && isClassName(lastOf(of)) && of != "Object":
		return objects
	case !isClassName(name) || of == "Object" || !j.classMakers()[path]:
		return nil
	}
	return objects
}

// classMakers returns the paths of functions that the file calls with objects that have functions, to make what it
// then makes instances of, asks for instances of, or extends.
func (j *walker) classMakers() map[string]bool {
	if j.makers != nil {
		return j.makers
	}
	j.makers = map[string]bool{}
	made, bases, used := map[string]string{}, map[string]string{}, map[string]bool{}
	with := map[string]bool{}
	var walk func(n extract.Ref)
	walk = func(n extract.Ref) {
		switch j.Kind(n) {
		case "new_expression":
			used[j.Text(j.Field(n, "constructor"))] = true
		case "binary_expression":
			if j.Text(j.Field(n, "operator")) == "instanceof" {
				used[j.Text(j.Field(n, "right"))] = true
			}
		case "variable_declarator":
			value, name := j.unwrapped(j.Field(n, "value")), j.Text(j.Field(n, "name"))
			if fn := j.Field(value, "function"); j.Kind(value) == "call_expression" && isClassName(name) && (j.Kind(fn) == "identifier" || j.Kind(fn) == "member_expression") {
				made[name] = j.Text(fn)
				for c := range j.Children(j.Field(value, "arguments")) {
					if j.Kind(c) == "identifier" {
						bases[j.Text(c)] = j.Text(fn)
					}
				}
				if _, functions := j.objectsOf(j.Field(value, "arguments")); functions {
					with[j.Text(fn)] = true
				}
			}
		}
		for c := range j.Children(n) {
			walk(c)
		}
	}
	walk(0)
	for name, by := range made {
		if with[by] && (used[name] || bases[name] == by) {
			j.makers[by] = true
		}
	}
	return j.makers
}

// madeClass declares the class that a call makes and gets a name by whole. It returns nil if the call makes none.
func (j *walker) madeClass(whole, value extract.Ref, name string, s state) *recountv1.Declaration {
	objects := j.makesClass(value, name, s)
	if objects == nil {
		return nil
	}
	value = j.unwrapped(value)
	in, decl := j.Declare(extract.Declaration{
		Kind: recountv1.SymbolKind_SYMBOL_KIND_CLASS, Name: name, In: s.in, Node: whole, Whole: s.statement,
		Head: j.Start(objects[0]), Doc: j.doc(whole, s),
	})
	j.Declared[extract.NameIn{In: s.in, Name: name}], j.Locals[extract.NameIn{In: s.in, Name: name}] = true, true
	decl.Exported, decl.Test = s.exported, s.test
	innerOf(decl, s)
	j.made[in] = true
	args := j.Field(value, "arguments")
	first := j.Start(objects[0])
	fn := j.Field(value, "function")
	base := func(n extract.Ref) {
		if path := j.path(n, s); isClassName(lastOf(path)) && path != name {
			j.Refer(recountv1.EdgeKind_EDGE_KIND_EXTENDS, in, path, j.lastName(n))
		}
	}
	given := false
	for c := range j.Children(args) {
		if k := j.Kind(c); k == "identifier" || k == "member_expression" {
			base(c)
			given = given || j.Start(c) > first
		} else if j.Text(c) == "null" {
			given = true
		}
	}
	switch {
	case j.Kind(fn) == "member_expression":
		base(j.Field(fn, "object"))
	case !given:
		if of := j.defaultBase(j.Text(fn)); of != extract.None {
			base(of)
		}
	}
	local := name
	for _, object := range objects {
		j.parts[object] = classObject{in: in, name: local}
	}
	return decl
}

// defaultBase returns the class that a function of the file assigns to a parameter, which it takes for the base if
// it is given none: if (base === undefined) base = Node.
func (j *walker) defaultBase(function string) (base extract.Ref) {
	base = extract.None
	for n := range j.Children(0) {
		if j.Kind(n) != "function_declaration" || j.Text(j.Field(n, "name")) != function {
			continue
		}
		parameters := map[string]bool{}
		for c := range j.Children(j.Field(n, "parameters")) {
			parameters[j.Text(extract.FirstRef(j.Field(c, "pattern"), c))] = true
			if v := j.Field(c, "value"); j.Kind(v) == "identifier" && isClassName(j.Text(v)) {
				base = v
			}
		}
		var find func(n extract.Ref)
		find = func(n extract.Ref) {
			if right := j.Field(n, "right"); j.Kind(n) == "assignment_expression" && parameters[j.Text(j.Field(n, "left"))] && j.Kind(right) == "identifier" && isClassName(j.Text(right)) {
				base = right
			}
			for c := range j.Children(n) {
				find(c)
			}
		}
		find(j.Field(n, "body"))
	}
	return base
}

// injects reads calls that add the functions of objects to a class: Type.inject({…}), Object.assign(Type.prototype,
// {…}).
func (j *walker) injects(n extract.Ref, path string, args extract.Ref, s state) {
	if j.Kind(j.Parent(n)) != "expression_statement" || strings.ContainsAny(path, "([?<") {
		return
	}
	objects, functions := j.objectsOf(args)
	of, method := extract.SplitLast(path)
	p := classObject{}
	switch first := j.path(j.Child(args, 0), s); {
	case injectors[method] && isClassName(lastOf(of)) && of != "Object":
		p.name = of
	case mergers[extract.FirstOf(method, path)] && strings.HasSuffix(first, ".prototype") && isClassName(lastOf(strings.TrimSuffix(first, ".prototype"))):
		p.name = strings.TrimSuffix(first, ".prototype")
		for c := range j.Children(args) {
			if k := j.Kind(c); c != j.Child(args, 0) && (k == "identifier" || k == "member_expression") && extract.IsName(p.name) {
				if base := strings.TrimSuffix(j.path(c, s), ".prototype"); isClassName(lastOf(base)) {
					j.inherits(p.name, base, c, s)
				}
			}
		}
	case mergers[extract.FirstOf(method, path)] && extract.IsDotted(strings.ReplaceAll(first, "$", "_")) && first != "exports" && first != "module.exports":
		p.name, p.static = first, true
	default:
		return
	}
	if !functions {
		return
	}
	if p.static {
		p.in = j.objectOf(p.name, s)
	} else if extract.IsName(p.name) {
		if p.in = j.declaredAs(p.name, s.in); p.in != 0 && j.Decl(p.in).Kind != recountv1.SymbolKind_SYMBOL_KIND_CLASS && !isConstructor(j.Decl(p.in)) {
			p.in = 0
		} else if p.in == 0 && s.in == 0 && j.known[p.name] == "" {
			p.in = j.partOf(p.name, n, s)
			p.name = scope.RegisteredName(j.Decl(p.in))
		}
	}
	for _, object := range objects {
		j.parts[object] = p
	}
}

// partOf declares a class whose name the file does not declare: it is a part of one that another file declares, or
// that is known by its parts only.
func (j *walker) partOf(name string, n extract.Ref, s state) uint32 {
	if in := j.partial[name]; in != 0 {
		return in
	}
	in, decl := j.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_CLASS, Name: name, In: s.in, Node: n, Whole: j.Parent(n), Head: j.Start(j.Field(n, "arguments")), Doc: j.CommentBefore(j.Parent(n))})
	decl.Attributes = map[string]string{scope.PartOf: name}
	decl.Test = s.test
	j.made[in], j.partial[name] = true, in
	return in
}

// classPart declares the members of a class that an object literal has.
func (j *walker) classPart(n extract.Ref, p classObject, s state) {
	inner := state{in: p.in, test: s.test, shadows: s.shadows}
	constructor := ""
	for _, name := range constructors {
		if v := j.property(n, name); constructor == "" && !p.static && !j.ctors[p.in] && (j.isFunction(v) || j.Kind(v) == "method_definition") {
			constructor = name
		}
	}
	for c := range j.Children(n) {
		value, key := c, j.propertyName(j.Field(c, "name"))
		if j.Kind(c) == "pair" {
			value, key = j.Field(c, "value"), j.propertyName(j.Field(c, "key"))
		}
		member := memberOrElement(p.name+".prototype", key)
		if p.static {
			member = memberOrElement(p.name, key)
		}
		switch function := j.isFunction(value) || j.Kind(value) == "method_definition"; {
		case j.Kind(c) == "shorthand_property_identifier":
			j.Bind(s.in, extract.Member(strings.TrimSuffix(member, "."), j.Text(c)), j.path(c, s), "", c)
			j.visit(c, s)
		case key == "":
			j.visit(c, s)
		case function && p.in == 0 && j.registered[value] == "" && len(j.named[value]) == 0:
			j.memberOf(value, c, member, key, s)
		case function && p.in != 0:
			j.partMember(c, value, key, constructor, p, inner)
		case key == "statics" && j.Kind(value) == "object":
			j.classPart(value, classObject{p.in, p.name, true}, s)
		default:
			if key == "statics" {
				for _, object := range j.returned(j.inPlace(value)) {
					j.parts[object] = classObject{p.in, p.name, true}
				}
			} else if j.path(value, s) != extract.Unknown {
				j.bindValue(member, value, "", c, s, 1)
			}
			j.visit(value, s)
		}
	}
}

// partMember declares a function of an object as the member of a class.
func (j *walker) partMember(c, value extract.Ref, key, constructor string, p classObject, s state) {
	kind := recountv1.SymbolKind_SYMBOL_KIND_METHOD
	switch {
	case key == "constructor" && key == constructor:
		kind = recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR
	case j.Has(c, "get") || j.Has(c, "set"):
		kind = recountv1.SymbolKind_SYMBOL_KIND_PROPERTY
	}
	before := uint32(len(j.Facts.Declarations)) + 1
	j.ownNames[before] = j.Text(j.Field(value, "name"))
	_, decl := j.function(value, c, key, kind, s)
	if p.static {
		decl.Modifiers = append(decl.Modifiers, "static")
	}
	if key == constructor && kind == recountv1.SymbolKind_SYMBOL_KIND_METHOD {
		decl.Attributes = map[string]string{scope.Constructs: "true"}
	}
	j.ctors[p.in] = j.ctors[p.in] || key == constructor
}

// inheritedMember returns the path of the member that a method of a class made by a call overrides, if that is what
// an expression names: this._super, this.base, and name.base in a function with that name. It returns "" otherwise.
func (j *walker) inheritedMember(n extract.Ref, s state) string {
	property := j.Text(j.Field(n, "property"))
	if property != "base" && property != "_super" || s.in == 0 {
		return ""
	}
	d := j.Decl(s.in)
	if !j.made[d.Owner] || d.Kind != recountv1.SymbolKind_SYMBOL_KIND_METHOD && d.Kind != recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR {
		return ""
	}
	switch object := j.Field(n, "object"); {
	case j.Kind(object) == "this" && !s.noThis && (property == "_super" || j.Kind(j.Parent(n)) == "call_expression"):
	case j.Kind(object) == "identifier" && property == "base" && j.Text(object) == j.ownNames[s.in]:
	default:
		return ""
	}
	return memberOrElement("super", d.Name)
}

// innerOf notes that a declaration of the file is inside a function without a name.
func innerOf(decl *recountv1.Declaration, s state) {
	if s.in == 0 && s.function {
		decl.Attributes = map[string]string{scope.Inner: "true"}
	}
}

// ownFunctions adds to the shadows the functions that an anonymous function declares, if another one of the file
// declares one of the same name: each means its own.
func (j *walker) ownFunctions(n extract.Ref, up *extract.Shadow) *extract.Shadow {
	for c := range j.Children(j.Field(n, "body")) {
		if j.Kind(c) != "function_declaration" {
			continue
		}
		if name := j.Text(j.Field(c, "name")); j.declaredTimes(name) > 1 && !isClassName(name) {
			up = &extract.Shadow{Name: name, Is: scope.NameAt(name, j.Place(j.Start(c))), Up: up}
		}
	}
	return up
}

// declaredTimes returns how many functions the file declares by a name.
func (j *walker) declaredTimes(name string) int {
	if j.times == nil {
		j.times = map[string]int{}
		var walk func(n extract.Ref)
		walk = func(n extract.Ref) {
			for c := range j.Children(n) {
				if j.Kind(c) == "function_declaration" {
					j.times[j.Text(j.Field(c, "name"))]++
				}
				walk(c)
			}
		}
		walk(0)
	}
	return j.times[name]
}
