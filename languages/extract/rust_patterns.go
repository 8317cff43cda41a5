package extract

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// fresh is a name for a variable that nothing in the declaration has.
func (r *rustFile) fresh(name string, s rustScope) string {
	at := nameIn{s.in, name}
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
func (r *rustFile) usesInside(value ref, name string, s rustScope) {
	if _, local := s.locals.find(name); local || value == none {
		return
	}
	for n := value; n < ref(r.nodes[value].next); n++ {
		if r.kind(n) == "identifier" && r.text(n) == name {
			r.used[nameIn{s.in, name}]++
			return
		}
	}
}

// local makes a variable of the innermost block.
func (r *rustFile) local(name string, s rustScope) string {
	own := r.fresh(name, s)
	if s.locals != nil {
		s.locals.names[name] = own
	}
	return own
}

// isVariable reports whether a name in a pattern is a variable's, by the convention
// that constants and variants begin with a capital.
func isVariable(name string) bool {
	c, _ := utf8.DecodeRuneInString(name)
	return name != "" && !unicode.IsUpper(c)
}

// bindPattern binds the names of a pattern to the parts of a value. In alternatives
// (a | b) a name is one variable: again has those that the first made.
func (r *rustFile) bindPattern(n ref, of string, s rustScope, again map[string]string) {
	switch r.kind(n) {
	case "identifier", "shorthand_field_identifier":
		name := r.text(n)
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
		r.bind(s.in, own, of, "", n)
	case "scoped_identifier":
		r.noteUse(n, s)
	case "mut_pattern", "ref_pattern", "reference_pattern", "match_pattern", "parenthesized_pattern":
		for c := range r.children(n) {
			if r.kind(c) != "mutable_specifier" && r.fieldOf(c) != "condition" {
				r.bindPattern(c, of, s, again)
			}
		}
	case "captured_pattern":
		r.bindPattern(r.child(n, 0), of, s, again)
		r.bindPattern(r.child(n, 1), of, s, again)
	case "or_pattern":
		if again == nil {
			again = map[string]string{}
		}
		for c := range r.children(n) {
			r.bindPattern(c, of, s, again)
		}
	case "tuple_pattern":
		place := 0
		for c := range r.children(n) {
			if r.kind(c) == "remaining_field_pattern" {
				place = -1 << 20
			}
			path := unknown
			if place >= 0 && of != unknown {
				path = member(of, decimal(place))
			}
			r.bindPattern(c, path, s, again)
			place++
		}
	case "slice_pattern":
		for c := range r.children(n) {
			r.bindPattern(c, element(of, ""), s, again)
		}
	case "tuple_struct_pattern":
		typ := r.field(n, "type")
		name, place := r.text(r.lastName(typ)), 0
		if name != "Some" && name != "Ok" && name != "Err" {
			r.noteUse(typ, s)
		}
		for c := range r.children(n) {
			if r.fieldOf(c) == "type" {
				continue
			}
			if r.kind(c) == "remaining_field_pattern" {
				place = -1 << 20
			}
			path := unknown
			switch {
			case place < 0:
			case name == "Some" || name == "Ok":
				path = element(of, "")
			case name == "Err":
				if of != unknown {
					path = result(member(of, "unwrap_err"))
				}
			default:
				if up := r.pathText(typ, s); up != unknown {
					path = member(up, decimal(place))
				}
			}
			r.bindPattern(c, path, s, again)
			place++
		}
	case "struct_pattern":
		typ := r.field(n, "type")
		up := r.pathText(typ, s)
		if up != unknown {
			r.loads = append(r.loads, load{s.in, up, r.lastName(typ)})
		}
		for c := range r.children(n) {
			if r.kind(c) != "field_pattern" {
				continue
			}
			name := r.field(c, "name")
			path := unknown
			if up != unknown {
				path = member(up, r.text(name))
			}
			if p := r.field(c, "pattern"); p != none {
				r.bindPattern(p, path, s, again)
			} else {
				r.bindPattern(name, path, s, again)
			}
		}
	}
}

// bindTuple reads `let (a, b) = (x, y);`; false where the sides are not alike.
func (r *rustFile) bindTuple(pattern, value ref, s rustScope) bool {
	var parts, values []ref
	for c := range r.children(pattern) {
		parts = append(parts, c)
	}
	for c := range r.children(value) {
		values = append(values, c)
	}
	if len(parts) != len(values) || r.has(pattern, "remaining_field_pattern") {
		return false
	}
	paths := make([]string, len(values))
	for i, v := range values {
		if r.kind(parts[i]) == "identifier" {
			r.usesInside(v, r.text(parts[i]), s)
		}
		paths[i] = r.path(v, s)
		r.visit(v, s)
	}
	for i, p := range parts {
		r.bindPattern(p, paths[i], s, nil)
	}
	return true
}
