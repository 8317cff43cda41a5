package scope

import "strings"

// What methods of the standard library give, as far as it says what a value of the
// repository is. The names are enough: a receiver is a generic type of elsewhere.
var (
	// copyMethods give a value like their receiver, whatever that is.
	copyMethods = wordSet("clone to_owned borrow borrow_mut as_ref as_mut by_ref deref deref_mut default")
	// iteratorMethods give something that holds what their receiver holds.
	iteratorMethods = wordSet(`iter iter_mut into_iter rev skip take step_by filter skip_while take_while inspect peekable
fuse chain cloned copied cycle collect sorted`)
	// sameMethods are others of what holds things that give a value like their receiver.
	sameMethods = wordSet(`as_deref as_deref_mut or or_else as_slice as_mut_slice to_vec into_boxed_slice into_vec
flatten_ok get_or_insert_with split_off context with_context upgrade downgrade`)
	// heldMethods give what the receiver holds.
	heldMethods = wordSet(`unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked get_unchecked
into_inner get_or_init remove swap_remove swap`)
	// optionMethods give an Option of what the receiver holds.
	optionMethods = wordSet(`next next_back last nth get get_mut first first_mut last_mut peek peek_mut pop pop_front
pop_back front front_mut back back_mut find min max min_by max_by min_by_key max_by_key reduce ok take replace
recv try_recv`)
	// mappingMethods give their receiver with what their function returns.
	mappingMethods = wordSet(`map map_ok`)
	// flatteningMethods give what their function returns, which is like the receiver.
	flatteningMethods = wordSet(`and_then flat_map filter_map find_map map_while`)
	makers            = wordSet("new with_capacity default from from_iter")
)

func isMap(name string) bool {
	return name == "HashMap" || name == "BTreeMap" || name == "IndexMap"
}

// standard is what a method of a generic type of elsewhere gives.
func (p *items) standard(f *flow, here at, recv *value, name, callee string) set {
	one := func(v *value) set {
		if v == nil {
			return nil
		}
		return set{{v, true}}
	}
	if recv.kind != genericValue {
		return one(recv) // copyMethods, or iteratorMethods
	}
	held := recv.more.nth(0)
	if isMap(recv.name) {
		key := held
		held = recv.more.nth(1)
		switch name {
		case "keys", "into_keys":
			return one(p.generic("Iterator", p.list(key)))
		case "values", "values_mut", "into_values", "drain":
			return one(p.generic("Iterator", p.list(held)))
		case "iter", "iter_mut", "into_iter":
			return one(p.generic("Iterator", p.list(p.generic("()", p.list(key, held)))))
		case "entry":
			return one(p.generic("Entry", p.list(held)))
		}
	}
	switch {
	case name == "iter" || name == "iter_mut" || name == "into_iter" || name == "drain":
		return one(p.generic("Iterator", recv.more))
	case name == "enumerate":
		return one(p.generic("Iterator", p.list(p.generic("()", p.list(nil, held)))))
	case name == "zip":
		other := first(p.passed(f, here, callee, 0))
		return one(p.generic("Iterator", p.list(p.generic("()", p.list(held, first(p.holds(f, other)))))))
	case name == "unwrap_err" || name == "expect_err" || name == "into_err" || name == "err":
		return one(recv.more.nth(1))
	case mappingMethods[name]:
		return one(p.generic(recv.name, p.list(first(p.passed(f, here, callee, 0)), recv.more.nth(1))))
	case name == "map_or" || name == "map_or_else":
		return p.passed(f, here, callee, 1)
	case flatteningMethods[name]:
		inner := first(p.passed(f, here, callee, 0))
		if name == "and_then" {
			return one(inner)
		}
		if inner = first(p.holds(f, inner)); inner == nil {
			return nil
		}
		if name == "find_map" {
			return one(p.generic("Option", p.list(inner)))
		}
		return one(p.generic("Iterator", p.list(inner)))
	case name == "flatten":
		if inner := first(p.holds(f, held)); inner != nil {
			return one(p.generic(recv.name, p.list(inner)))
		}
		return nil
	case name == "map_err":
		return one(p.generic("Result", p.list(held, first(p.passed(f, here, callee, 0)))))
	case name == "ok":
		return one(p.generic("Option", p.list(held)))
	case name == "ok_or" || name == "ok_or_else":
		return one(p.generic("Result", p.list(held, first(p.passed(f, here, callee, 0)))))
	case recv.name == "Entry":
		return one(held)
	case name == "take" && (recv.name == "Cell" || recv.name == "RefCell"), name == "borrow" && recv.name == "RefCell",
		name == "borrow_mut" && recv.name == "RefCell", name == "get" && recv.name == "Cell", name == "force":
		return one(held)
	case recv.name == "Mutex" || recv.name == "RwLock":
		if name == "into_inner" || name == "get_mut" || strings.HasSuffix(name, "lock") || name == "read" || name == "write" {
			return one(p.generic("Result", p.list(held)))
		}
		return nil
	case name == "take" && (recv.name == "Option"), name == "replace" && recv.name == "Option":
		return one(recv)
	case heldMethods[name]:
		return one(held)
	case copyMethods[name] || iteratorMethods[name] || sameMethods[name]:
		if recv.name == "LazyLock" || recv.name == "Lazy" || recv.name == "OnceCell" {
			return one(held)
		}
		return one(recv)
	case optionMethods[name]:
		return one(p.generic("Option", p.list(held)))
	}
	return nil
}

// holds is what a value holds: of a loop over it, of ? and of an index.
func (p *items) holds(f *flow, v *value) set {
	if v == nil {
		return nil
	}
	switch v.kind {
	case genericValue:
		held := v.more.nth(0)
		if isMap(v.name) {
			held = p.generic("()", v.more)
		}
		if v.name == "()" || held == nil {
			return nil
		}
		return set{{held, true}}
	case instanceValue:
		if p.depth > maxDepth {
			return nil
		}
		p.depth++
		defer func() { p.depth-- }()
		for _, name := range []string{"next", "into_iter", "index"} {
			for _, m := range p.typeMember(v.decl, v, name) {
				if m.value.decl == nil || !m.value.decl.isFunction() {
					continue
				}
				d := m.value.decl
				results := p.known(p.typed(d.outer, d.Type), v)
				if name == "index" {
					return results
				}
				var out set
				for _, r := range results {
					if r.value != v {
						for _, h := range p.holds(f, r.value) {
							out = out.with(h.value, true)
						}
					}
				}
				return out
			}
		}
	}
	return nil
}

// constructs is what calling something of elsewhere gives.
func (p *items) constructs(f *flow, here at, v *value, callee string) set {
	on, name := "", v.name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		on, name = name[:i], name[i+1:]
	}
	on = on[strings.LastIndexByte(on, '.')+1:]
	passed := func() *value { return first(p.passed(f, here, callee, 0)) }
	switch {
	case name == "Some":
		return set{{p.generic("Option", p.list(passed())), true}}
	case name == "Ok":
		return set{{p.generic("Result", p.list(passed())), true}}
	case name == "Err":
		return set{{p.generic("Result", p.list(nil, passed())), true}}
	case on == "Mutex" || on == "RwLock" || on == "RefCell" || on == "Cell" || on == "OnceCell":
		return set{{p.generic(on, p.list(passed())), true}}
	case holdersOf[on] && makers[name]:
		return set{{p.generic(on, nil), true}}
	case pointers[on] && makers[name]:
		if inner := passed(); inner != nil {
			return set{{inner, true}}
		}
	case makers[name] && on != "" && on[0] >= 'A' && on[0] <= 'Z': // by convention one of them
		return set{{p.external(v.pkg, v.name[:len(v.name)-len(name)-1]), true}}
	}
	return nil
}
