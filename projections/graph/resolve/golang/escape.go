package golang

import "strings"

// escaped is the arrival of an object outside: its functions may be called from
// there, with whatever else is there and is of their parameters' types.
func (v *solver) escaped(object int32) {
	if v.isFunction(object) {
		if fn := v.function(object); fn != nil {
			if node, ok := v.bySig[fn.sig]; ok {
				v.put(node, object)
			}
		}
		v.callback(object)
		return
	}
	t := v.methodsOf(object)
	for _, m := range t.all {
		for _, n := range v.byMethod[m.text] {
			if t.satisfies(&v.asked[n]) {
				v.put(v.active[n], object)
			}
		}
	}
	for _, m := range t.all {
		if m.object != none {
			v.callback(m.object)
		}
	}
}

// satisfies reports whether a type has the methods that are asked for.
func (t *typeMethods) satisfies(a *ask) bool {
	for _, text := range a.methods {
		name, _, _ := strings.Cut(text, " ")
		if m := t.byName[name]; m == nil || m.text != text {
			return false
		}
	}
	return true
}

// callback lets the outside call a function.
func (v *solver) callback(object int32) {
	fn := v.function(object)
	if fn == nil || v.called[object] {
		return
	}
	v.called[object] = true
	f := v.funcs[object]
	for i, p := range fn.params {
		if n := f.in.asks[f.i][i]; p != none && n != none {
			v.copy(v.asking(n), f.in.at(p))
		}
	}
	for _, r := range fn.results {
		v.copy(f.in.at(r), outsideNode)
	}
}

// asking is the node of everything outside that satisfies what a parameter asks for.
func (v *solver) asking(n int32) int32 {
	if node, ok := v.active[n]; ok {
		return node
	}
	node := int32(len(v.nodes))
	v.nodes = append(v.nodes, held{})
	v.active[n] = node
	a := &v.asked[n]
	if a.function {
		v.bySig[a.sig] = node
	} else {
		v.byMethod[a.methods[0]] = append(v.byMethod[a.methods[0]], n)
	}
	for _, o := range v.nodes[outsideNode].objects {
		if v.isFunction(o) == a.function && (a.function && v.hasSignature(o, a.sig) || !a.function && v.methodsOf(o).satisfies(a)) {
			v.put(node, o)
		}
	}
	return node
}

func (v *solver) hasSignature(object int32, sig string) bool {
	fn := v.function(object)
	return fn != nil && fn.sig == sig
}
