package golang

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/projections/graph/resolve"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// solver follows objects along the constraints of all packages to the calls that
// they decide. What tests put in is followed after everything else: calls outside
// tests do not arrive at a test's fakes.
type solver struct {
	nodes   map[string]int32 // the shared ones
	ids     map[string]int32 // of objects
	objects []string
	types   map[string]map[string]method // by type's text and method's name
	funcs   map[string]*solvedFunction

	next  [][]int32 // copies, by node
	holds [][]int32 // objects, by node
	has   map[uint64]struct{}
	calls [][]*solvedSite // by the node that decides
	binds [][]solvedBind
	todo  []uint64 // node, object

	outside   int32
	callbacks []callback
	called    map[int32]bool // objects that the outside calls
	satisfied map[asking]bool
}

type (
	solvedFunction struct {
		function
		offset func(int32) int32
	}
	solvedSite struct {
		site
		found []schemas.NodeKey
	}
	solvedBind struct {
		method string
		to     int32
	}
	// callback is a parameter of a function that the outside may call.
	callback struct {
		node int32
		asks string
	}
	asking struct {
		object int32
		asks   string
	}
)

// mayCalls makes the edges of calls through interfaces and function values.
func (s *step) mayCalls(yield func(resolve.Edge)) {
	v := &solver{
		nodes: map[string]int32{}, ids: map[string]int32{}, types: map[string]map[string]method{}, funcs: map[string]*solvedFunction{},
		has: map[uint64]struct{}{}, called: map[int32]bool{}, satisfied: map[asking]bool{},
	}
	v.outside = v.node(outside)
	for f := range s.facts() {
		for i := range f.types {
			v.addType(&f.types[i])
		}
	}
	for _, tests := range []bool{false, true} {
		var sites []*solvedSite
		for f := range s.facts() {
			if f.test == tests {
				sites = append(sites, v.add(f.flow)...)
			}
		}
		v.solve()
		for _, c := range sites {
			c.emit(yield)
		}
	}
}

func (c *solvedSite) emit(yield func(resolve.Edge)) {
	slices.Sort(c.found)
	for _, to := range slices.Compact(c.found) {
		if to != c.from {
			yield(resolve.Edge{From: c.from, To: to, Kind: mayCall, Edge: resolve.EdgeAt(recountv1.Provenance_PROVENANCE_FLOW, c.at)})
		}
	}
	c.found = nil
}

func (v *solver) addType(t *methods) {
	if v.types[t.name] == nil {
		v.types[t.name] = map[string]method{}
	}
	for _, m := range t.all {
		name, _, _ := strings.Cut(m.text, " ")
		v.types[t.name][name] = m
	}
}

func (v *solver) node(name string) int32 {
	n, ok := v.nodes[name]
	if !ok || name == "" {
		n = int32(len(v.next))
		v.next, v.holds = append(v.next, nil), append(v.holds, nil)
		v.calls, v.binds = append(v.calls, nil), append(v.binds, nil)
		if name != "" {
			v.nodes[name] = n
		}
	}
	return n
}

func (v *solver) object(name string) int32 {
	o, ok := v.ids[name]
	if !ok {
		o = int32(len(v.objects))
		v.objects = append(v.objects, name)
		v.ids[name] = o
	}
	return o
}

// add takes in the constraints of a file.
func (v *solver) add(f *flow) []*solvedSite {
	at := make([]int32, len(f.names))
	for i, name := range f.names {
		at[i] = v.node(name)
	}
	offset := func(n int32) int32 {
		if n == none {
			return none
		}
		return at[n]
	}
	for _, fn := range f.funcs {
		v.funcs[fn.object] = &solvedFunction{fn, offset}
	}
	for _, c := range f.copies {
		v.copy(at[c.from], at[c.to])
	}
	var sites []*solvedSite
	for _, c := range f.sites {
		c.args, c.results = each(c.args, offset), each(c.results, offset)
		c.callee = at[c.callee]
		solved := &solvedSite{site: c}
		sites = append(sites, solved)
		v.calls[c.callee] = append(v.calls[c.callee], solved)
		for _, o := range v.holds[c.callee] {
			v.dispatch(solved, o)
		}
		if c.foreign {
			for _, a := range c.args {
				v.copy(a, v.outside)
			}
		}
	}
	for _, b := range f.binds {
		if b.recv != none {
			bound := solvedBind{b.method, at[b.to]}
			v.binds[at[b.recv]] = append(v.binds[at[b.recv]], bound)
			for _, o := range v.holds[at[b.recv]] {
				v.bind(bound, o)
			}
		}
	}
	for _, s := range f.seeds {
		v.put(at[s.node], v.object(f.objects[s.object]))
	}
	return sites
}

func each(nodes []int32, offset func(int32) int32) []int32 {
	moved := make([]int32, len(nodes))
	for i, n := range nodes {
		moved[i] = offset(n)
	}
	return moved
}

// copy lets what is at one node reach another.
func (v *solver) copy(from, to int32) {
	if from == none || to == none || from == to || slices.Contains(v.next[from], to) {
		return
	}
	v.next[from] = append(v.next[from], to)
	for _, o := range v.holds[from] {
		v.put(to, o)
	}
}

func (v *solver) put(node, object int32) {
	id := uint64(node)<<32 | uint64(object)
	if _, ok := v.has[id]; ok {
		return
	}
	v.has[id] = struct{}{}
	v.holds[node] = append(v.holds[node], object)
	v.todo = append(v.todo, id)
}

func (v *solver) solve() {
	for len(v.todo) > 0 {
		id := v.todo[len(v.todo)-1]
		v.todo = v.todo[:len(v.todo)-1]
		node, object := int32(id>>32), int32(id)
		for _, to := range v.next[node] {
			v.put(to, object)
		}
		for _, c := range v.calls[node] {
			v.dispatch(c, object)
		}
		for _, b := range v.binds[node] {
			v.bind(b, object)
		}
		if node == v.outside {
			v.escaped(object)
		}
	}
}

// dispatch is the arrival of an object where a call is decided.
func (v *solver) dispatch(c *solvedSite, object int32) {
	name := v.objects[object]
	switch {
	case name[:1] == functionObject:
		fn := v.funcs[name]
		if fn == nil || !fits(fn.sig, c.sig) {
			return
		}
		if c.method == "" {
			c.found = append(c.found, fn.in)
		}
		v.enter(c, fn)
	case c.method != "":
		m, ok := v.types[name[1:]][c.method]
		if !ok || m.key == "" {
			return
		}
		if _, sig, _ := strings.Cut(m.text, " "); !fits(sig, c.sig) {
			return
		}
		c.found = append(c.found, m.key)
		if fn := v.funcs[functionObject+string(m.key)]; fn != nil {
			v.enter(c, fn)
			v.copy(c.callee, fn.offset(fn.recv))
		}
	}
}

// fits compares signatures; what has type parameters in it fits everything.
func fits(has, asked string) bool {
	return has == asked || strings.Contains(has, "$") || strings.Contains(asked, "$")
}

func (v *solver) enter(c *solvedSite, fn *solvedFunction) {
	for i, p := range fn.params {
		if i < len(c.args) {
			v.copy(c.args[i], fn.offset(p))
		}
	}
	for i, r := range fn.results {
		if i < len(c.results) {
			v.copy(fn.offset(r), c.results[i])
		}
	}
}

// bind is the arrival of an object whose method is used as a value.
func (v *solver) bind(b solvedBind, object int32) {
	name := v.objects[object]
	if m, ok := v.types[name[1:]][b.method]; ok && m.key != "" && name[:1] == typeObject {
		v.put(b.to, v.object(functionObject+string(m.key)))
	}
}

// escaped is the arrival of an object outside: its functions may be called from
// there, with whatever else is there and is of their parameters' types.
func (v *solver) escaped(object int32) {
	for _, c := range v.callbacks {
		if v.satisfies(object, c.asks) {
			v.put(c.node, object)
		}
	}
	name := v.objects[object]
	if name[:1] == functionObject {
		v.callback(name)
		return
	}
	ms := v.types[name[1:]]
	keys := make([]schemas.NodeKey, 0, len(ms))
	for _, m := range ms {
		keys = append(keys, m.key)
	}
	slices.Sort(keys)
	for _, k := range keys {
		v.callback(functionObject + string(k))
	}
}

func (v *solver) callback(name string) {
	fn, o := v.funcs[name], v.object(name)
	if fn == nil || v.called[o] {
		return
	}
	v.called[o] = true
	for i, p := range fn.params {
		if p == none || len(fn.asks[i]) <= 1 {
			continue // anything could be there: nothing is said
		}
		c := callback{fn.offset(p), fn.asks[i]}
		v.callbacks = append(v.callbacks, c)
		for _, other := range v.holds[v.outside] {
			if v.satisfies(other, c.asks) {
				v.put(c.node, other)
			}
		}
	}
	for _, r := range fn.results {
		v.copy(fn.offset(r), v.outside)
	}
}

// satisfies reports whether an object has what a parameter's type asks for.
func (v *solver) satisfies(object int32, asks string) bool {
	q := asking{object, asks}
	ok, known := v.satisfied[q]
	if known {
		return ok
	}
	name := v.objects[object]
	switch {
	case name[:1] != asks[:1]:
	case name[:1] == functionObject:
		fn := v.funcs[name]
		ok = fn != nil && fn.sig == asks[1:]
	default:
		ok = true
		for text := range strings.SplitSeq(strings.TrimSuffix(asks[1:], "\x00"), "\x00") {
			method, _, _ := strings.Cut(text, " ")
			if v.types[name[1:]][method].text != text {
				ok = false
				break
			}
		}
	}
	v.satisfied[q] = ok
	return ok
}
