package golang

import (
	"encoding/binary"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

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

	nodes []held
	lists ints                // of the nodes
	known map[uint64]struct{} // the copies that were found on the way, as pairs
	bound []bound
	todo  []uint64 // node, object

	// active are the nodes of what callbacks ask for; bySig and byMethod find those
	// that an object may satisfy, by signature and by the first method.
	active   map[int32]int32
	bySig    map[string]int32
	byMethod map[string][]int32
	called   map[int32]bool // objects that the outside calls
}

// held is what is at a node.
type held struct {
	objects []int32
	set     []uint64 // the same, where they are many
	more    []int32  // where what is here goes, by copies that were found on the way
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
	for _, p := range pairs {
		t.all[t.start[p.from]] = p.to
		t.start[p.from]++
	}
	copy(t.start[1:], t.start) // each has moved to where the next one begins
	t.start[0] = 0
	return t
}

// ints are the memory of many lists, most of them short.
type ints struct{ free []int32 }

func (s *ints) append(list []int32, n int32) []int32 {
	if len(list) == cap(list) {
		size := max(4, 2*len(list))
		if len(s.free) < size {
			s.free = make([]int32, max(size, 1<<14))
		}
		list = append(s.free[:0:size], list...)
		s.free = s.free[size:]
	}
	return append(list, n)
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

// mayCalls makes the edges of calls through interfaces and function values. Where no
// constraint and no method differs from the step before, what arrives at which call
// is known already, and only lines may be others.
func (s *step) mayCalls(yield func(joined)) {
	b := s.book
	b.flows = b.flows[:0]
	said := binary.LittleEndian.AppendUint64(nil, b.shapes.Lo^b.shapes.Hi)
	for f := range s.facts() {
		for _, at := range f.flows {
			p := placed{flowAt: at, linked: b.link(at.flow), test: f.test}
			b.flows = append(b.flows, p)
			said = binary.LittleEndian.AppendUint64(said, p.hash.Hi)
			said = binary.LittleEndian.AppendUint64(said, p.hash.Lo)
		}
		said = strconv.AppendBool(said, f.test)
	}
	if hash := xxh3.Hash128(said); hash != b.solved {
		b.arriving, b.solved = b.solve(), hash
	}
	at := 0
	for _, tests := range []bool{false, true} {
		for i := range b.flows {
			p := &b.flows[i]
			if p.test != tests {
				continue
			}
			for _, c := range p.sites {
				for _, to := range b.arriving[at] {
					if to != c.from {
						yield(joined{c.from, to, mayCall, recountv1.Provenance_PROVENANCE_FLOW, shifted(c.at, p.by)})
					}
				}
				at++
			}
		}
	}
}

// solve finds what arrives at each call of the book's flows, first of those outside
// tests.
func (b *book) solve() (arriving [][]schemas.NodeKey) {
	v := &solver{
		book: b, flows: b.flows, funcs: make([]solved, len(b.objects.names)), known: map[uint64]struct{}{},
		active: map[int32]int32{}, bySig: map[string]int32{}, byMethod: map[string][]int32{}, called: map[int32]bool{},
	}
	nodes := len(b.nodes.names)
	for i := range v.flows {
		v.flows[i].base = int32(nodes)
		nodes += len(v.flows[i].names)
	}
	v.nodes = slices.Grow(b.room[:0], nodes+len(b.asked))[:nodes]
	clear(v.nodes)
	b.room = v.nodes
	for _, tests := range []bool{false, true} {
		r := v.begin(tests)
		v.run()
		for i := range r.sites {
			found := r.sites[i].found
			slices.Sort(found)
			arriving = append(arriving, slices.Compact(found))
		}
	}
	return arriving
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
	nodes := len(v.nodes)
	r.copies, r.calls, r.binds = tabulate(nodes, copies), tabulate(nodes, calls), tabulate(nodes, binds)
	for _, c := range copies { // what is there already
		for _, o := range v.nodes[c.from].objects {
			v.put(c.to, o)
		}
	}
	for _, c := range calls {
		for _, o := range v.nodes[c.from].objects {
			v.dispatch(&r.sites[c.to], o)
		}
	}
	for _, b := range binds {
		for _, o := range v.nodes[b.from].objects {
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
	v.nodes[from].more = v.lists.append(v.nodes[from].more, to)
	for _, o := range v.nodes[from].objects {
		v.put(to, o)
	}
}

// many is how many objects a node has before they are also kept as a set.
const many = 12

func (v *solver) put(node, object int32) {
	n := &v.nodes[node]
	if len(n.objects) < many {
		if slices.Contains(n.objects, object) {
			return
		}
	} else if !v.insert(n, object) {
		return
	}
	n.objects = v.lists.append(n.objects, object)
	v.todo = append(v.todo, uint64(node)<<32|uint64(object))
}

// insert adds to a node's set; false where it is there.
func (v *solver) insert(n *held, object int32) bool {
	if more := len(v.objects.names)>>6 + 1 - len(n.set); more > 0 {
		n.set = append(n.set, make([]uint64, more)...)
	}
	if len(n.objects) == many {
		for _, o := range n.objects {
			n.set[o>>6] |= 1 << (o & 63)
		}
	}
	word, bit := &n.set[object>>6], uint64(1)<<(object&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

func (v *solver) run() {
	for len(v.todo) > 0 {
		id := v.todo[len(v.todo)-1]
		v.todo = v.todo[:len(v.todo)-1]
		node, object := int32(id>>32), int32(uint32(id))
		for _, to := range v.nodes[node].more {
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
