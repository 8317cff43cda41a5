package script

import (
	"github.com/recountdb/recount/languages/extract"
)

// An object is often given to a function before it gets a name:
//
//	export const Node = freeze<Factory>({ is(node) {…}, create() {…} })
//
// Its functions are members of the constant. Who names one of them on the constant means it, if the call
// returns what it is given, or something made of it.

// givenObject returns the object literal with functions that a value is, or that a call makes it of.
func (j *walker) givenObject(value extract.Ref) extract.Ref {
	for {
		value = j.unwrapped(value)
		if j.Kind(value) == "object" && j.hasFunctions(value) {
			return value
		}
		if j.Kind(value) != "call_expression" {
			return extract.None
		}
		value = j.Child(j.Field(value, "arguments"), 0)
	}
}

// sameObject returns what a value is without calls that return their first argument, and types.
func (j *walker) sameObject(value extract.Ref, s state) extract.Ref {
	for {
		inner := j.unwrapped(value)
		if j.Kind(inner) != "call_expression" {
			return inner
		}
		switch j.path(j.Field(inner, "function"), s) {
		case "Object.freeze", "Object.seal", "Object.preventExtensions":
			value = j.Child(j.Field(inner, "arguments"), 0)
		default:
			return inner
		}
	}
}

// literalThis returns what a member of `this` stands for in a function of an object literal without a name, if that is a name or a
// member of one: { meter: meter, read() { return this.meter.value() } }.
func (j *walker) literalThis(n extract.Ref, s state) string {
	if j.Kind(j.Field(n, "object")) != "this" || !s.noThis {
		return extract.Unknown
	}
	name := j.Text(j.Field(n, "property"))
	for c := range j.Children(s.this) {
		value := c
		if j.Kind(c) == "pair" && j.propertyName(j.Field(c, "key")) == name {
			value = j.Field(c, "value")
		} else if j.Kind(c) != "shorthand_property_identifier" || j.Text(c) != name {
			continue
		}
		switch j.Kind(value) {
		case "identifier", "member_expression", "shorthand_property_identifier":
			return j.path(value, s)
		}
	}
	return extract.Unknown
}

// hasFunctions reports whether a member of an object literal is a function.
func (j *walker) hasFunctions(object extract.Ref) bool {
	for c := range j.Children(object) {
		if j.Kind(c) == "method_definition" || j.isFunction(j.Field(c, "value")) {
			return true
		}
	}
	return false
}
