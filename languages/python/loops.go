package python

import (
	"strconv"

	"github.com/recountdb/recount/languages/extract"
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
		if is := p.valueOf(p.Text(list)); p.Kind(is) == "list" || p.Kind(is) == "tuple" {
			return p.elements(is)
		}
	case "call":
		if fn := p.Field(list, "function"); p.Text(p.Field(fn, "attribute")) == "items" {
			of := p.Field(fn, "object")
			if p.Kind(of) == "identifier" {
				of = p.valueOf(p.Text(of))
			}
			if p.Kind(of) == "dictionary" {
				return p.elements(of)
			}
		}
	}
	return all
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
