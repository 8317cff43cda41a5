package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// importing reads an import statement.
func (j *scriptFile) importing(n ref, s scriptScope) {
	source := j.field(n, "source")
	clause := j.firstOf(n, "import_clause")
	if req := j.firstOf(n, "import_require_clause"); req != none { // import x = require("y")
		module, _ := j.literal(firstRef(j.field(req, "source"), j.firstOf(req, "string")))
		i := j.addImport(s.in, module, n)
		i.Alias = j.text(j.firstOf(req, "identifier"))
		j.know(i.Alias, module, "", s)
		return
	}
	module, ok := j.literal(source)
	if !ok {
		return
	}
	i := j.addImport(s.in, module, source)
	i.TypeOnly = j.has(n, "type")
	for c := range j.children(clause) {
		switch j.kind(c) {
		case "identifier":
			i.Names = append(i.Names, &recountv1.ImportedName{Name: "default", Alias: j.text(c)})
			j.know(j.text(c), module, "", s)
		case "namespace_import":
			i.Alias = j.text(j.child(c, 0))
			j.know(i.Alias, module, "", s)
		case "named_imports":
			for spec := range j.children(c) {
				name, alias := j.specifier(spec)
				if name == "" {
					continue
				}
				i.Names = append(i.Names, &recountv1.ImportedName{Name: name, Alias: alias})
				j.know(firstOf(alias, name), module, name, s)
			}
		}
	}
}

// specifier reads `name as alias`.
func (j *scriptFile) specifier(n ref) (name, alias string) {
	return j.propertyName(j.field(n, "name")), j.propertyName(j.field(n, "alias"))
}

// know notes what a name stands for.
func (j *scriptFile) know(local, module, name string, s scriptScope) {
	full := strings.TrimPrefix(module, "node:")
	if name != "" {
		full += "." + name
	}
	j.known[local] = full
	if s.in != 0 {
		j.locals[nameIn{s.in, local}] = true
	}
}

// required reads `const x = require("y")`, `const {a, b: c} = require("y")`,
// `const x = require("y").z`, and the same with await import("y").
func (j *scriptFile) required(name, value ref, s scriptScope) bool {
	for j.kind(value) == "await_expression" || j.kind(value) == "parenthesized_expression" {
		value = j.child(value, 0)
	}
	property := ""
	if j.kind(value) == "member_expression" {
		property = j.text(j.field(value, "property"))
		value = j.field(value, "object")
		for j.kind(value) == "await_expression" || j.kind(value) == "parenthesized_expression" {
			value = j.child(value, 0)
		}
	}
	module, ok := j.moduleOf(value, s)
	if !ok {
		return false
	}
	switch {
	case j.kind(name) == "identifier":
		i := j.addImport(s.in, module, value)
		if property == "" {
			i.Alias = j.text(name)
		} else {
			i.Names = []*recountv1.ImportedName{{Name: property, Alias: j.text(name)}}
		}
		j.know(j.text(name), module, property, s)
		return true
	case j.kind(name) == "object_pattern" && property == "":
		var names []*recountv1.ImportedName
		for c := range j.children(name) {
			switch j.kind(c) {
			case "shorthand_property_identifier_pattern":
				names = append(names, &recountv1.ImportedName{Name: j.text(c)})
			case "pair_pattern":
				alias := j.field(c, "value")
				if j.kind(alias) != "identifier" {
					return false
				}
				names = append(names, &recountv1.ImportedName{Name: j.propertyName(j.field(c, "key")), Alias: j.text(alias)})
			default:
				return false
			}
		}
		j.addImport(s.in, module, value).Names = names
		for _, n := range names {
			j.know(firstOf(n.Alias, n.Name), module, n.Name, s)
		}
		return true
	}
	return false
}

// exporting reads an export statement.
func (j *scriptFile) exporting(n ref, s scriptScope) {
	source := j.field(n, "source")
	if module, ok := j.literal(source); ok {
		i := j.addImport(s.in, module, source)
		i.Export, i.TypeOnly = true, j.has(n, "type")
		clause := j.firstOf(n, "export_clause")
		for c := range j.children(clause) {
			name, alias := j.specifier(c)
			i.Names = append(i.Names, &recountv1.ImportedName{Name: name, Alias: alias})
		}
		if ns := j.firstOf(n, "namespace_export"); ns != none {
			i.Alias = j.propertyName(j.child(ns, 0))
		} else if clause == none {
			i.Wildcard = true
		}
		return
	}
	if clause := j.firstOf(n, "export_clause"); clause != none {
		for c := range j.children(clause) {
			name, alias := j.specifier(c)
			if name != "" {
				j.handed[name] = true
				j.bind(s.in, "export."+firstOf(alias, name), checked(name), "", c)
			}
		}
		return
	}
	s.statement, s.exported = n, true
	def := j.has(n, "default")
	if decl := j.field(n, "declaration"); decl != none {
		before := len(j.facts.Declarations)
		j.visit(decl, s)
		if len(j.facts.Declarations) > before {
			d := j.facts.Declarations[before]
			if def {
				d.Modifiers = append([]string{"export", "default"}, d.Modifiers...)
				j.bind(s.in, "export.default", d.Name, "", n)
			}
			j.nextRoute(decl, uint32(before)+1, d)
		}
		return
	}
	value := j.field(n, "value")
	if j.has(n, "=") { // export = x
		j.bindValue("module.exports", j.child(n, 0), "", n, s.plain(), 0)
		j.handed[j.text(j.child(n, 0))] = true
		j.block(n, s.plain())
		return
	}
	if value == none || !def {
		j.block(n, s)
		return
	}
	switch j.kind(value) {
	case "arrow_function", "function_expression", "generator_function":
		in, decl := j.function(value, value, firstOf(j.text(j.field(value, "name")), "default"), recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, s)
		if in != 0 {
			j.bind(s.in, "export.default", decl.Name, "", n)
		}
	case "class":
		before := len(j.facts.Declarations)
		j.class(value, value, "", s)
		j.bind(s.in, "export.default", j.facts.Declarations[before].Name, "", n)
	case "object":
		in, decl := j.declare(declaration{kind: recountv1.SymbolKind_SYMBOL_KIND_CONSTANT, name: "default", in: s.in, node: n, head: j.lineEnd(n), doc: j.commentBefore(n)})
		decl.Exported = true
		j.bindValue("default", value, "", n, s, 0)
		j.bind(s.in, "export.default", "default", "", n)
		j.visit(value, scriptScope{in: in})
	default:
		j.bindValue("export.default", value, "", n, s.plain(), 0)
		j.handed[j.text(value)] = true
		j.visit(value, s.plain())
	}
}

// exported reads module.exports = …, exports.name = … and module.exports.name = ….
func (j *scriptFile) exported(n, left, right ref, path string, s scriptScope) bool {
	target := path
	if rest, ok := strings.CutPrefix(path, "module.exports."); ok {
		target = "exports." + rest
	}
	name, isMember := strings.CutPrefix(target, "exports.")
	if path != "module.exports" && (!isMember || strings.ContainsAny(name, ".([")) || s.function {
		return false
	}
	for k := j.kind(right); k == "assignment_expression"; k = j.kind(right) { // module.exports = exports = x
		j.assignment(right, s)
		right = j.field(right, "right")
		j.bindValue(target, right, "", n, s, 0)
		j.handed[j.text(right)] = true
		return true
	}
	if !isMember {
		name = "default"
	}
	outer := s.plain()
	outer.exported = true
	if outer.statement = j.parent(n); j.kind(outer.statement) != "expression_statement" {
		outer.statement = 0
	}
	switch j.kind(right) {
	case "arrow_function", "function_expression", "generator_function":
		own := firstOf(j.text(j.field(right, "name")), name)
		j.function(right, n, own, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, outer)
		j.bind(s.in, target, own, "", left)
	case "class":
		own := firstOf(j.text(j.field(right, "name")), name)
		j.class(right, n, own, outer)
		j.bind(s.in, target, own, "", left)
	case "object":
		if isMember {
			j.bindValue(target, right, "", left, s, 0)
			j.visit(right, s)
			return true
		}
		for c := range j.children(right) {
			if k := j.kind(c); k == "shorthand_property_identifier" {
				j.handed[j.text(c)] = true
			} else if v := j.field(c, "value"); k == "pair" && j.kind(v) == "identifier" {
				j.handed[j.text(v)] = true
			}
		}
		j.bindValue("module.exports", right, "", left, s, 0)
		for c := range j.children(right) { // its functions are the module's
			value, own := c, j.propertyName(j.field(c, "name"))
			if j.kind(c) == "pair" {
				value, own = j.field(c, "value"), j.propertyName(j.field(c, "key"))
			}
			switch j.kind(value) {
			case "method_definition", "arrow_function", "function_expression", "generator_function":
				if own != "" {
					inner := outer
					inner.statement = 0
					j.function(value, c, own, recountv1.SymbolKind_SYMBOL_KIND_FUNCTION, inner)
					j.bind(s.in, memberOrElement("module.exports", own), own, "", c)
					continue
				}
			}
			j.visit(value, s)
		}
	default:
		j.bindValue(target, right, "", left, s, 0)
		j.handed[j.text(right)] = true
		j.visit(right, s)
	}
	return true
}
