package golang

// escaped handles an object that reaches code outside: its functions may be called from
// there, with any other escaped values of their parameters' types.
func (v *solver) escaped(object int32) {
	if v.isFunction(object) {
		if in, fn := v.function(object); in != nil {
			if node, ok := v.bySig[fn.sig]; ok {
				v.put(node, object)
			}
		}
		v.callback(object)
		return
	}
	t := v.methodsOf(object)
	for i := range t.byName {
		m := &t.byName[i]
		for _, n := range v.byMethod[m.text] {
			if t.satisfies(&v.asked[n]) {
				v.put(v.active[n], object)
			}
		}
	}
	for i := range t.byName {
		if m := &t.byName[i]; m.object != none {
			v.callback(m.object)
		}
	}
}

// callback records that outside code may call a function.
func (v *solver) callback(object int32) {
	in, fn := v.function(object)
	if in == nil || v.called[object] {
		return
	}
	v.called[object] = true
	for i, p := range fn.params {
		if n := fn.asks[i]; p != none && n != none {
			v.copy(v.escapedValuesFor(n), in.nodeOf(p))
		}
	}
	for _, r := range fn.results {
		v.copy(in.nodeOf(r), outsideNode)
	}
}

// escapedValuesFor returns the node for all escaped values that satisfy a parameter's type.
func (v *solver) escapedValuesFor(n int32) int32 {
	if node := v.active[n]; node != 0 {
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

func (v *solver) hasSignature(object, sig int32) bool {
	in, fn := v.function(object)
	return in != nil && fn.sig == sig
}
