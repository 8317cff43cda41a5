package rust

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/recountdb/recount/languages/extract"
)

// fresh returns a name for a variable that nothing else in the declaration has.
func (r *walker) fresh(name string, s state) string {
	at := extract.NameIn{In: s.in, Name: name}
	r.used[at]++
	if n := r.used[at]; n > 1 || strings.HasPrefix(name, "<") {
		if inner, ok := strings.CutSuffix(name, ">"); ok {
			return fmt.Sprintf("%s%d>", inner, n)
		}
		return fmt.Sprintf("%s'%d", name, n)
	}
	return name
}

// usesInside notes that a value uses an item of the name that it is given.
func (r *walker) usesInside(value extract.Ref, name string, s state) {
	if _, local := s.locals.find(name); local || value == extract.None {
		return
	}
	for n := value; n < extract.Ref(r.Nodes[value].Next); n++ {
		if r.Kind(n) == "identifier" && r.Text(n) == name {
			r.used[extract.NameIn{In: s.in, Name: name}]++
			return
		}
	}
}

// local adds a variable to the innermost block.
func (r *walker) local(name string, s state) string {
	own := r.fresh(name, s)
	if s.locals != nil {
		s.locals.names[name] = own
	}
	return own
}

// isVariable reports whether a name in a pattern is a variable. By convention constants and
// variants begin with a capital letter.
func isVariable(name string) bool {
	c, _ := utf8.DecodeRuneInString(name)
	return name != "" && !unicode.IsUpper(c)
}

// bindPattern binds the names of a pattern to the parts of a value. In alternatives (a | b) a
// name is one variable: again has those of the first alternative.
func (r *walker) bindPattern(n extract.Ref, of string, s state, again map[string]string) {
	switch r.Kind(n) {
	case "identifier", "shorthand_field_identifier":
		name := r.Text(n)
		if !isVariable(name) {
			return
		}
		own, ok := again[name]
		if !ok {
			own = r.local(name, s)
			if again != nil {
				again[name] = own
			}
		}
		r.Bind(s.in, own, of, "", n)
	case "scoped_identifier":
		r.noteUse(n, s)
	case "mut_pattern", "ref_pattern", "reference_pattern", "match_pattern", "parenthesized_pattern":
		for c := range r.Children(n) {
			if r.Kind(c) != "mutable_specifier" && r.FieldOf(c) != "condition" {
				r.bindPattern(c, of, s, again)
			}
		}
	case "captured_pattern":
		r.bindPattern(r.Child(n, 0), of, s, again)
		r.bindPattern(r.Child(n, 1), of, s, again)
	case "or_pattern":
		if again == nil {
			again = map[string]string{}
		}
		for c := range r.Children(n) {
			r.bindPattern(c, of, s, again)
		}
	case "tuple_pattern":
		r.bindFields(n, s, again, func(place int) string {
			if of == extract.Unknown {
				return of
			}
			return extract.Member(of, extract.Decimal(place))
		})
	case "slice_pattern":
		for c := range r.Children(n) {
			r.bindPattern(c, extract.Element(of, ""), s, again)
		}
	case "tuple_struct_pattern":
		r.bindTupleStruct(n, of, s, again)
	case "struct_pattern":
		r.bindStruct(n, s, again)
	}
}

// bindFields binds the patterns in (a, .., b) or T(a, .., b): pathOf returns the path of the field at a place. Behind
// the two dots no place is known.
func (r *walker) bindFields(n extract.Ref, s state, again map[string]string, pathOf func(place int) string) {
	place := 0
	for c := range r.Children(n) {
		if r.FieldOf(c) == "type" {
			continue
		}
		if r.Kind(c) == "remaining_field_pattern" {
			place = -1 << 20
		}
		path := extract.Unknown
		if place >= 0 {
			path = pathOf(place)
		}
		r.bindPattern(c, path, s, again)
		place++
	}
}

// bindTupleStruct binds the fields of T(a, b), and what Some, Ok and Err have.
func (r *walker) bindTupleStruct(n extract.Ref, of string, s state, again map[string]string) {
	typ := r.Field(n, "type")
	name := r.Text(r.lastName(typ))
	if name != "Some" && name != "Ok" && name != "Err" {
		r.noteUse(typ, s)
	}
	r.bindFields(n, s, again, func(place int) string {
		switch name {
		case "Some", "Ok":
			return extract.Element(of, "")
		case "Err":
			if of == extract.Unknown {
				return of
			}
			return extract.Result(extract.Member(of, "unwrap_err"))
		}
		up := r.pathText(typ, s)
		if up == extract.Unknown {
			return up
		}
		return extract.Member(up, extract.Decimal(place))
	})
}

// bindStruct binds the fields of T { a, b: pattern }.
func (r *walker) bindStruct(n extract.Ref, s state, again map[string]string) {
	typ := r.Field(n, "type")
	up := r.pathText(typ, s)
	if up != extract.Unknown {
		r.Loads = append(r.Loads, extract.Load{In: s.in, Path: up, At: r.lastName(typ)})
	}
	for c := range r.Children(n) {
		if r.Kind(c) != "field_pattern" {
			continue
		}
		name := r.Field(c, "name")
		path := extract.Unknown
		if up != extract.Unknown {
			path = extract.Member(up, r.Text(name))
		}
		r.bindPattern(extract.FirstRef(r.Field(c, "pattern"), name), path, s, again)
	}
}

// bindTuple reads `let (a, b) = (x, y);`. It returns false if the sides differ in form.
func (r *walker) bindTuple(pattern, value extract.Ref, s state) bool {
	var parts, values []extract.Ref
	for c := range r.Children(pattern) {
		parts = append(parts, c)
	}
	for c := range r.Children(value) {
		values = append(values, c)
	}
	if len(parts) != len(values) || r.Has(pattern, "remaining_field_pattern") {
		return false
	}
	paths := make([]string, len(values))
	for i, v := range values {
		if r.Kind(parts[i]) == "identifier" {
			r.usesInside(v, r.Text(parts[i]), s)
		}
		paths[i] = r.path(v, s)
		r.visit(v, s)
	}
	for i, p := range parts {
		r.bindPattern(p, paths[i], s, nil)
	}
	return true
}
