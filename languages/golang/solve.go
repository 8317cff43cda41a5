package golang

import (
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// solver follows objects along the constraints of all packages to the calls that they decide.
// The values that tests pass in are followed after everything else, so that calls outside tests do
// not reach a test's fakes.
//
// Nodes that several flows share have the numbers of the book; the nodes of single flows and those
// of the values that callbacks receive come after them. The objects at a node do not depend on the
// order in which they arrive.
//
// Between two solutions it keeps only memory.
type solver struct {
	*book
	flows []placed
	// rounds has the constraints outside tests, and those of tests; the first begun are in use.
	rounds [2]round
	begun  int
	funcs  []solved // by object

	nodes []held
	lists ints                // of the nodes
	sets  sets                // of the nodes
	known map[uint64]struct{} // the copies that were found while solving, as pairs
	bound []bound
	todo  []uint64 // node, object

	// active has the nodes of the values that callbacks receive, 0 where there is none; bySig and
	// byMethod find those that an object may satisfy, by signature and by the first method.
	active   []int32
	bySig    map[int32]int32
	byMethod map[int32][]int32
	called   []bool // objects that code outside calls
}

// held is the set of objects at a node.
type held struct {
	objects []int32
	set     []uint64 // the same objects, if they are many
	more    []int32  // the destinations of copies that were found while solving
}

// outsideNode is the number of the node outside.
const outsideNode int32 = 0

// placed is a flow with the numbers of its nodes in the solution.
type placed struct {
	flowAt
	*linked
	base int32 // the number of the first of the flow's own nodes
	test bool
}

func (p *placed) nodeOf(n int32) int32 {
	if n == none {
		return none
	}
	if shared := p.nodes[n]; shared != none {
		return shared
	}
	return p.base + n
}

// solved locates a function: the i-th of a flow.
type solved struct {
	in *placed
	i  int32
}

// solvedFunction is a function in the numbers of a solution.
type solvedFunction struct {
	*linkedFunction
	params, results []int32
	in              schemas.NodeKey
}

// round is the constraints of some flows, by node.
type round struct {
	copies, calls, binds table
	sites                []solvedSite
}

// solvedSite is a call with the objects that reach it.
type solvedSite struct {
	*site
	linkedSite
	in    *placed
	found []int32
}

// bound is the node of a method that is used as a value.
type bound struct{ to, method int32 }

// mayCalls yields the edges of calls through interfaces and function values. If no constraint and
// no method differs from the previous step, it uses that step's solution, and only lines may
// differ.
func (s *step) mayCalls(yield func(joined)) {
	b := s.book
	b.flows = b.flows[:0]
	said := binary.LittleEndian.AppendUint64(b.buffer[:0], b.shapes.Lo^b.shapes.Hi)
	for f := range s.facts() {
		for _, at := range f.flows {
			p := placed{flowAt: at, linked: b.link(at.flow), test: f.test}
			b.flows = append(b.flows, p)
			said = binary.LittleEndian.AppendUint64(said, p.hash.Hi)
			said = binary.LittleEndian.AppendUint64(said, p.hash.Lo)
		}
		said = strconv.AppendBool(said, f.test)
	}
	b.buffer = said
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
			for _, c := range p.flow.sites {
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

// solve returns what reaches each call of the book's flows, first for the calls outside tests.
func (b *book) solve() (arriving [][]schemas.NodeKey) {
	v := b.solver
	v.reset()
	for _, tests := range []bool{false, true} {
		r := v.begin(tests)
		v.run()
		arriving = slices.Grow(arriving, len(r.sites))
		for i := range r.sites {
			arriving = append(arriving, v.arriving(&r.sites[i]))
		}
	}
	return arriving
}

// reset prepares the solver for the book's flows.
func (v *solver) reset() {
	v.flows, v.begun = v.book.flows, 0
	nodes := len(v.book.nodes.names)
	for i := range v.flows {
		v.flows[i].base = int32(nodes)
		nodes += len(v.flows[i].names)
	}
	v.nodes = cleared(v.nodes, nodes)
	v.funcs = cleared(v.funcs, len(v.objects.names))
	v.called = cleared(v.called, len(v.objects.names))
	v.active = cleared(v.active, len(v.asked))
	v.bound, v.todo = v.bound[:0], v.todo[:0]
	v.lists.reset()
	v.sets.reset()
	clear(v.known)
	clear(v.bySig)
	clear(v.byMethod)
}

// cleared returns n zero values, in the memory of all if that is large enough.
func cleared[E any](all []E, n int) []E {
	clear(all)
	return slices.Grow(all[:0], n)[:n]
}

// arriving returns the functions that reach a call.
func (v *solver) arriving(c *solvedSite) []schemas.NodeKey {
	if len(c.found) == 0 {
		return nil
	}
	all := make([]schemas.NodeKey, len(c.found))
	for i, o := range c.found {
		if in, fn := v.function(o); in != nil {
			all[i] = fn.in
		} else { // a method without a known body
			all[i] = schemas.NodeKey(v.objects.names[o][len(functionObject):])
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// begin adds the constraints of the files that are tests, or of the others.
func (v *solver) begin(tests bool) *round {
	r := &v.rounds[v.begun]
	v.begun++
	copies, calls, binds := r.copies.pairs[:0], r.calls.pairs[:0], r.binds.pairs[:0]
	clear(r.sites)
	r.sites = r.sites[:0]
	for i := range v.flows {
		p := &v.flows[i]
		if p.test != tests {
			continue
		}
		for i := range p.linked.funcs {
			v.funcs[p.linked.funcs[i].object] = solved{p, int32(i)}
		}
		for _, c := range p.copies {
			copies = append(copies, copied{p.nodeOf(c.from), p.nodeOf(c.to)})
		}
		for i := range p.flow.sites {
			c := &p.flow.sites[i]
			calls = append(calls, copied{p.nodeOf(c.callee), int32(len(r.sites))})
			r.sites = append(r.sites, solvedSite{site: c, linkedSite: p.linked.sites[i], in: p})
			if c.foreign {
				for _, a := range c.args {
					if a != none {
						copies = append(copies, copied{p.nodeOf(a), outsideNode})
					}
				}
			}
		}
		for i, b := range p.flow.binds {
			if b.recv != none {
				binds = append(binds, copied{p.nodeOf(b.recv), int32(len(v.bound))})
				v.bound = append(v.bound, bound{p.nodeOf(b.to), p.linked.binds[i]})
			}
		}
	}
	nodes := len(v.nodes)
	r.copies.set(nodes, copies)
	r.calls.set(nodes, calls)
	r.binds.set(nodes, binds)
	if tests {
		v.arrived(r)
	}
	for i := range v.flows {
		if p := &v.flows[i]; p.test == tests {
			for _, s := range p.seeds {
				v.put(p.nodeOf(s.node), p.linked.objects[s.object])
			}
		}
	}
	return r
}

// arrived applies the constraints of a round to the objects that are already at nodes.
func (v *solver) arrived(r *round) {
	for _, c := range r.copies.pairs {
		for _, o := range v.nodes[c.from].objects {
			v.put(c.to, o)
		}
	}
	for _, c := range r.calls.pairs {
		for _, o := range v.nodes[c.from].objects {
			v.dispatch(&r.sites[c.to], o)
		}
	}
	for _, b := range r.binds.pairs {
		for _, o := range v.nodes[b.from].objects {
			v.bind(b.to, o)
		}
	}
}

// copy adds a constraint: what is at one node reaches another.
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

// many is the number of objects of a node from which they are also kept as a set.
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

// insert adds an object to a node's set, and returns false if it was there already.
func (v *solver) insert(n *held, object int32) bool {
	if words := len(v.objects.names)>>6 + 1; words > len(n.set) {
		n.set = v.sets.grow(n.set, words)
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
		for i := range v.rounds[:v.begun] {
			r := &v.rounds[i]
			for _, to := range r.copies.list(node) {
				v.put(to, object)
			}
			for _, c := range r.calls.list(node) {
				v.dispatch(&r.sites[c], object)
			}
			for _, b := range r.binds.list(node) {
				v.bind(b, object)
			}
		}
		if node == outsideNode {
			v.escaped(object)
		}
	}
}

func (v *solver) isFunction(object int32) bool { return v.functions[object] }

// function returns the function of an object and the flow that contains it: nil if it has no body.
func (v *solver) function(object int32) (in *placed, fn solvedFunction) {
	if int(object) >= len(v.funcs) || v.funcs[object].in == nil {
		return nil, fn
	}
	f := v.funcs[object]
	said := &f.in.flow.funcs[f.i]
	return f.in, solvedFunction{&f.in.linked.funcs[f.i], said.params, said.results, said.in}
}

// dispatch handles an object that reaches the function or receiver of a call.
func (v *solver) dispatch(c *solvedSite, object int32) {
	switch {
	case v.isFunction(object):
		in, fn := v.function(object)
		if in == nil || !v.fits(fn.sig, c.linkedSite.sig) {
			return
		}
		if c.linkedSite.method == none {
			c.found = v.lists.append(c.found, object)
		}
		v.enter(c, in, fn)
	case c.linkedSite.method != none:
		m := v.methodsOf(object).named(c.linkedSite.method)
		if m == nil || m.key == "" || !v.fits(m.sig, c.linkedSite.sig) {
			return
		}
		c.found = v.lists.append(c.found, m.object)
		if in, fn := v.function(m.object); in != nil {
			v.enter(c, in, fn)
			v.copy(c.in.nodeOf(c.callee), in.nodeOf(in.flow.funcs[v.funcs[m.object].i].recv))
		}
	}
}

func (v *solver) enter(c *solvedSite, in *placed, fn solvedFunction) {
	for i, p := range fn.params {
		if i < len(c.args) {
			v.copy(c.in.nodeOf(c.args[i]), in.nodeOf(p))
		}
	}
	for i, r := range fn.results {
		if i < len(c.results) {
			v.copy(in.nodeOf(r), c.in.nodeOf(c.results[i]))
		}
	}
}

// bind handles an object that reaches the receiver of a method used as a value.
func (v *solver) bind(b int32, object int32) {
	if v.isFunction(object) {
		return
	}
	if m := v.methodsOf(object).named(v.bound[b].method); m != nil && m.key != "" {
		v.put(v.bound[b].to, m.object)
	}
}
