package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Objects get the members of others by calls, and prototypes so get their methods:
//
//	Object.assign(Type.prototype, methods, { also() {…} });
//	[events, style].forEach(props => extend(proto, props));
//
// The members of objects that are written out are declared (injects), others are bound: Type.prototype[+] = methods. Of
// what further objects with unknown members may replace, it is only known that it may be a member: [+?].

// mixes binds what a call mixes into its first argument, once for each round of the loops around it.
func (j *walker) mixes(n extract.Ref, path string, args extract.Ref, s state) {
	_, method := extract.SplitLast(path)
	first := j.Child(args, 0)
	if !mergers[extract.FirstOf(method, path)] || j.Child(args, 1) == extract.None || !isTarget(j.path(first, s)) {
		return
	}
	for _, j.round = range j.rounds(n) {
		index, replaced := "[+]", false
		var sources []extract.Ref
		for c := range j.Children(args) {
			if c != first {
				sources = append(sources, c)
			}
		}
		for i := len(sources) - 1; i >= 0; i-- {
			source := j.unwrapped(j.meant(sources[i]))
			if of := j.path(source, s); isTarget(of) {
				if replaced {
					index = "[+?]"
				}
				j.Bind(s.in, extract.Checked(j.path(first, s)+index), of, "", sources[i])
				replaced = replaced || s.in != 0 && j.Hidden(s.in, extract.Root(of))
			} else if j.Kind(source) != "object" {
				replaced = true
			}
		}
	}
	j.round = nil
}

// isTarget reports whether a path has names only.
func isTarget(path string) bool {
	return extract.IsDotted(strings.ReplaceAll(path, "$", "_")) && path != "undefined"
}

// objectOf returns the variable of the module by the name of an object, if its value is an object literal or a prototype;
// 0 otherwise.
func (j *walker) objectOf(name string, s state) uint32 {
	in := j.variableOf(name, s)
	if in == 0 {
		return 0
	}
	value := j.unwrapped(j.setOnce(name))
	for j.Kind(value) == "assignment_expression" {
		value = j.unwrapped(j.Field(value, "right"))
	}
	if j.Kind(value) == "object" || strings.HasSuffix(j.path(value, s), ".prototype") || j.path(value, s) == "Object.create()" {
		return in
	}
	return 0
}

// variableOf returns the variable of the module that a name means, 0 if it means something else.
func (j *walker) variableOf(name string, s state) uint32 {
	if !extract.IsName(strings.ReplaceAll(name, "$", "_")) || s.in != 0 && j.Hidden(s.in, name) {
		return 0
	}
	in := j.declaredAs(name, 0)
	if d := j.Decl(in); d == nil || d.Kind != recountv1.SymbolKind_SYMBOL_KIND_VARIABLE && d.Kind != recountv1.SymbolKind_SYMBOL_KIND_CONSTANT {
		return 0
	}
	return in
}

// ownedBy returns the variable of the module to which an assignment outside of functions gives an object literal with functions, 0 if
// it does something else.
func (j *walker) ownedBy(n extract.Ref, s state) uint32 {
	left, right := j.Field(n, "left"), j.Field(n, "right")
	if s.in != 0 || s.function || j.Kind(left) != "identifier" || j.givenObject(right) == extract.None {
		return 0
	}
	return j.variableOf(j.path(left, s), s)
}
