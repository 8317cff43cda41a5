package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// importing reads an import statement.
func (j *walker) importing(n extract.Ref, s state) {
	source := j.Field(n, "source")
	clause := j.FirstOf(n, "import_clause")
	if req := j.FirstOf(n, "import_require_clause"); req != extract.None { // import x = require("y")
		module, _ := j.literal(extract.FirstRef(j.Field(req, "source"), j.FirstOf(req, "string")))
		i := j.AddImport(s.in, module, n)
		i.Alias = j.Text(j.FirstOf(req, "identifier"))
		j.know(i.Alias, module, "", s)
		return
	}
	module, ok := j.literal(source)
	if !ok {
		return
	}
	i := j.AddImport(s.in, module, source)
	i.TypeOnly = j.Has(n, "type")
	for c := range j.Children(clause) {
		switch j.Kind(c) {
		case "identifier":
			i.Names = append(i.Names, &recountv1.ImportedName{Name: "default", Alias: j.Text(c)})
			j.know(j.Text(c), module, "", s)
		case "namespace_import":
			i.Alias = j.Text(j.Child(c, 0))
			j.know(i.Alias, module, "", s)
		case "named_imports":
			for spec := range j.Children(c) {
				name, alias := j.specifier(spec)
				if name == "" {
					continue
				}
				i.Names = append(i.Names, &recountv1.ImportedName{Name: name, Alias: alias})
				j.know(extract.FirstOf(alias, name), module, name, s)
			}
		}
	}
}

// specifier reads `name as alias`.
func (j *walker) specifier(n extract.Ref) (name, alias string) {
	return j.propertyName(j.Field(n, "name")), j.propertyName(j.Field(n, "alias"))
}

// know notes what a name stands for.
func (j *walker) know(local, module, name string, s state) {
	full := strings.TrimPrefix(module, "node:")
	if strings.Trim(module, "./") == "" && frameworkOf(local) != "" { // an example of the framework itself
		full = local
	}
	if name != "" {
		full += "." + name
	}
	j.known[local] = full
	if s.in != 0 {
		j.Locals[extract.NameIn{In: s.in, Name: local}] = true
	}
}

// required reads `const x = require("y")`, `const {a, b: c} = require("y")`, `const x =
// require("y").z`, and the same with await import("y").
func (j *walker) required(name, value extract.Ref, s state) bool {
	for j.Kind(value) == "await_expression" || j.Kind(value) == "parenthesized_expression" {
		value = j.Child(value, 0)
	}
	property := ""
	if j.Kind(value) == "member_expression" {
		property = j.Text(j.Field(value, "property"))
		value = j.Field(value, "object")
		for j.Kind(value) == "await_expression" || j.Kind(value) == "parenthesized_expression" {
			value = j.Child(value, 0)
		}
	}
	module, ok := j.moduleOf(value, s)
	if !ok {
		return false
	}
	switch {
	case j.Kind(name) == "identifier":
		i := j.AddImport(s.in, module, value)
		if property == "" {
			i.Alias = j.Text(name)
		} else {
			i.Names = []*recountv1.ImportedName{{Name: property, Alias: j.Text(name)}}
		}
		j.know(j.Text(name), module, property, s)
		return true
	case j.Kind(name) == "object_pattern" && property == "":
		var names []*recountv1.ImportedName
		for c := range j.Children(name) {
			switch j.Kind(c) {
			case "shorthand_property_identifier_pattern":
				names = append(names, &recountv1.ImportedName{Name: j.Text(c)})
			case "pair_pattern":
				alias := j.Field(c, "value")
				if j.Kind(alias) != "identifier" {
					return false
				}
				names = append(names, &recountv1.ImportedName{Name: j.propertyName(j.Field(c, "key")), Alias: j.Text(alias)})
			default:
				return false
			}
		}
		j.AddImport(s.in, module, value).Names = names
		for _, n := range names {
			j.know(extract.FirstOf(n.Alias, n.Name), module, n.Name, s)
		}
		return true
	}
	return false
}

// exporting reads an export statement.
func (j *walker) exporting(n extract.Ref, s state) {
	source := j.Field(n, "source")
	if module, ok := j.literal(source); ok {
		i := j.AddImport(s.in, module, source)
		i.Export, i.TypeOnly = true, j.Has(n, "type")
		clause := j.FirstOf(n, "export_clause")
		for c := range j.Children(clause) {
			name, alias := j.specifier(c)
			i.Names = append(i.Names, &recountv1.ImportedName{Name: name, Alias: alias})
		}
		if ns := j.FirstOf(n, "namespace_export"); ns != extract.None {
			i.Alias = j.propertyName(j.Child(ns, 0))
		} else if clause == extract.None {
			i.Wildcard = true
		}
		return
	}
	if clause := j.FirstOf(n, "export_clause"); clause != extract.None {
		for c := range j.Children(clause) {
			name, alias := j.specifier(c)
			if name != "" {
				j.handed[name] = true
				j.Bind(s.in, "export."+extract.FirstOf(alias, name), extract.Checked(name), "", c)
			}
		}
		return
	}
	s.statement, s.exported = n, true
	def := j.Has(n, "default")
	if decl := j.Field(n, "declaration"); decl != extract.None {
		before := len(j.Facts.Declarations)
		j.visit(decl, s)
		if len(j.Facts.Declarations) > before {
			d := j.Facts.Declarations[before]
			if def {
				d.Modifiers = append([]string{"export", "default"}, d.Modifiers...)
				j.Bind(s.in, "export.default", d.Name, "", n)
			}
		}
		return
	}
	value := j.Field(n, "value")
	if j.Has(n, "=") { // export = x
		j.bindValue("module.exports", j.Child(n, 0), "", n, s.plain(), 0)
		j.handed[j.Text(j.Child(n, 0))] = true
		j.block(n, s.plain())
		return
	}
	if value == extract.None || !def {
		j.block(n, s)
		return
	}
	if object := j.sameObject(value, s); j.Kind(object) == "object" {
		value = object
	}
	switch j.Kind(value) {
	case "arrow_function", "function_expression", "generator_function":
		in, decl := j.function(value, value, extract.FirstOf(j.Text(j.Field(value, "name")), "default"), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, s)
		if in != 0 {
			j.Bind(s.in, "export.default", decl.Name, "", n)
		}
	case "class":
		before := len(j.Facts.Declarations)
		j.class(value, value, "", s)
		j.Bind(s.in, "export.default", j.Facts.Declarations[before].Name, "", n)
	case "object":
		in, decl := j.Declare(extract.Declaration{Kind: recountv1.SymbolKind_SYMBOL_KIND_CONSTANT, Name: "default", In: s.in, Node: n, Head: j.LineEnd(n), Doc: j.CommentBefore(n)})
		decl.Exported = true
		j.bindValue("default", value, "", n, s, 0)
		j.Bind(s.in, "export.default", "default", "", n)
		j.constants("default", value, s)
		j.routeObjects("default", value, s)
		j.visit(value, state{in: in})
	default:
		if decl := j.madeClass(n, value, scope.DefaultName, s); decl != nil {
			j.Bind(s.in, "export.default", decl.Name, "", n)
			j.visit(value, s.plain())
			return
		}
		j.exportedPlugin(value, s)
		j.bindValue("export.default", value, "", n, s.plain(), 0)
		j.routeObjects("export.default", j.unwrapped(value), s)
		j.handed[j.Text(value)] = true
		j.visit(value, s.plain())
	}
}

// exported reads module.exports = …, exports.name = … and module.exports.name = ….
func (j *walker) exported(n, left, right extract.Ref, path string, s state) bool {
	target := path
	if rest, ok := strings.CutPrefix(path, "module.exports."); ok {
		target = "exports." + rest
	}
	name, isMember := strings.CutPrefix(target, "exports.")
	if path != "module.exports" && (!isMember || strings.ContainsAny(name, ".([")) || s.function {
		return false
	}
	if j.Kind(right) == "assignment_expression" {
		j.exportedChain(n, target, left, right, s)
		return true
	}
	if !isMember {
		name = scope.WholeName
	}
	if j.Kind(right) == "call_expression" && j.path(j.Field(right, "function"), s) == "Object.assign" && path == "module.exports" {
		args := j.Field(right, "arguments") // module.exports = Object.assign(module.exports, {…})
		for c := range j.Children(args) {
			if j.Kind(c) == "object" {
				j.exported(n, left, c, path, s)
			}
		}
		return true
	}
	outer := s.plain()
	outer.exported = true
	if outer.statement = j.Parent(n); j.Kind(outer.statement) != "expression_statement" {
		outer.statement = 0
	}
	j.routeObjects(target, j.unwrapped(right), s)
	if object := j.sameObject(right, s); j.Kind(object) == "object" {
		right = object
	}
	switch j.Kind(right) {
	case "arrow_function", "function_expression", "generator_function":
		named := j.Text(j.Field(right, "name"))
		_, decl := j.function(right, n, extract.FirstOf(named, name), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, outer)
		if named == "" && isMember && outer.statement != 0 {
			decl.Attributes = map[string]string{scope.OfModule: "true"}
		}
		j.Bind(s.in, target, exportedName(decl), "", left)
	case "class":
		before := len(j.Facts.Declarations)
		j.class(right, n, extract.FirstOf(j.Text(j.Field(right, "name")), name), outer)
		j.Bind(s.in, target, exportedName(j.Facts.Declarations[before]), "", left)
	case "object":
		if isMember {
			j.bindValue(target, right, "", left, s, 0)
			j.visit(right, s)
		} else {
			j.exportedObject(left, right, outer, s)
		}
	default:
		if decl := j.madeClass(n, right, name, outer); decl != nil {
			j.Bind(s.in, target, exportedName(decl), "", left)
			j.visit(right, s.plain())
			return true
		}
		if fn := j.fallback(right); fn != extract.None && isMember {
			_, decl := j.function(fn, n, name, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, outer)
			decl.Attributes = map[string]string{scope.OfModule: "true"}
			j.Bind(s.in, target, exportedName(decl), "", left)
			right = j.Field(right, "left")
		}
		j.exportedPlugin(right, s)
		j.bindValue(target, right, "", left, s, 0)
		if isMember {
			j.constants(target, right, s)
		}
		j.handed[j.Text(right)] = true
		j.visit(right, s)
	}
	return true
}

// fallback returns the function that is exported if something else is missing: exports.hasOwn = Object.hasOwn || function ….
func (j *walker) fallback(value extract.Ref) extract.Ref {
	if op := j.Text(j.Field(value, "operator")); j.Kind(value) == "binary_expression" && (op == "||" || op == "??") {
		if fn := j.unwrapped(j.Field(value, "right")); j.isFunction(fn) && j.Text(j.Field(fn, "name")) == "" {
			return fn
		}
	}
	return extract.None
}

// exportedName returns the name by which the file has a function or class that is exported where it is
// made.
func exportedName(d *recountv1.Declaration) string {
	if d.Attributes[scope.OfModule] != "" || d.Name == scope.WholeName {
		return scope.MemberName(d.Name)
	}
	return d.Name
}

// exportedChain reads module.exports = exports = x, where right is the second assignment.
func (j *walker) exportedChain(n extract.Ref, target string, left, right extract.Ref, s state) {
	before := len(j.Facts.Declarations)
	j.assignment(right, s)
	if of := j.Facts.Declarations; len(of) > before && of[before].Attributes[scope.OfObject] == ofClass {
		of[before].Exported = true
		j.Bind(s.in, target, scope.RegisteredName(of[before]), "", left)
		return
	}
	inner := j.path(j.Field(right, "left"), s)
	if !j.declaresFunction(right) {
		right = j.Field(right, "right")
		j.bindValue(target, right, "", n, s, 0)
		j.handed[j.Text(right)] = true
		return
	}
	if _, name := extract.SplitLast(inner); strings.HasPrefix(inner, "exports.") || strings.HasPrefix(inner, "module.exports.") {
		for right = j.Field(right, "right"); j.Kind(right) == "assignment_expression"; {
			_, name = extract.SplitLast(j.path(j.Field(right, "left"), s))
			right = j.Field(right, "right")
		}
		inner = extract.FirstOf(j.Text(j.Field(right, "name")), name)
	}
	j.Bind(s.in, target, inner, "", left)
}

// exportedObject reads module.exports = {…}, whose functions belong to the module.
func (j *walker) exportedObject(left, object extract.Ref, outer, s state) {
	for c := range j.Children(object) {
		if k := j.Kind(c); k == "shorthand_property_identifier" {
			j.handed[j.Text(c)] = true
		} else if v := j.Field(c, "value"); k == "pair" && j.Kind(v) == "identifier" {
			j.handed[j.Text(v)] = true
		}
	}
	j.bindValue("module.exports", object, "", left, s, 0)
	j.constants("module.exports", object, s)
	outer.statement = 0
	for c := range j.Children(object) {
		value, own := c, j.propertyName(j.Field(c, "name"))
		if j.Kind(c) == "pair" {
			value, own = j.Field(c, "value"), j.propertyName(j.Field(c, "key"))
		}
		switch j.Kind(value) {
		case "method_definition", "arrow_function", "function_expression", "generator_function":
			if own != "" {
				decl := j.memberFunction(value, c, own, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, outer)
				decl.Attributes = map[string]string{scope.OfModule: "true"}
				j.Bind(s.in, memberOrElement("module.exports", own), exportedName(decl), "", c)
				continue
			}
		}
		j.visit(value, s)
	}
}
