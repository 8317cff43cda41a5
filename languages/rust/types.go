package rust

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/schemas/wordset"
)

func (g *generic) find(name string) (bounds string, ok bool) {
	for ; g != nil; g = g.up {
		if g.name == name {
			return g.bounds, true
		}
	}
	return "", false
}

// typeParameter returns the name of a type parameter, "" for a lifetime or a constant.
func (r *walker) typeParameter(n extract.Ref) string {
	switch r.Kind(n) {
	case "type_identifier":
		return r.Text(n)
	case "constrained_type_parameter", "optional_type_parameter", "type_parameter":
		left := extract.FirstRef(r.Field(n, "left"), r.Field(n, "name"))
		if r.Kind(left) == "constrained_type_parameter" {
			left = r.Field(left, "left")
		}
		if r.Kind(left) == "type_identifier" {
			return r.Text(left)
		}
	}
	return ""
}

// withGenerics adds the type parameters of an item with their bounds. Those of a type's
// declaration stay names, because they depend on who uses the type.
func (r *walker) withGenerics(n extract.Ref, s state, names bool) state {
	type bounded struct {
		name   string
		bounds []extract.Ref
	}
	var all []bounded
	for c := range r.Children(r.Field(n, "type_parameters")) {
		if name := r.typeParameter(c); name != "" {
			b := bounded{name: name}
			for bound := range r.Children(r.Field(c, "bounds")) {
				b.bounds = append(b.bounds, bound)
			}
			all = append(all, b)
		}
	}
	for p := range r.Children(r.FirstOf(n, "where_clause")) {
		left := r.Text(r.Field(p, "left"))
		for i := range all {
			if all[i].name == left {
				for bound := range r.Children(r.Field(p, "bounds")) {
					all[i].bounds = append(all[i].bounds, bound)
				}
			}
		}
	}
	for _, b := range all {
		s.generics = &generic{b.name, extract.Unknown, s.generics}
	}
	if names {
		for _, b := range all {
			s.generics = &generic{b.name, b.name, s.generics}
		}
		return s
	}
	for range min(2, len(all)) { // a bound may name a parameter that has bounds itself
		inner := s
		for _, b := range all {
			if bounds := r.boundsText(b.bounds, inner); bounds != extract.Unknown {
				s.generics = &generic{b.name, bounds, s.generics}
			}
		}
	}
	return s
}

// all returns the children of a node.
func (r *walker) all(n extract.Ref) (all []extract.Ref) {
	for c := range r.Children(n) {
		all = append(all, c)
	}
	return all
}

// boundsText returns the traits that bound a type, joined with a plus, or, if there are none, "?".
func (r *walker) boundsText(bounds []extract.Ref, s state) string {
	var texts []string
	for _, bound := range bounds {
		if t := r.bound(bound, s); t != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) == 0 {
		return extract.Unknown
	}
	return extract.Checked(strings.Join(texts, "+"))
}

// boundReferences adds references to the bounds of an item's type parameters.
func (r *walker) boundReferences(n extract.Ref, s state) {
	for c := range r.Children(r.Field(n, "type_parameters")) {
		r.annotation(r.Field(c, "bounds"), s)
	}
	for p := range r.Children(r.FirstOf(n, "where_clause")) {
		r.annotation(r.Field(p, "bounds"), s)
	}
}

// markers are traits without methods that a call could mean.
var markers = map[string]bool{"Send": true, "Sync": true, "Sized": true, "Unpin": true, "Copy": true, "Eq": true, "UnwindSafe": true, "RefUnwindSafe": true}

// bound returns a trait as a bound, "" for a lifetime, a marker or Fn(…).
func (r *walker) bound(n extract.Ref, s state) string {
	switch r.Kind(n) {
	case "higher_ranked_trait_bound":
		return r.bound(r.Field(n, "type"), s)
	case "type_identifier", "scoped_type_identifier", "generic_type":
		if t := r.typeText(n, s); t != extract.Unknown && !markers[t] {
			return t
		}
	}
	return ""
}

// typeText returns a type in the form that the comment of extractor describes.
func (r *walker) typeText(n extract.Ref, s state) string {
	switch r.Kind(n) {
	case "type_identifier", "identifier":
		name := r.Text(n)
		if b, ok := s.generics.find(name); ok {
			return b
		}
		return extract.Checked(name)
	case "primitive_type":
		return r.Text(n)
	case "scoped_type_identifier", "scoped_identifier":
		if b, ok := s.generics.find(r.Text(n)); ok { // Self::Item
			return b
		}
		return r.pathText(n, s)
	case "generic_type":
		base := r.typeText(r.Field(n, "type"), s)
		if base == extract.Unknown || strings.ContainsAny(base, "<+") {
			return base
		}
		var args []string
		for c := range r.Children(r.Field(n, "type_arguments")) {
			switch r.Kind(c) {
			case "lifetime", "integer_literal", "block":
			case "type_binding":
				args = append(args, r.typeText(r.Field(c, "type"), s))
			default:
				args = append(args, r.typeText(c, s))
			}
		}
		if len(args) == 0 {
			return base
		}
		return extract.Checked(base + "<" + strings.Join(args, ",") + ">")
	case "reference_type", "pointer_type":
		return r.typeText(r.Field(n, "type"), s)
	case "dynamic_type", "abstract_type":
		return extract.FirstOf(r.bound(r.Field(n, "trait"), s), r.typeText(r.Field(n, "trait"), s))
	case "bounded_type":
		var all []string
		for c := range r.Children(n) {
			if k := r.Kind(c); k == "dynamic_type" || k == "abstract_type" {
				all = append(all, r.typeText(c, s))
			} else if b := r.bound(c, s); b != "" {
				all = append(all, b)
			}
		}
		return extract.Checked(strings.Join(all, "+"))
	case "array_type", "slice_type":
		return extract.Checked("[" + r.typeText(extract.FirstRef(r.Field(n, "element"), r.Child(n, 0)), s) + "]")
	case "tuple_type":
		var all []string
		for c := range r.Children(n) {
			all = append(all, r.typeText(c, s))
		}
		return extract.Checked("(" + strings.Join(all, ",") + ")")
	case "unit_type":
		return "()"
	case "qualified_type":
		return r.typeText(r.Field(n, "type"), s)
	case "bracketed_type", "parenthesized_type":
		return r.typeText(r.Child(n, 0), s)
	}
	return extract.Unknown
}

// pathText returns a path of names, joined with dots.
func (r *walker) pathText(n extract.Ref, s state) string {
	switch r.Kind(n) {
	case "identifier", "type_identifier":
		if b, ok := s.generics.find(r.Text(n)); ok {
			return r.plainType(b)
		}
		return extract.Checked(r.Text(n))
	case "crate", "super":
		return r.Kind(n)
	case "self":
		return ""
	case "generic_type", "bracketed_type", "qualified_type":
		return r.plainType(r.typeText(r.typeOfPath(n, s), s))
	case "scoped_identifier", "scoped_type_identifier":
		path, name := r.Field(n, "path"), r.Text(r.Field(n, "name"))
		if path == extract.None { // ::name
			return extract.Checked(name)
		}
		if b, ok := s.generics.find(r.Text(n)); ok {
			return r.plainType(b)
		}
		if _, own := s.generics.find(r.Text(path)); own && r.Kind(n) == "scoped_type_identifier" && r.Text(path) != "Self" {
			return extract.Unknown // an associated type that only the bound has
		}
		up := r.pathText(path, s)
		switch up {
		case extract.Unknown:
			return extract.Unknown
		case "":
			return extract.Checked(name)
		}
		return extract.Member(up, name)
	}
	return extract.Unknown
}

// typeOfPath returns the type that <T as Trait> means: the trait, if T is a parameter.
func (r *walker) typeOfPath(n extract.Ref, s state) extract.Ref {
	switch r.Kind(n) {
	case "bracketed_type":
		return r.typeOfPath(r.Child(n, 0), s)
	case "qualified_type":
		if _, ok := s.generics.find(r.Text(r.Field(n, "type"))); ok {
			return r.Field(n, "alias")
		}
		return r.Field(n, "type")
	}
	return n
}

// plainType returns the path in the text of a type: its first bound, without arguments.
func (r *walker) plainType(text string) string {
	if i := strings.IndexAny(text, "<+"); i >= 0 {
		text = text[:i]
	}
	if text == "" || strings.ContainsAny(text, "([?") {
		return extract.Unknown
	}
	return text
}

var rustPrelude = wordset.Of(`Option Result Vec Box String Some None Ok Err Self Iterator IntoIterator Into From AsRef AsMut
Clone Copy Send Sync Sized Drop Fn FnMut FnOnce Default Eq PartialEq Ord PartialOrd ToString ToOwned`)

// annotation adds references to the names in a type.
func (r *walker) annotation(n extract.Ref, s state) {
	switch r.Kind(n) {
	case "type_identifier", "scoped_type_identifier":
		text := r.Text(n)
		if _, own := s.generics.find(text); own || rustPrelude[text] || text == "_" {
			return
		}
		if path := r.pathText(n, s); path != extract.Unknown {
			r.Refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, path, r.lastName(n))
		}
	case "type_binding":
		r.annotation(r.Field(n, "type"), s)
	default:
		for c := range r.Children(n) {
			r.annotation(c, s)
		}
	}
}

// lastName returns the node of the last name of a path, a type or an expression.
func (r *walker) lastName(n extract.Ref) extract.Ref {
	switch r.Kind(n) {
	case "scoped_identifier", "scoped_type_identifier":
		return extract.FirstRef(r.Field(n, "name"), n)
	case "generic_type":
		return r.lastName(extract.FirstRef(r.Field(n, "type"), n+1))
	case "generic_function", "call_expression":
		return r.lastName(extract.FirstRef(r.Field(n, "function"), n+1))
	case "field_expression":
		return extract.FirstRef(r.Field(n, "field"), n)
	case "await_expression", "try_expression", "parenthesized_expression", "reference_expression", "higher_ranked_trait_bound":
		if c := r.Child(n, 0); c != extract.None {
			return r.lastName(c)
		}
	}
	return n
}
