package scope

import (
	"maps"
	"slices"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// protocol makes the calls that a binding's value implies: of __iter__ and __next__
// by a loop, __getitem__ by an index, __enter__ and __exit__ by with. An index that
// is not known and a loop are written alike; a class that has both methods gets
// neither.
func (l *flowLinker) protocol(b *recountv1.Binding) {
	of := l.m.path(b.Value)
	here := at{l.m.scopeOf(b.In), b.In}
	for i, st := range of.steps {
		if st.op != '[' && st.name != "__enter__" && st.name != "__aenter__" {
			continue
		}
		owner := path{text: of.text[:st.at], head: of.head, steps: of.steps[:i]}
		byName := map[string]set{}
		for _, m := range l.e.eval(nil, here, owner) {
			if m.value.kind == instanceValue {
				for _, name := range implied(m.value.decl, st) {
					byName[name] = append(byName[name], m)
				}
			}
		}
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			l.method(b, byName[name], name)
		}
	}
}

// implied are the methods of a class that a step calls.
func implied(class *decl, st step) []string {
	has := func(name string) bool {
		v, _, sure := classAttribute(class.order, name)
		return v != nil && sure
	}
	switch {
	case st.name == "__enter__" && st.op == '.':
		return []string{"__enter__", "__exit__"}
	case st.name == "__aenter__" && st.op == '.':
		return []string{"__aenter__", "__aexit__"}
	case has("__getitem__") && (st.name != "" || !has("__iter__")):
		return []string{"__getitem__"}
	case st.name == "" && has("__iter__") && !has("__getitem__"):
		return []string{"__iter__"}
	}
	return nil
}

// method makes the calls of instances' method, and of __next__ of what __iter__ gives.
func (l *flowLinker) method(b *recountv1.Binding, of set, name string) {
	var t targets
	var iterators set
	for _, m := range of {
		for _, f := range l.e.attribute(nil, m.value, name) {
			if f.value.kind != boundValue || f.value.decl == nil {
				continue
			}
			l.callee(&t, f.value, m.sure && f.sure)
			if name != "__iter__" {
				continue
			}
			for _, it := range l.e.result(nil, f.value, arguments{}) {
				if it.value.kind == instanceValue {
					iterators = iterators.with(it.value, it.sure && m.sure && f.sure)
				}
			}
		}
	}
	l.emit(b.In, b.At, &t)
	if len(iterators) > 0 {
		l.method(b, iterators, "__next__")
	}
}
