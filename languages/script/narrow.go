package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
)

// narrowed returns the state below a condition: a name of which it says `x instanceof Type` stands for an instance of
// Type, unless what is below gives the name something else.
func (j *walker) narrowed(condition, below extract.Ref, s state) state {
	switch condition = j.unwrapped(condition); {
	case j.Kind(condition) != "binary_expression":
	case j.Text(j.Field(condition, "operator")) == "&&":
		return j.narrowed(j.Field(condition, "right"), below, j.narrowed(j.Field(condition, "left"), below, s))
	case j.Text(j.Field(condition, "operator")) == "instanceof":
		of, class := j.Field(condition, "left"), j.path(j.Field(condition, "right"), s)
		if name := j.Text(of); j.Kind(of) == "identifier" && isClassName(lastOf(class)) && !globals[class] && !j.names(below, name) {
			s.shadows = &extract.Shadow{Name: name, Is: extract.Result(class), Up: s.shadows}
		}
	}
	return s
}

// names reports whether code declares or sets a variable of a name.
func (j *walker) names(n extract.Ref, name string) bool {
	target := extract.None
	switch k := j.Kind(n); {
	case k == "assignment_expression" || k == "augmented_assignment_expression" || k == "for_in_statement":
		target = j.Field(n, "left")
	case k == "variable_declarator":
		target = j.Field(n, "name")
	case k == "formal_parameters" || k == "catch_clause" || strings.HasSuffix(k, "_pattern"):
		target = n
	case k == "arrow_function" && j.Text(j.Field(n, "parameter")) == name:
		return true
	}
	if target != extract.None && j.mentions(target, name) {
		return true
	}
	for c := range j.Children(n) {
		if j.names(c, name) {
			return true
		}
	}
	return false
}

// mentions reports whether a name stands in code.
func (j *walker) mentions(n extract.Ref, name string) bool {
	if k := j.Kind(n); (k == "identifier" || k == "shorthand_property_identifier_pattern") && j.Text(n) == name {
		return true
	}
	for c := range j.Children(n) {
		if j.mentions(c, name) {
			return true
		}
	}
	return false
}
