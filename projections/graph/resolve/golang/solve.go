package golang

import (
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// solver follows objects along the constraints of all packages to the calls that
// they decide. What tests put in is followed after everything else: calls outside
// tests do not arrive at a test's fakes.
//
// Nodes that flows share have the numbers of the book, those of a single flow
// follow; so do the nodes of what callbacks ask for. What is at a node does not
// depend on the order in which objects arrive.
type solver struct {
	*book
	flows []placed
	// rounds are the constraints outside tests, and those of tests.
	rounds []*round
	funcs  []solved // by object

	holds [][]int32           // objects, by node
	sets  [][]uint64          // the same as a set, where they are many
	more  [][]int32           // copies that were found on the way, by node
	known map[uint64]struct{} // the same as pairs
	bound []bound
	todo  []uint64 // node, object

	// active are the nodes of what callbacks ask for; bySig and byMethod find those
	// that an object may satisfy, by signature and by the first method.
	active   map[int32]int32
	bySig    map[string]int32
	byMethod map[string][]int32
	called   map[int32]bool // objects that the outside calls
}

// outsideNode is the number of the node outside.
const outsideNode int32 = 0

// placed is a flow among the nodes of all.
type placed struct {
	flowAt
	*linked
	base int32 // of the flow's own nodes
	test bool
}

func (p *placed) at(n int32) int32 {
	if n == none {
		return none
	}
	if shared := p.nodes[n]; shared != none {
		return shared
	}
	return p.base + n
}

// solved finds a function: which of a flow's.
type solved struct {
	in *placed
	i  int32
}

// round is some flows' constraints by node: those of node n begin at start[n].
type round struct {
	copies, calls, binds table
	sites                []solvedSite
}

// table lists small numbers by node.
type table struct{ start, all []int32 }

func (t *table) of(node int32) []int32 {
	if int(node)+1 >= len(t.start) {
		return nil
	}
	return t.all[t.start[node]:t.start[node+1]]
}

// tabulate makes a table of pairs: node, number.
func tabulate(nodes int, pairs []copied) table {
	t := table{make([]int32, nodes+1), make([]int32, len(pairs))}
	for _, p := range pairs {
		t.start[p.from+1]++
	}
	for i := 1; i <= nodes; i++ {
		t.start[i] += t.start[i-1]
	}
	next := slices.Clone(t.start)
	for _, p := range pairs {
		t.all[next[p.from]] = p.to
		next[p.from]++
	}
	return t
}

type solvedSite struct {
	*site
	in    *placed
	found []schemas.NodeKey
}

// bound is the node of a method that is used as a value.
type bound struct {
	to     int32
	method string
}

// mayCalls makes the edges of calls through interfaces and function values.
func (s *step) mayCalls(yield func(joined)) {
	v := &solver{book: s.book, active: map[int32]int32{}, bySig: map[string]int32{}, byMethod: map[string][]int32{}, called: map[int32]bool{}, known: map[uint64]struct{}{}}
	for f := range s.facts() {
		for _, at := range f.flows {
			v.flows = append(v.flows, placed{flowAt: at, linked: v.link(at.flow), test: f.test})
		}
	}
	nodes := int32(len(v.nodes.names))
	for i := range v.flows {
		v.flows[i].base = nodes
		nodes += int32(len(v.flows[i].names))
	}
	v.holds, v.sets, v.more = make([][]int32, nodes), make([][]uint64, nodes), make([][]int32, nodes)
	v.funcs = make([]solved, len(v.objects.names))
	for _, tests := range []bool{false, true} {
		r := v.begin(tests)
		v.solve()
		for i := range r.sites {
			r.sites[i].emit(yield)
		}
	}
}

func (c *solvedSite) emit(yield func(joined)) {
	slices.Sort(c.found)
	for _, to := range slices.Compact(c.found) {
		if to != c.from {
			yield(joined{c.from, to, mayCall, recountv1.Provenance_PROVENANCE_FLOW, shifted(c.site.at, c.in.by)})
		}
	}
}

// begin takes in the constraints of the files that are tests, or of the others.
func (v *solver) begin(tests bool) *round {
	r := &round{}
	v.rounds = append(v.rounds, r)
	var copies, calls, binds []copied
	for i := range v.flows {
		p := &v.flows[i]
		if p.test != tests {
			continue
		}
		for i := range p.flow.funcs {
			v.funcs[p.linked.funcs[i]] = solved{p, int32(i)}
		}
		for _, c := range p.copies {
			copies = append(copies, copied{p.at(c.from), p.at(c.to)})
		}
		for i := range p.sites {
			c := &p.sites[i]
			calls = append(calls, copied{p.at(c.callee), int32(len(r.sites))})
			r.sites = append(r.sites, solvedSite{site: c, in: p})
			if c.foreign {
				for _, a := range c.args {
					if a != none {
						copies = append(copies, copied{p.at(a), outsideNode})
					}
				}
			}
		}
		for _, b := range p.binds {
			if b.recv != none {
				binds = append(binds, copied{p.at(b.recv), int32(len(v.bound))})
				v.bound = append(v.bound, bound{p.at(b.to), b.method})
			}
		}
	}
	nodes := len(v.holds)
	r.copies, r.calls, r.binds = tabulate(nodes, copies), tabulate(nodes, calls), tabulate(nodes, binds)
	for _, c := range copies { // what is there already
		for _, o := range v.holds[c.from] {
			v.put(c.to, o)
		}
	}
	for _, c := range calls {
		for _, o := range v.holds[c.from] {
			v.dispatch(&r.sites[c.to], o)
		}
	}
	for _, b := range binds {
		for _, o := range v.holds[b.from] {
			v.bind(b.to, o)
		}
	}
	for i := range v.flows {
		if p := &v.flows[i]; p.test == tests {
			for _, s := range p.seeds {
				v.put(p.at(s.node), p.linked.objects[s.object])
			}
		}
	}
	return r
}

// copy lets what is at one node reach another.
func (v *solver) copy(from, to int32) {
	if from == none || to == none || from == to {
		return
	}
	pair := uint64(from)<<32 | uint64(to)
	if _, ok := v.known[pair]; ok {
		return
	}
	v.known[pair] = struct{}{}
	v.more[from] = append(v.more[from], to)
	for _, o := range v.holds[from] {
		v.put(to, o)
	}
}

// many is how many objects a node has before they are also kept as a set.
const many = 12

func (v *solver) put(node, object int32) {
	holds := v.holds[node]
	if len(holds) < many {
		if slices.Contains(holds, object) {
			return
		}
	} else if !v.insert(node, object) {
		return
	}
	v.holds[node] = append(holds, object)
	v.todo = append(v.todo, uint64(node)<<32|uint64(object))
}

// insert adds to a node's set; false where it is there.
func (v *solver) insert(node, object int32) bool {
	set := v.sets[node]
	if set == nil {
		for _, o := range v.holds[node] {
			set = setBit(set, o)
		}
	}
	if i := int(object >> 6); i < len(set) && set[i]&(1<<(object&63)) != 0 {
		v.sets[node] = set
		return false
	}
	v.sets[node] = setBit(set, object)
	return true
}

func setBit(set []uint64, n int32) []uint64 {
	i := int(n >> 6)
	if i >= len(set) {
		set = append(set, make([]uint64, i+1-len(set))...)
	}
	set[i] |= 1 << (n & 63)
	return set
}

func (v *solver) solve() {
	for len(v.todo) > 0 {
		id := v.todo[len(v.todo)-1]
		v.todo = v.todo[:len(v.todo)-1]
		node, object := int32(id>>32), int32(uint32(id))
		for _, to := range v.more[node] {
			v.put(to, object)
		}
		for _, r := range v.rounds {
			for _, to := range r.copies.of(node) {
				v.put(to, object)
			}
			for _, c := range r.calls.of(node) {
				v.dispatch(&r.sites[c], object)
			}
			for _, b := range r.binds.of(node) {
				v.bind(b, object)
			}
		}
		if node == outsideNode {
			v.escaped(object)
		}
	}
}

func (v *solver) isFunction(object int32) bool { return v.objects.names[object][:1] == functionObject }

// function is the one of an object, where it has a body.
func (v *solver) function(object int32) *function {
	if int(object) >= len(v.funcs) || v.funcs[object].in == nil {
		return nil
	}
	f := v.funcs[object]
	return &f.in.flow.funcs[f.i]
}

// dispatch is the arrival of an object where a call is decided.
func (v *solver) dispatch(c *solvedSite, object int32) {
	switch {
	case v.isFunction(object):
		fn := v.function(object)
		if fn == nil || !fits(fn.sig, c.sig) {
			return
		}
		if c.method == "" {
			c.found = append(c.found, fn.in)
		}
		v.enter(c, object)
	case c.method != "":
		m := v.methodsOf(object).byName[c.method]
		if m == nil || m.key == "" || !fits(m.sig, c.sig) {
			return
		}
		c.found = append(c.found, m.key)
		if fn := v.function(m.object); fn != nil {
			v.enter(c, m.object)
			v.copy(c.in.at(c.callee), v.funcs[m.object].in.at(fn.recv))
		}
	}
}

// fits compares signatures; what has type parameters in it fits everything.
func fits(has, asked string) bool {
	return has == asked || strings.Contains(has, "$") || strings.Contains(asked, "$")
}

func (v *solver) enter(c *solvedSite, object int32) {
	fn, in := v.function(object), v.funcs[object].in
	for i, p := range fn.params {
		if i < len(c.args) {
			v.copy(c.in.at(c.args[i]), in.at(p))
		}
	}
	for i, r := range fn.results {
		if i < len(c.results) {
			v.copy(in.at(r), c.in.at(c.results[i]))
		}
	}
}

// bind is the arrival of an object whose method is used as a value.
func (v *solver) bind(b int32, object int32) {
	if v.isFunction(object) {
		return
	}
	if m := v.methodsOf(object).byName[v.bound[b].method]; m != nil && m.key != "" {
		v.put(v.bound[b].to, m.object)
	}
}
