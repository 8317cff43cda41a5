package flow

import (
	"maps"
	"slices"

	"github.com/recountdb/recount/languages/scope"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// protocol makes the calls that the value of a binding implies: of __iter__ and __next__ by a
// loop, of __getitem__ by an index, of __enter__ and __exit__ by a with statement. A loop and an
// unknown index are written alike, so a class with both methods gets neither call.
func (l *Linker) protocol(b *recountv1.Binding) {
	of := l.Module.Path(b.Value)
	here := Site{l.Module.ScopeOf(b.In), b.In}
	for i, st := range of.Steps {
		if st.Op != '[' && st.Name != "__enter__" && st.Name != "__aenter__" {
			continue
		}
		owner := scope.Path{Text: of.Text[:st.At], Head: of.Head, Steps: of.Steps[:i]}
		byName := map[string]scope.Set{}
		for _, m := range l.e.Eval(nil, here, owner) {
			if m.Value.Kind == scope.InstanceValue {
				for _, name := range impliedCalls(m.Value.Decl, st) {
					byName[name] = append(byName[name], m)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			l.method(b, byName[name], name)
		}
	}
}

// impliedCalls returns the methods of a class that a step calls.
func impliedCalls(class *scope.Decl, st scope.Step) []string {
	has := func(name string) bool {
		v, _, sure := scope.ClassAttribute(class.Order, name)
		return v != nil && sure
	}
	switch {
	case st.Name == "__enter__" && st.Op == '.':
		return []string{"__enter__", "__exit__"}
	case st.Name == "__aenter__" && st.Op == '.':
		return []string{"__aenter__", "__aexit__"}
	case has("__getitem__") && (st.Name != "" || !has("__iter__")):
		return []string{"__getitem__"}
	case st.Name == "" && has("__iter__") && !has("__getitem__"):
		return []string{"__iter__"}
	}
	return nil
}

// method makes the calls of a method of instances, and of __next__ on what __iter__ returns.
func (l *Linker) method(b *recountv1.Binding, of scope.Set, name string) {
	var t scope.Targets
	var iterators scope.Set
	for _, m := range of {
		for _, f := range l.e.attribute(nil, m.Value, name) {
			if f.Value.Kind != scope.BoundValue || f.Value.Decl == nil {
				continue
			}
			l.callee(&t, f.Value, m.Sure && f.Sure)
			if name != "__iter__" {
				continue
			}
			for _, it := range l.e.result(nil, f.Value, Arguments{}) {
				if it.Value.Kind == scope.InstanceValue {
					iterators = iterators.With(it.Value, it.Sure && m.Sure && f.Sure)
				}
			}
		}
	}
	l.Emit(b.In, b.At, &t)
	if len(iterators) > 0 {
		l.method(b, iterators, "__next__")
	}
}
