package extract

// Round has what the names of loops stand for in one round of them.
type Round map[string]Ref

// maxRounds limits the rounds of the loops around one node.
const maxRounds = 256

// Rounds returns the rounds of the loops around a node, from the outermost names to the innermost; one
// without names if no loop is around it. elements returns the target of a loop whose body a node is and
// the elements of its list, none if it is no loop or its list is not known; stand makes the names of a
// target stand for an element.
func (t *Tree) Rounds(n Ref, elements func(loop, body Ref) (target Ref, all []Ref), stand func(target, element Ref, in Round)) []Round {
	all := []Round{nil}
	for at, up := n, t.Parent(n); up != None; at, up = up, t.Parent(up) {
		target, list := elements(up, at)
		if len(list) == 0 || len(all)*len(list) > maxRounds {
			continue
		}
		more := make([]Round, 0, len(all)*len(list))
		for _, inner := range all {
			for _, e := range list {
				in := Round{}
				stand(target, e, in)
				for name, is := range inner { // an inner loop's names hide those of outer ones
					in[name] = is
				}
				more = append(more, in)
			}
		}
		all = more
	}
	return all
}

// SetOnceIn returns a function that returns the value of a name at a node: what one node sets it to in the innermost
// function around it that sets it, or outside of functions. It is None for a name that several nodes of that function
// set. setting is as in SetOnce; isFunction reports whether a node is a function.
func (t *Tree) SetOnceIn(setting func(n Ref) (name string, value Ref), isFunction func(n Ref) bool) func(at Ref, name string) Ref {
	type key struct {
		in   Ref
		name string
	}
	var values map[key]Ref
	function := func(n Ref) Ref {
		for n = t.Parent(n); n != None && !isFunction(n); n = t.Parent(n) {
		}
		return n
	}
	return func(at Ref, name string) Ref {
		if values == nil {
			values = map[key]Ref{}
			for i := range t.Nodes {
				if name, value := setting(Ref(i)); name != "" {
					of := key{function(Ref(i)), name}
					if _, twice := values[of]; twice {
						value = None
					}
					values[of] = value
				}
			}
		}
		for in := at; in != None; {
			in = function(in)
			if is, ok := values[key{in, name}]; ok {
				return is
			}
		}
		return None
	}
}

// SetOnce returns a function that returns the value of a name that one node of the tree sets, None for
// other names. setting returns the name that a node sets and its value, an empty name if it sets none;
// it is called for every node when a value is first asked for.
func (t *Tree) SetOnce(setting func(n Ref) (name string, value Ref)) func(name string) Ref {
	var values map[string]Ref
	return func(name string) Ref {
		if values == nil {
			values = map[string]Ref{}
			for i := range t.Nodes {
				if name, value := setting(Ref(i)); name != "" {
					if _, twice := values[name]; twice {
						value = None
					}
					values[name] = value
				}
			}
		}
		if is, ok := values[name]; ok {
			return is
		}
		return None
	}
}
