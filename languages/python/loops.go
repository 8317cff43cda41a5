package python

import (
	"strconv"
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Routers are often mounted, and routes registered, in a loop over a list that the file spells out:
//
//	for router, prefix in [(users, "/users"), (items, "/items")]:
//	    app.include_router(router, prefix=prefix)
//
// Such a call is read once for each element, with the names that the loop gives to the element, or to
// parts of it, standing for what the list has there.

// rounds returns the rounds of the loops around a call whose lists are in the file.
func (p *walker) rounds(n extract.Ref) []extract.Round {
	return p.Rounds(n, func(loop, body extract.Ref) (extract.Ref, []extract.Ref) {
		switch p.Kind(loop) {
		case "list_comprehension", "generator_expression":
			if clause := p.FirstOf(loop, "for_in_clause"); p.Field(loop, "body") == body {
				return p.Field(clause, "left"), p.elements(p.Field(clause, "right"))
			}
			return extract.None, nil
		}
		if right := p.Field(loop, "right"); p.Kind(loop) == "for_statement" && p.Kind(right) == "identifier" && p.Field(loop, "body") == body && p.valueOf(right) == extract.None {
			return p.Field(loop, "left"), p.passed(right, n)
		}
		if p.Kind(loop) != "for_statement" || p.Field(loop, "body") != body {
			return extract.None, nil
		}
		return p.Field(loop, "left"), p.elements(p.Field(loop, "right"))
	}, p.stand)
}

// elements returns the elements of a list or tuple that is written out, or of a variable of the file
// that is set to one once; of a dictionary's items() they are its pairs.
func (p *walker) elements(list extract.Ref) []extract.Ref {
	var all []extract.Ref
	switch p.Kind(list) {
	case "list", "tuple", "dictionary":
		for c := range p.Children(list) {
			switch p.Kind(c) {
			case "comment":
			case "list_splat", "dictionary_splat":
				return nil
			default:
				all = append(all, c)
			}
		}
	case "identifier":
		if is := p.valueOf(list); p.Kind(is) == "list" || p.Kind(is) == "tuple" {
			return p.elements(is)
		}
	case "call":
		if fn := p.Field(list, "function"); p.Text(p.Field(fn, "attribute")) == "items" {
			of := p.Field(fn, "object")
			if p.Kind(of) == "identifier" {
				of = p.valueOf(of)
			}
			if p.Kind(of) == "dictionary" {
				return p.elements(of)
			}
		}
	}
	return all
}

// passed returns the elements of the lists that the calls of the file pass to a parameter which a call in its function
// loops over; none if some are not known. Where there are several calls, what they pass to other parameters is no part
// of the arguments of that call: which of it belongs to which list would not be known.
func (p *walker) passed(parameter, call extract.Ref) (all []extract.Ref) {
	fn := p.Parent(parameter)
	for fn > 0 && p.Kind(fn) != "function_definition" {
		fn = p.Parent(fn)
	}
	if fn <= 0 || p.Kind(p.Parent(p.Parent(fn))) == "class_definition" {
		return nil
	}
	place, others := -1, map[string]bool{}
	i := 0
	for c := range p.Children(p.Field(fn, "parameters")) {
		if name := p.paramName(c); name == p.Text(parameter) && p.Kind(c) != "list_splat_pattern" {
			place = i
		} else {
			others[name] = true
		}
		i++
	}
	calls := p.callsOf(p.Text(p.Field(fn, "name")))
	if place < 0 || len(calls) > 1 && p.mentions(p.Field(call, "arguments"), others) {
		return nil
	}
	for _, c := range calls {
		if of := p.argument(p.Field(c, "arguments"), place, p.Text(parameter)); of != extract.None {
			some := p.elements(of)
			if len(some) == 0 {
				return nil
			}
			all = append(all, some...)
		}
	}
	return all
}

// callsOf returns the calls of a function of the file by its name.
func (p *walker) callsOf(name string) []extract.Ref {
	if p.calls == nil {
		p.calls = map[string][]extract.Ref{}
		for i := range p.Nodes {
			if fn := p.Field(extract.Ref(i), "function"); p.Kind(extract.Ref(i)) == "call" && p.Kind(fn) == "identifier" {
				p.calls[p.Text(fn)] = append(p.calls[p.Text(fn)], extract.Ref(i))
			}
		}
	}
	return p.calls[name]
}

// mentions reports whether an expression has one of some names in it, apart from those of keyword arguments and of
// dictionaries that are passed on.
func (p *walker) mentions(n extract.Ref, names map[string]bool) bool {
	switch p.Kind(n) {
	case "identifier":
		return names[p.Text(n)]
	case "keyword_argument":
		return p.mentions(p.Field(n, "value"), names)
	case "dictionary_splat":
		return false
	}
	for c := range p.Children(n) {
		if p.mentions(c, names) {
			return true
		}
	}
	return false
}

// entries reads the call in a loop over the pairs or the values of a dictionary that another file has:
//
//	for name, router in ROUTERS.items():
//	    app.include_router(router, prefix=f"/{name}")
func (r *registration) entries(pattern string, of extract.Ref) bool {
	for up := r.Parent(r.call); up > 0 && len(r.round) == 0; up = r.Parent(up) {
		fn := r.Field(r.Field(up, "right"), "function")
		target, name := r.Field(up, "left"), ""
		if r.Kind(up) != "for_statement" || r.Kind(fn) != "attribute" {
			continue
		}
		switch r.Text(r.Field(fn, "attribute")) {
		case "items":
			name, target = r.Text(r.Child(target, 0)), r.Child(target, 1)
		case "values":
		default:
			continue
		}
		dict := r.walker.path(r.Field(fn, "object"), r.s)
		if r.Kind(of) != "identifier" || r.Text(of) != r.Text(target) || dict == extract.Unknown {
			continue
		}
		if name != "" {
			pattern = strings.ReplaceAll(pattern, "${"+name+"}", scope.EntryName)
		}
		r.add(&recountv1.RouteFact{Group: true, Role: "entries", Method: "ANY", Pattern: pattern, Router: r.router, Handler: dict})
		return true
	}
	return false
}

// valueOf returns the value of a variable where a node names it, or of an attribute, that is set once.
func (p *walker) valueOf(n extract.Ref) extract.Ref {
	if p.Kind(n) == "identifier" {
		return p.setIn(n, p.Text(n))
	}
	return p.setOnce(p.Text(n))
}

// setting returns the name that an assignment sets, and its value.
func (p *walker) setting(n extract.Ref) (string, extract.Ref) {
	switch p.Kind(n) {
	case "assignment", "augmented_assignment":
		return p.Text(p.Field(n, "left")), p.Field(n, "right")
	}
	return "", extract.None
}

// stand makes the names of a loop stand for an element, or for parts of it.
func (p *walker) stand(target, element extract.Ref, in extract.Round) {
	switch p.Kind(target) {
	case "identifier":
		if element != extract.None {
			in[p.Text(target)] = element
		}
	case "pattern_list", "tuple_pattern", "list_pattern":
		i := 0
		for c := range p.Children(target) {
			p.stand(c, p.item(element, i), in)
			i++
		}
	}
}

// item returns item i of a list or tuple, or the key or the value of a pair.
func (p *walker) item(of extract.Ref, i int) extract.Ref {
	switch p.Kind(of) {
	case "list", "tuple":
		return p.Child(of, i)
	case "pair":
		return p.Field(of, [...]string{"key", "value"}[min(i, 1)])
	}
	return extract.None
}

// meant returns what an expression stands for in the current round of the loops around it, or the
// expression itself.
func (p *walker) meant(n extract.Ref) extract.Ref {
	if len(p.round) == 0 {
		return n
	}
	part := extract.None
	switch p.Kind(n) {
	case "identifier":
		if is, ok := p.round[p.Text(n)]; ok {
			part = is
		}
	case "subscript":
		of, at := p.meant(p.Field(n, "value")), p.Field(n, "subscript")
		if name, ok := p.literal(at); ok {
			for c := range p.Children(of) {
				if key, ok := p.literal(p.Field(c, "key")); p.Kind(of) == "dictionary" && ok && key == name {
					part = p.Field(c, "value")
				}
			}
		} else if i, err := strconv.Atoi(p.Text(at)); err == nil && i >= 0 {
			part = p.item(of, i)
		}
	}
	if part == extract.None {
		return n
	}
	return part
}

// routePath returns the path of an expression as a handler or a router, which in a loop may begin with
// a part of the list: each.router.
func (p *walker) routePath(n extract.Ref, s state) string {
	if is := p.meant(n); is != n || len(p.round) == 0 {
		return p.path(is, s)
	}
	if p.Kind(n) == "attribute" {
		on := p.Field(n, "object")
		if path := p.routePath(on, s); path != p.path(on, s) {
			return extract.Member(path, p.Text(p.Field(n, "attribute")))
		}
	}
	return p.path(n, s)
}
