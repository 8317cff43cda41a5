package extract

import (
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

func (g *generic) find(name string) (bounds string, ok bool) {
	for ; g != nil; g = g.up {
		if g.name == name {
			return g.bounds, true
		}
	}
	return "", false
}

// wordSet is the words of a text.
func wordSet(words string) map[string]bool {
	set := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		set[w] = true
	}
	return set
}

// typeParameter is the name of a type parameter; "" of a lifetime or a constant.
func (r *rustFile) typeParameter(n ref) string {
	switch r.kind(n) {
	case "type_identifier":
		return r.text(n)
	case "constrained_type_parameter", "optional_type_parameter", "type_parameter":
		left := firstRef(r.field(n, "left"), r.field(n, "name"))
		if r.kind(left) == "constrained_type_parameter" {
			left = r.field(left, "left")
		}
		if r.kind(left) == "type_identifier" {
			return r.text(left)
		}
	}
	return ""
}

// withGenerics adds an item's type parameters with the bounds that it gives them. Of
// a type's declaration they stay names: who uses the type says what they are.
func (r *rustFile) withGenerics(n ref, s rustScope, names bool) rustScope {
	type bounded struct {
		name   string
		bounds []ref
	}
	var all []bounded
	for c := range r.children(r.field(n, "type_parameters")) {
		if name := r.typeParameter(c); name != "" {
			b := bounded{name: name}
			for bound := range r.children(r.field(c, "bounds")) {
				b.bounds = append(b.bounds, bound)
			}
			all = append(all, b)
		}
	}
	for p := range r.children(r.firstOf(n, "where_clause")) {
		left := r.text(r.field(p, "left"))
		for i := range all {
			if all[i].name == left {
				for bound := range r.children(r.field(p, "bounds")) {
					all[i].bounds = append(all[i].bounds, bound)
				}
			}
		}
	}
	for _, b := range all {
		s.generics = &generic{b.name, unknown, s.generics}
	}
	if names {
		for _, b := range all {
			s.generics = &generic{b.name, b.name, s.generics}
		}
		return s
	}
	inner := s.generics
	for _, b := range all {
		var texts []string
		for _, bound := range b.bounds {
			if t := r.bound(bound, rustScope{generics: inner}); t != "" {
				texts = append(texts, t)
			}
		}
		if len(texts) > 0 {
			s.generics = &generic{b.name, checked(strings.Join(texts, "+")), s.generics}
		}
	}
	return s
}

// boundReferences refers to the bounds of an item's type parameters.
func (r *rustFile) boundReferences(n ref, s rustScope) {
	for c := range r.children(r.field(n, "type_parameters")) {
		r.annotation(r.field(c, "bounds"), s)
	}
	for p := range r.children(r.firstOf(n, "where_clause")) {
		r.annotation(r.field(p, "bounds"), s)
	}
}

// markers are traits without methods that anything could be called by.
var markers = map[string]bool{"Send": true, "Sync": true, "Sized": true, "Unpin": true, "Copy": true, "Eq": true, "UnwindSafe": true, "RefUnwindSafe": true}

// bound is a trait as a bound; "" of a lifetime, a marker, or Fn(…).
func (r *rustFile) bound(n ref, s rustScope) string {
	switch r.kind(n) {
	case "higher_ranked_trait_bound":
		return r.bound(r.field(n, "type"), s)
	case "type_identifier", "scoped_type_identifier", "generic_type":
		if t := r.typeText(n, s); t != unknown && !markers[t] {
			return t
		}
	}
	return ""
}

// typeText is a type as the facts have it: see rustLanguage.
func (r *rustFile) typeText(n ref, s rustScope) string {
	switch r.kind(n) {
	case "type_identifier", "identifier":
		name := r.text(n)
		if b, ok := s.generics.find(name); ok {
			return b
		}
		return checked(name)
	case "primitive_type":
		return r.text(n)
	case "scoped_type_identifier", "scoped_identifier":
		if b, ok := s.generics.find(r.text(n)); ok { // Self::Item
			return b
		}
		return r.pathText(n, s)
	case "generic_type":
		base := r.typeText(r.field(n, "type"), s)
		if base == unknown || strings.ContainsAny(base, "<+") {
			return base
		}
		var args []string
		for c := range r.children(r.field(n, "type_arguments")) {
			switch r.kind(c) {
			case "lifetime", "integer_literal", "block":
			case "type_binding":
				args = append(args, r.typeText(r.field(c, "type"), s))
			default:
				args = append(args, r.typeText(c, s))
			}
		}
		if len(args) == 0 {
			return base
		}
		return checked(base + "<" + strings.Join(args, ",") + ">")
	case "reference_type", "pointer_type":
		return r.typeText(r.field(n, "type"), s)
	case "dynamic_type", "abstract_type":
		return firstOf(r.bound(r.field(n, "trait"), s), r.typeText(r.field(n, "trait"), s))
	case "bounded_type":
		var all []string
		for c := range r.children(n) {
			if k := r.kind(c); k == "dynamic_type" || k == "abstract_type" {
				all = append(all, r.typeText(c, s))
			} else if b := r.bound(c, s); b != "" {
				all = append(all, b)
			}
		}
		return checked(strings.Join(all, "+"))
	case "array_type", "slice_type":
		return checked("[" + r.typeText(firstRef(r.field(n, "element"), r.child(n, 0)), s) + "]")
	case "tuple_type":
		var all []string
		for c := range r.children(n) {
			all = append(all, r.typeText(c, s))
		}
		return checked("(" + strings.Join(all, ",") + ")")
	case "unit_type":
		return "()"
	case "qualified_type":
		return r.typeText(r.field(n, "type"), s)
	case "bracketed_type", "parenthesized_type":
		return r.typeText(r.child(n, 0), s)
	}
	return unknown
}

// pathText is a path of names, dots between them.
func (r *rustFile) pathText(n ref, s rustScope) string {
	switch r.kind(n) {
	case "identifier", "type_identifier":
		if b, ok := s.generics.find(r.text(n)); ok {
			return r.plainType(b)
		}
		return checked(r.text(n))
	case "crate", "super":
		return r.kind(n)
	case "self":
		return ""
	case "generic_type", "bracketed_type", "qualified_type":
		return r.plainType(r.typeText(r.typeOfPath(n, s), s))
	case "scoped_identifier", "scoped_type_identifier":
		path, name := r.field(n, "path"), r.text(r.field(n, "name"))
		if path == none { // ::name
			return checked(name)
		}
		if b, ok := s.generics.find(r.text(n)); ok {
			return r.plainType(b)
		}
		if _, own := s.generics.find(r.text(path)); own && r.kind(n) == "scoped_type_identifier" {
			return unknown // an associated type that only the bound knows
		}
		up := r.pathText(path, s)
		switch up {
		case unknown:
			return unknown
		case "":
			return checked(name)
		}
		return member(up, name)
	}
	return unknown
}

// typeOfPath is the type that <T as Trait> means: the trait, where T is a parameter.
func (r *rustFile) typeOfPath(n ref, s rustScope) ref {
	switch r.kind(n) {
	case "bracketed_type":
		return r.typeOfPath(r.child(n, 0), s)
	case "qualified_type":
		if _, ok := s.generics.find(r.text(r.field(n, "type"))); ok {
			return r.field(n, "alias")
		}
		return r.field(n, "type")
	}
	return n
}

// plainType is the path of a type's text: its first bound, without arguments.
func (r *rustFile) plainType(text string) string {
	if i := strings.IndexAny(text, "<+"); i >= 0 {
		text = text[:i]
	}
	if text == "" || strings.ContainsAny(text, "([?") {
		return unknown
	}
	return text
}

var rustPrelude = wordSet(`Option Result Vec Box String Some None Ok Err Self Iterator IntoIterator Into From AsRef AsMut
Clone Copy Send Sync Sized Drop Fn FnMut FnOnce Default Eq PartialEq Ord PartialOrd ToString ToOwned`)

// annotation refers to the names in a type.
func (r *rustFile) annotation(n ref, s rustScope) {
	switch r.kind(n) {
	case "type_identifier", "scoped_type_identifier":
		text := r.text(n)
		if _, own := s.generics.find(text); own || rustPrelude[text] || text == "_" {
			return
		}
		if path := r.pathText(n, s); path != unknown {
			r.refer(recountv1.EdgeKind_EDGE_KIND_REFERENCES, s.in, path, r.lastName(n))
		}
	case "type_binding":
		r.annotation(r.field(n, "type"), s)
	default:
		for c := range r.children(n) {
			r.annotation(c, s)
		}
	}
}

// lastName is the node of the last name of a path, a type or an expression.
func (r *rustFile) lastName(n ref) ref {
	switch r.kind(n) {
	case "scoped_identifier", "scoped_type_identifier":
		return firstRef(r.field(n, "name"), n)
	case "generic_type":
		return r.lastName(firstRef(r.field(n, "type"), n+1))
	case "generic_function", "call_expression":
		return r.lastName(firstRef(r.field(n, "function"), n+1))
	case "field_expression":
		return firstRef(r.field(n, "field"), n)
	case "await_expression", "try_expression", "parenthesized_expression", "reference_expression", "higher_ranked_trait_bound":
		if c := r.child(n, 0); c != none {
			return r.lastName(c)
		}
	}
	return n
}
