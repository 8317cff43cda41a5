package csharp

import "github.com/recountdb/recount/languages/extract"

// Routes are often mapped in a loop over a list that the file spells out:
//
//	foreach (var name in new[] { "history", "prices" })
//	{
//	    app.MapGet($"/texts/{name}", () => Results.Text(name));
//	}
//
// Such a call is read once for each element, with the names of the loop standing for what the list has there.

// rounds returns the rounds of the loops around a call whose lists are in the file.
func (c *walker) rounds(n extract.Ref) []extract.Round {
	return c.Rounds(n, func(loop, body extract.Ref) (extract.Ref, []extract.Ref) {
		if c.Kind(loop) != "foreach_statement" || c.Field(loop, "body") != body {
			return extract.None, nil
		}
		return c.Field(loop, "left"), c.elements(c.Field(loop, "right"))
	}, c.stand)
}

// elements returns the elements of a list that is written out, or of a variable of the file that is set to one once.
func (c *walker) elements(list extract.Ref) (all []extract.Ref) {
	if c.Kind(list) == "identifier" {
		list = c.setOnce(c.Text(list))
	}
	switch c.Kind(list) {
	case "implicit_array_creation_expression", "array_creation_expression", "object_creation_expression", "implicit_object_creation_expression":
		list = c.FirstOf(list, "initializer_expression")
	}
	switch c.Kind(list) {
	case "initializer_expression":
		for e := range c.Children(list) {
			all = append(all, e)
		}
	case "element_binding_expression": // ["a", "b"]
		for e := range c.Children(list) {
			all = append(all, c.Child(e, 0))
		}
	}
	return all
}

// stand makes the names of a loop stand for an element, or for parts of it.
func (c *walker) stand(target, element extract.Ref, in extract.Round) {
	switch c.Kind(target) {
	case "identifier":
		in[c.Text(target)] = element
	case "tuple_pattern":
		if c.Kind(element) != "tuple_expression" {
			return
		}
		i := 0
		for name := range c.Children(target) {
			c.stand(name, c.Child(c.Child(element, i), 0), in)
			i++
		}
	}
}

// meant returns what an expression stands for in the current round of the loops around it, or the expression itself.
func (c *walker) meant(n extract.Ref) extract.Ref {
	if is, ok := c.round[c.Text(n)]; ok && c.Kind(n) == "identifier" && is != extract.None {
		return is
	}
	return n
}
