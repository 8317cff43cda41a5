package script

import "github.com/recountdb/recount/languages/extract"

// bindTarget binds the names of a pattern to a value, whose node may be none.
func (j *walker) bindTarget(target, value extract.Ref, path string, s state) {
	switch j.Kind(target) {
	case "identifier", "member_expression", "subscript_expression":
		if value == extract.None {
			j.bindPlain(j.path(target, s), path, "", target, s)
		} else {
			j.bindValue(j.path(target, s), value, "", target, s, 0)
		}
	case "shorthand_property_identifier_pattern", "shorthand_property_identifier":
		j.bindPlain(j.Text(target), propertyOf(path, j.Text(target)), "", target, s)
	case "object_pattern", "object":
		for c := range j.Children(target) {
			switch j.Kind(c) {
			case "pair_pattern", "pair":
				j.bindTarget(j.Field(c, "value"), extract.None, propertyOf(path, j.propertyName(j.Field(c, "key"))), s)
			case "rest_pattern":
				j.bindTarget(j.Child(c, 0), extract.None, path, s)
			default:
				j.bindTarget(c, extract.None, path, s)
			}
		}
	case "object_assignment_pattern", "assignment_pattern":
		j.bindTarget(j.Field(target, "left"), extract.None, path, s)
		left, def := j.Field(target, "left"), j.Field(target, "right")
		if k := j.Kind(left); k == "identifier" || k == "shorthand_property_identifier_pattern" {
			j.bindValue(j.Text(left), def, "", left, s, 0)
		}
		j.visit(def, s)
	case "array_pattern", "array":
		i, list := 0, j.listed(value)
		for c := j.First(target); c != extract.None; c = j.Next(c) {
			switch {
			case j.Kind(c) == ",":
				i++
			case j.Kind(c) == "rest_pattern":
				j.bindTarget(j.Child(c, 0), extract.None, path, s)
			case j.Named(c) && i < len(list):
				j.bindTarget(c, list[i], j.path(list[i], s), s)
			case j.Named(c):
				j.bindTarget(c, extract.None, extract.Element(path, extract.Decimal(i)), s)
			}
		}
	case "parenthesized_expression", "non_null_expression", "as_expression":
		j.bindTarget(j.Child(target, 0), value, path, s)
	}
}

// listed returns the elements of a list that is written out, which may be that of Promise.all. It returns nil if they are
// not all known.
func (j *walker) listed(value extract.Ref) (all []extract.Ref) {
	for k := j.Kind(value); k == "await_expression" || k == "parenthesized_expression"; k = j.Kind(value) {
		value = j.Child(value, 0)
	}
	if j.Kind(value) == "call_expression" && j.Text(j.Field(value, "function")) == "Promise.all" {
		value = j.Child(j.Field(value, "arguments"), 0)
	}
	if j.Kind(value) != "array" {
		return nil
	}
	for c := range j.Children(value) {
		if j.Kind(c) == "spread_element" {
			return nil
		}
		all = append(all, c)
	}
	return all
}

// propertyOf returns base.name; of an unknown base nothing is known.
func propertyOf(base, name string) string {
	if base == extract.Unknown {
		return extract.Unknown
	}
	return extract.Member(base, name)
}
