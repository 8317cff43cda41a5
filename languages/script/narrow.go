package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
)

// narrowed returns the state below a condition: a name of which it says `x instanceof Type` stands for an instance of
// Type, unless what is below gives the name something else.
func (j *walker) narrowed(condition, below extract.Ref, s state) state {
	switch condition = j.unwrapped(condition); {
	case j.Kind(condition) == "call_expression":
		guard, of := j.path(j.Field(condition, "function"), s), j.Child(j.Field(condition, "arguments"), 0)
		if name := j.Text(of); j.Kind(of) == "identifier" && isGuard(lastOf(guard)) && !j.names(below, name) {
			s.shadows = &extract.Shadow{Name: name, Is: narrowedBy(s.shadows.Path(name), scope.Guarded, guard), Up: s.shadows}
		}
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

// isGuard reports whether a function tells by its name of what type its argument is: isNode(x).
func isGuard(name string) bool {
	return len(name) > 2 && strings.HasPrefix(name, "is") && name[2] >= 'A' && name[2] <= 'Z'
}

// narrowedBy returns the path of a value that code says to be of a type. Nothing is changed if the path would not be one.
func narrowedBy(path, how, of string) string {
	of = strings.NewReplacer("[", "{", "]", "}").Replace(of)
	if of == "" || strings.ContainsAny(of, "()?\"") || strings.Contains(of, "{<") {
		return path
	}
	return path + "[" + how + of + "]"
}

// after returns the state behind a statement of a block: if a condition says that a value is not of a type and the block is
// left below it, the value is of that type.
func (j *walker) after(statement, block extract.Ref, s state) state {
	if j.Kind(statement) != "if_statement" || j.Field(statement, "alternative") != extract.None || !j.leaves(j.Field(statement, "consequence")) {
		return s
	}
	return j.otherwise(j.Field(statement, "condition"), block, s)
}

// otherwise returns the state where a condition does not hold.
func (j *walker) otherwise(condition, below extract.Ref, s state) state {
	condition = j.unwrapped(condition)
	switch operator := j.Text(j.Field(condition, "operator")); {
	case j.Kind(condition) == "unary_expression" && operator == "!":
		return j.narrowed(j.Field(condition, "argument"), below, s)
	case j.Kind(condition) == "binary_expression" && operator == "||":
		return j.otherwise(j.Field(condition, "right"), below, j.otherwise(j.Field(condition, "left"), below, s))
	}
	return s
}

// leaves reports whether a statement leaves the block around it.
func (j *walker) leaves(n extract.Ref) bool {
	switch j.Kind(n) {
	case "return_statement", "throw_statement", "continue_statement", "break_statement":
		return true
	case "statement_block":
		last := extract.None
		for c := range j.Children(n) {
			last = c
		}
		return last != extract.None && j.leaves(last)
	}
	return false
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
