package rust

import (
	"strings"

	"github.com/recountdb/recount/languages/flow"
	"github.com/recountdb/recount/languages/scope"
)

// What methods of the standard library return, if it tells the type of a value of the repository.
// Names are enough: the receiver is a generic type outside the repository.
var (
	// copyMethods return a value like their receiver, whatever that is.
	copyMethods = scope.WordSet("clone to_owned borrow borrow_mut as_ref as_mut by_ref deref deref_mut default")
	// iteratorMethods return something that contains what their receiver contains.
	iteratorMethods = scope.WordSet(`iter iter_mut into_iter rev skip take step_by filter skip_while take_while inspect peekable
fuse chain cloned copied cycle collect sorted`)
	// sameMethods are other methods of containers that return a value like their receiver.
	sameMethods = scope.WordSet(`as_deref as_deref_mut or or_else as_slice as_mut_slice to_vec into_boxed_slice into_vec
flatten_ok get_or_insert_with split_off context with_context upgrade downgrade`)
	// heldMethods return what the receiver contains.
	heldMethods = scope.WordSet(`unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked get_unchecked
into_inner get_or_init remove swap_remove swap`)
	// optionMethods return an Option of what the receiver contains.
	optionMethods = scope.WordSet(`next next_back last nth get get_mut first first_mut last_mut peek peek_mut pop pop_front
pop_back front front_mut back back_mut find min max min_by max_by min_by_key max_by_key reduce ok take replace
recv try_recv`)
	// mappingMethods return their receiver's type containing what their function returns.
	mappingMethods = scope.WordSet(`map map_ok`)
	// flatteningMethods return what their function returns, which is like the receiver.
	flatteningMethods = scope.WordSet(`and_then flat_map filter_map find_map map_while`)
	makers            = scope.WordSet("new with_capacity default from from_iter")
)

func isMap(name string) bool {
	return name == "HashMap" || name == "BTreeMap" || name == "IndexMap"
}

// standard returns what a method of a generic type outside the repository returns.
func (p *items) standard(f *scope.Flow, here flow.Site, recv *scope.Value, name, callee string) scope.Set {
	one := func(v *scope.Value) scope.Set {
		if v == nil {
			return nil
		}
		return scope.Set{{Value: v, Sure: true}}
	}
	if recv.Kind != scope.GenericValue {
		return one(recv) // the method is in copyMethods or iteratorMethods
	}
	held := recv.More.Nth(0)
	if isMap(recv.Name) {
		key := held
		held = recv.More.Nth(1)
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
		return one(p.generic("Iterator", recv.More))
	case name == "enumerate":
		return one(p.generic("Iterator", p.list(p.generic("()", p.list(nil, held)))))
	case name == "zip":
		other := first(p.passed(f, here, callee, 0))
		return one(p.generic("Iterator", p.list(p.generic("()", p.list(held, first(p.holds(f, other)))))))
	case name == "unwrap_err" || name == "expect_err" || name == "into_err" || name == "err":
		return one(recv.More.Nth(1))
	case mappingMethods[name]:
		return one(p.generic(recv.Name, p.list(first(p.passed(f, here, callee, 0)), recv.More.Nth(1))))
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
			return one(p.generic(recv.Name, p.list(inner)))
		}
		return nil
	case name == "map_err":
		return one(p.generic("Result", p.list(held, first(p.passed(f, here, callee, 0)))))
	case name == "ok":
		return one(p.generic("Option", p.list(held)))
	case name == "ok_or" || name == "ok_or_else":
		return one(p.generic("Result", p.list(held, first(p.passed(f, here, callee, 0)))))
	case recv.Name == "Entry":
		return one(held)
	case name == "take" && (recv.Name == "Cell" || recv.Name == "RefCell"), name == "borrow" && recv.Name == "RefCell",
		name == "borrow" && recv.Name == "Borrow", name == "as_ref" && recv.Name == "AsRef", name == "into" && recv.Name == "Into",
		name == "borrow_mut" && recv.Name == "RefCell", name == "get" && recv.Name == "Cell", name == "force":
		return one(held)
	case recv.Name == "Mutex" || recv.Name == "RwLock":
		if name == "into_inner" || name == "get_mut" || strings.HasSuffix(name, "lock") || name == "read" || name == "write" {
			return one(p.generic("Result", p.list(held)))
		}
		return nil
	case name == "take" && (recv.Name == "Option"), name == "replace" && recv.Name == "Option":
		return one(recv)
	case heldMethods[name]:
		return one(held)
	case copyMethods[name] || iteratorMethods[name] || sameMethods[name]:
		if recv.Name == "LazyLock" || recv.Name == "Lazy" || recv.Name == "OnceCell" {
			return one(held)
		}
		return one(recv)
	case optionMethods[name]:
		return one(p.generic("Option", p.list(held)))
	}
	return nil
}

// holds returns what a value contains: what a loop over it, the operator ? or an index gives.
func (p *items) holds(f *scope.Flow, v *scope.Value) scope.Set {
	if v == nil {
		return nil
	}
	switch v.Kind {
	case scope.GenericValue:
		held := v.More.Nth(0)
		if isMap(v.Name) {
			held = p.generic("()", v.More)
		}
		if v.Name == "()" || held == nil {
			return nil
		}
		return scope.Set{{Value: held, Sure: true}}
	case scope.InstanceValue:
		if p.Depth > scope.MaxDepth {
			return nil
		}
		p.Depth++
		defer func() { p.Depth-- }()
		for _, name := range []string{"next", "into_iter", "index"} {
			for _, m := range p.typeMember(v.Decl, v, name) {
				if m.Value.Decl == nil || !m.Value.Decl.IsFunction() {
					continue
				}
				d := m.Value.Decl
				results := p.known(p.typed(d.Outer, d.Type), v)
				if name == "index" {
					return results
				}
				var out scope.Set
				for _, r := range results {
					if r.Value != v {
						for _, h := range p.holds(f, r.Value) {
							out = out.With(h.Value, true)
						}
					}
				}
				return out
			}
		}
	}
	return nil
}

// constructs returns what calling a name outside the repository returns.
func (p *items) constructs(f *scope.Flow, here flow.Site, v *scope.Value, callee string) scope.Set {
	on, name := "", v.Name
	if i := strings.LastIndexByte(name, '.'); i >= 0 {
		on, name = name[:i], name[i+1:]
	}
	on = on[strings.LastIndexByte(on, '.')+1:]
	passed := func() *scope.Value { return first(p.passed(f, here, callee, 0)) }
	switch {
	case name == "Some":
		return scope.Set{{Value: p.generic("Option", p.list(passed())), Sure: true}}
	case name == "Ok":
		return scope.Set{{Value: p.generic("Result", p.list(passed())), Sure: true}}
	case name == "Err":
		return scope.Set{{Value: p.generic("Result", p.list(nil, passed())), Sure: true}}
	case on == "Mutex" || on == "RwLock" || on == "RefCell" || on == "Cell" || on == "OnceCell":
		return scope.Set{{Value: p.generic(on, p.list(passed())), Sure: true}}
	case holdersOf[on] && makers[name]:
		return scope.Set{{Value: p.generic(on, nil), Sure: true}}
	case pointers[on] && makers[name]:
		if inner := passed(); inner != nil {
			return scope.Set{{Value: inner, Sure: true}}
		}
	case makers[name] && on != "" && on[0] >= 'A' && on[0] <= 'Z': // by convention it returns an instance of the type
		return scope.Set{{Value: p.External(v.Pkg, v.Name[:len(v.Name)-len(name)-1]), Sure: true}}
	}
	return nil
}
