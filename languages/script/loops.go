package script

import (
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Routes are often registered in a loop over a list that the file spells out:
//
//	for (const { path, router } of routes) app.use(path, router);
//
// Such a call is read once for each element, with the names that the loop gives to the element, or to
// parts of it, standing for what the list has there.

// rounds returns the rounds of the loops around an expression whose lists are in the file, without those
// that a comparison inside the loops excludes.
func (j *walker) rounds(n extract.Ref) []extract.Round {
	all := j.Rounds(n, func(loop, body extract.Ref) (extract.Ref, []extract.Ref) {
		target, list := j.loop(loop, body)
		return target, j.elements(list, 0)
	}, j.stand)
	if len(all) == 1 {
		return all
	}
	var guards []guard
	for at, up := n, j.Parent(n); up != extract.None; at, up = up, j.Parent(up) {
		if g, ok := j.guard(up, at); ok {
			guards = append(guards, g)
		}
	}
	return slices.DeleteFunc(all, func(r extract.Round) bool {
		j.round = r
		return slices.ContainsFunc(guards, func(g guard) bool { return !j.passes(g) })
	})
}

// guard is a comparison inside a loop: what is below it runs only in rounds in which an expression is
// one of some texts, or none of them.
type guard struct {
	of   extract.Ref
	are  []extract.Ref
	none bool
}

// guard returns the guard that a statement is for a statement in it: a case of a switch, or
// if (x === "text").
func (j *walker) guard(n, in extract.Ref) (g guard, ok bool) {
	switch j.Kind(n) {
	case "switch_case", "switch_default":
		body := j.Parent(n)
		g.of = j.Field(j.Parent(body), "value")
		for c := range j.Children(body) {
			if c == n && j.Kind(n) == "switch_case" || j.Kind(n) == "switch_default" && c != n {
				g.are = append(g.are, j.Field(c, "value"))
			}
		}
		g.none = j.Kind(n) == "switch_default"
		return g, true
	case "if_statement":
		is := j.unwrapped(j.Field(n, "condition"))
		op := j.Text(j.Field(is, "operator"))
		if j.Kind(is) != "binary_expression" || !strings.HasSuffix(op, "==") && !strings.HasPrefix(op, "!=") || j.Field(n, "condition") == in {
			return g, false
		}
		g = guard{of: j.Field(is, "left"), are: []extract.Ref{j.Field(is, "right")}}
		g.none = strings.HasPrefix(op, "!") != (j.Field(n, "consequence") != in)
		return g, true
	}
	return g, false
}

// passes reports whether what is below a guard runs in the current round. A comparison with what is no
// text excludes nothing.
func (j *walker) passes(g guard) bool {
	is, ok := j.literal(j.meant(g.of))
	if !ok {
		return true
	}
	among := slices.ContainsFunc(g.are, func(n extract.Ref) bool {
		text, ok := j.literal(n)
		return ok && strings.EqualFold(text, is)
	})
	return among != g.none
}

// loop returns the target and the list of a loop whose body an expression is: for (… of list), or
// list.forEach(…).
func (j *walker) loop(n, body extract.Ref) (target, list extract.Ref) {
	switch j.Kind(n) {
	case "for_in_statement":
		if j.Field(n, "body") == body && j.Has(n, "of") {
			return j.Field(n, "left"), j.Field(n, "right")
		}
	case "arguments":
		fn := j.Field(j.Parent(n), "function")
		if name := j.Text(j.Field(fn, "property")); j.isFunction(body) && j.Child(n, 0) == body && (name == "forEach" || name == "map") {
			parameter := j.Field(body, "parameter")
			if parameter == extract.None {
				parameter = j.Child(j.Field(body, "parameters"), 0)
			}
			return parameter, j.Field(fn, "object")
		}
	}
	return extract.None, extract.None
}

// maxListDepth limits how many names and calls lead to a list.
const maxListDepth = 4

// elements returns the elements of a list that is written out, or of a variable of the file that holds
// such a list; of Object.entries(object) they are the pairs of the object. It returns nil if they are
// not all known.
func (j *walker) elements(list extract.Ref, depth int) []extract.Ref {
	if depth > maxListDepth {
		return nil
	}
	var all []extract.Ref
	switch list = j.unwrapped(list); j.Kind(list) {
	case "array":
		for c := range j.Children(list) {
			if j.Kind(c) == "spread_element" {
				return nil
			}
			all = append(all, c)
		}
	case "object":
		for c := range j.Children(list) {
			if k := j.Kind(c); k != "pair" && k != "shorthand_property_identifier" {
				return nil
			}
			all = append(all, c)
		}
	case "identifier":
		if value := j.valueOf(list); j.Kind(value) == "array" || j.Kind(value) == "identifier" {
			return j.elements(value, depth+1)
		}
	case "call_expression":
		if j.Text(j.Field(list, "function")) == "Object.entries" {
			object := j.unwrapped(j.argument(j.Field(list, "arguments"), 0))
			if j.Kind(object) == "identifier" {
				object = j.valueOf(object)
			}
			if j.Kind(object) == "object" {
				return j.elements(object, depth+1)
			}
		}
	}
	return all
}

// valueOf returns the value of a variable that is declared once in the innermost function around a node that names it.
func (j *walker) valueOf(n extract.Ref) extract.Ref {
	if j.Kind(n) != "identifier" {
		return extract.None
	}
	return j.setIn(n, j.Text(n))
}

// isScope reports whether a node is a function, which has variables of its own.
func (j *walker) isScope(n extract.Ref) bool {
	switch j.Kind(n) {
	case "function_declaration", "generator_function_declaration", "method_definition":
		return true
	}
	return j.isFunction(n)
}

// setting returns the name of a variable that is declared, and its value.
func (j *walker) setting(n extract.Ref) (string, extract.Ref) {
	if j.Kind(n) != "variable_declarator" {
		return "", extract.None
	}
	return j.Text(j.Field(n, "name")), j.unwrapped(j.Field(n, "value"))
}

// unwrapped returns an expression without parentheses and assertions of its type.
func (j *walker) unwrapped(n extract.Ref) extract.Ref {
	for {
		switch j.Kind(n) {
		case "parenthesized_expression", "as_expression", "satisfies_expression", "non_null_expression":
			n = j.Child(n, 0)
		default:
			return n
		}
	}
}

// stand makes the names of a pattern stand for an element, or for parts of it.
func (j *walker) stand(target, element extract.Ref, in extract.Round) {
	set := func(name string, part extract.Ref) {
		if part != extract.None {
			in[name] = part
		}
	}
	element = j.unwrapped(element)
	switch j.Kind(target) {
	case "identifier":
		set(j.Text(target), element)
	case "required_parameter", "optional_parameter":
		j.stand(j.Field(target, "pattern"), element, in)
	case "object_pattern":
		for c := range j.Children(target) {
			switch j.Kind(c) {
			case "shorthand_property_identifier_pattern":
				set(j.Text(c), j.property(element, j.Text(c)))
			case "pair_pattern":
				j.stand(j.Field(c, "value"), j.property(element, j.propertyName(j.Field(c, "key"))), in)
			}
		}
	case "array_pattern":
		i := 0
		for c := range j.Children(target) {
			j.stand(c, j.item(element, i), in)
			i++
		}
	}
}

// item returns item i of a list, or the key or the value of a pair.
func (j *walker) item(of extract.Ref, i int) extract.Ref {
	switch j.Kind(of) {
	case "array":
		return j.Child(of, i)
	case "pair":
		return j.Field(of, [...]string{"key", "value"}[min(i, 1)])
	case "shorthand_property_identifier":
		return of
	}
	return extract.None
}

// entries reads what a loop over Object.entries(routers) or Object.values(routers) mounts, if other files make the
// routers. The name of each is in its pattern where the loop's name of it is.
func (r *registration) entries(pattern string, of extract.Ref) bool {
	for at, up := r.call, r.Parent(r.call); up > 0; at, up = up, r.Parent(up) {
		target, list := r.loop(up, at)
		fn := r.Text(r.Field(list, "function"))
		if r.Kind(list) != "call_expression" || fn != "Object.entries" && fn != "Object.values" {
			continue
		}
		names := []string{""}
		switch k := r.Kind(target); k {
		case "lexical_declaration", "variable_declaration":
			target = r.Child(target, 0)
		case "required_parameter":
			target = r.Field(target, "pattern")
		}
		if r.Kind(target) == "variable_declarator" {
			target = r.Field(target, "name")
		}
		if r.Kind(target) == "array_pattern" {
			names = nil
			for c := range r.Children(target) {
				names = append(names, r.Text(c))
			}
		} else {
			names = append(names, r.Text(target))
		}
		if on := r.Text(of); len(names) < 2 || on != names[1] && !strings.HasPrefix(on, names[1]+".") {
			continue
		}
		r.group(&recountv1.RouteFact{
			Role: "entries", Method: "ANY", Pattern: strings.ReplaceAll(pattern, "${"+r.s.shadows.Path(names[0])+"}", scope.EntryName), Router: r.router,
			Handler: r.path(r.argument(r.Field(list, "arguments"), 0), r.s),
		})
		return true
	}
	return false
}

// meant returns what an expression stands for in the current round of the loops around it, or the
// expression itself.
func (j *walker) meant(n extract.Ref) extract.Ref {
	if len(j.round) == 0 {
		return n
	}
	part := extract.None
	switch at := j.unwrapped(n); j.Kind(at) {
	case "identifier":
		if is, ok := j.round[j.Text(at)]; ok {
			part = is
		}
	case "member_expression":
		part = j.property(j.meant(j.Field(at, "object")), j.Text(j.Field(at, "property")))
	case "subscript_expression":
		object, index := j.meant(j.Field(at, "object")), j.Field(at, "index")
		if name, ok := j.literal(index); ok {
			part = j.property(object, name)
		} else if i, err := strconv.Atoi(j.Text(index)); err == nil && i >= 0 {
			part = j.item(object, i)
		}
	case "call_expression": // route.method.toLowerCase()
		switch fn := j.Field(at, "function"); j.Text(j.Field(fn, "property")) {
		case "toLowerCase", "toUpperCase":
			return j.meant(j.Field(fn, "object"))
		}
	}
	if part == extract.None {
		return n
	}
	return j.unwrapped(part)
}

// routePath returns the path of an expression as a handler or a router, which in a loop may begin with
// a part of the list: each.router.routes().
func (j *walker) routePath(n extract.Ref, s state) string {
	if is := j.meant(n); is != n || len(j.round) == 0 {
		return j.path(is, s)
	}
	switch j.Kind(n) {
	case "member_expression":
		on := j.Field(n, "object")
		if path := j.routePath(on, s); path != j.path(on, s) {
			return extract.Member(path, j.Text(j.Field(n, "property")))
		}
	case "call_expression":
		fn := j.Field(n, "function")
		if path := j.routePath(fn, s); path != j.path(fn, s) {
			return path + "()"
		}
	}
	return j.path(n, s)
}

// routeVerb returns the name of the method that a call calls: app.get(…), or app[route.method](…).
func (j *walker) routeVerb(fn extract.Ref) string {
	switch j.Kind(fn) {
	case "member_expression":
		return j.Text(j.Field(fn, "property"))
	case "subscript_expression":
		is := j.meant(j.Field(fn, "index"))
		if j.Kind(is) == "property_identifier" { // a key of an object whose entries a loop has
			return strings.ToLower(j.Text(is))
		}
		verb, _ := j.literal(is)
		return strings.ToLower(verb)
	}
	return ""
}
