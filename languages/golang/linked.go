package golang

import (
	"cmp"
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// numbers gives names small numbers, which stay the same from one step to the next.
type numbers struct {
	of    map[string]int32
	names []string
}

func (n *numbers) number(name string) int32 {
	i, ok := n.of[name]
	if !ok {
		i = int32(len(n.names))
		n.of[name] = i
		n.names = append(n.names, name)
	}
	return i
}

// book is what the solver keeps between steps: the numbers of objects, of nodes that several files
// use, and of what parameters ask for. Flows store these numbers (see linked), so that solving
// needs no lookups of names.
type book struct {
	// texts has signatures, names of methods, and both together.
	nodes, objects, asks, texts numbers
	asked                       []ask  // by number
	functions                   []bool // which objects are functions
	generic                     []bool // which texts contain type parameters
	// types has the types with methods, by their text, and byObject the methods of those that are
	// objects; both are valid while the methods of all types stay the same.
	types    map[string][]*methods
	byObject []*typeMethods
	// implemented has the edges from types to the interfaces that they implement, for the types and
	// interfaces with the hash shapes.
	implemented []joined
	shapes      xxh3.Uint128
	// flows has the flows of the step, and arriving what arrives at each of their sites, for the
	// constraints and methods with the hash solved.
	flows    []placed
	arriving [][]schemas.NodeKey
	solved   xxh3.Uint128
	// The following fields are memory that the next step uses again: the solver's, the edges that
	// joins give a path, and the bytes that are hashed.
	solver *solver
	joined map[string][]joined
	buffer []byte
}

func newBook() *book {
	b := &book{joined: map[string][]joined{}}
	b.solver = &solver{book: b, known: map[uint64]struct{}{}, bySig: map[int32]int32{}, byMethod: map[int32][]int32{}}
	for _, n := range []*numbers{&b.nodes, &b.objects, &b.asks, &b.texts} {
		n.of = map[string]int32{}
	}
	b.nodes.number(outside)
	b.forgetTypes()
	return b
}

// maxNames is the maximum number of names in a book before a new one is begun: a book keeps the
// names of files that no longer exist.
const maxNames = 4 << 20

func (b *book) full() bool {
	return len(b.nodes.names)+len(b.objects.names)+len(b.texts.names) > maxNames
}

func (b *book) object(name string) int32 {
	n := b.objects.number(name)
	if int(n) == len(b.functions) {
		b.functions = append(b.functions, name[:1] == functionObject)
	}
	return n
}

func (b *book) text(text string) int32 {
	n := b.texts.number(text)
	if int(n) == len(b.generic) {
		b.generic = append(b.generic, strings.Contains(text, "$"))
	}
	return n
}

// fits compares signatures; one that contains type parameters fits every other.
func (b *book) fits(has, asked int32) bool {
	return has == asked || b.generic[has] || b.generic[asked]
}

// ask is what a parameter's type asks of an object: a signature, or methods.
type ask struct {
	function bool
	sig      int32
	methods  []int32 // texts
}

func (b *book) ask(text string) int32 {
	n := b.asks.number(text)
	if int(n) == len(b.asked) {
		a := ask{function: text[:1] == functionObject}
		if a.function {
			a.sig = b.text(text[1:])
		} else {
			for m := range strings.SplitSeq(strings.TrimSuffix(text[1:], "\x00"), "\x00") {
				a.methods = append(a.methods, b.text(m))
			}
		}
		b.asked = append(b.asked, a)
	}
	return n
}

// linked is a flow in terms of a book's numbers.
type linked struct {
	book    *book
	nodes   []int32 // -1 for the file's own
	objects []int32
	funcs   []linkedFunction
	sites   []linkedSite
	binds   []int32 // texts of the methods
	hash    xxh3.Uint128
}

type linkedFunction struct {
	object, sig int32
	asks        []int32 // of the parameters; none for those that accept anything
}

// linkedSite has the numbers of a site's texts.
type linkedSite struct{ method, sig int32 }

func (b *book) link(f *flow) *linked {
	if f.linked != nil && f.linked.book == b {
		return f.linked
	}
	l := &linked{
		book: b, nodes: make([]int32, len(f.names)), objects: make([]int32, len(f.objects)), funcs: make([]linkedFunction, len(f.funcs)),
		sites: make([]linkedSite, len(f.sites)), binds: make([]int32, len(f.binds)), hash: f.hash(),
	}
	for i, name := range f.names {
		if l.nodes[i] = none; name != "" {
			l.nodes[i] = b.nodes.number(name)
		}
	}
	for i, name := range f.objects {
		l.objects[i] = b.object(name)
	}
	for i, fn := range f.funcs {
		l.funcs[i] = linkedFunction{object: b.object(fn.object), sig: b.text(fn.sig)}
		for _, text := range fn.asks {
			n := none
			if len(text) > 1 {
				n = b.ask(text)
			}
			l.funcs[i].asks = append(l.funcs[i].asks, n)
		}
	}
	for i, c := range f.sites {
		l.sites[i] = linkedSite{method: none, sig: b.text(c.sig)}
		if c.method != "" {
			l.sites[i].method = b.text(c.method)
		}
	}
	for i, v := range f.binds {
		l.binds[i] = b.text(v.method)
	}
	f.linked = l
	return l
}

// hash returns a hash of a flow, except for the places of its sites.
func (f *flow) hash() xxh3.Uint128 {
	var b []byte
	number := func(n int32) { b = binary.LittleEndian.AppendUint32(b, uint32(n)) }
	text := func(s string) {
		number(int32(len(s)))
		b = append(b, s...)
	}
	texts := func(all []string) {
		number(int32(len(all)))
		for _, s := range all {
			text(s)
		}
	}
	numbers := func(all []int32) {
		number(int32(len(all)))
		for _, n := range all {
			number(n)
		}
	}
	texts(f.names)
	texts(f.objects)
	for _, n := range []int{len(f.copies), len(f.seeds), len(f.sites), len(f.binds), len(f.funcs)} {
		number(int32(n))
	}
	for _, c := range f.copies {
		number(c.from)
		number(c.to)
	}
	for _, s := range f.seeds {
		number(s.node)
		number(s.object)
	}
	for _, c := range f.sites {
		text(string(c.from))
		number(c.callee)
		text(c.method)
		text(c.sig)
		numbers(c.args)
		numbers(c.results)
		b = strconv.AppendBool(b, c.foreign)
	}
	for _, v := range f.binds {
		number(v.recv)
		text(v.method)
		number(v.to)
	}
	for _, fn := range f.funcs {
		text(fn.object)
		text(string(fn.in))
		text(fn.sig)
		number(fn.recv)
		numbers(fn.params)
		numbers(fn.results)
		texts(fn.asks)
	}
	return xxh3.Hash128(b)
}

// typeMethods has the methods of a type that is an object.
type typeMethods struct {
	byName []typeMethod // by the number of the name
	texts  []int32      // sorted
}

// typeMethod is a method with the numbers of its texts: the name, the signature, and both.
type typeMethod struct {
	key             schemas.NodeKey // "" if it is declared outside the repository
	name, sig, text int32
	object          int32 // the method as a function; -1 if it has no key
}

// named finds a method by its name.
func (t *typeMethods) named(name int32) *typeMethod {
	i, ok := slices.BinarySearchFunc(t.byName, name, func(m typeMethod, name int32) int { return cmp.Compare(m.name, name) })
	if !ok {
		return nil
	}
	return &t.byName[i]
}

// satisfies reports whether a type has the required methods.
func (t *typeMethods) satisfies(a *ask) bool {
	for _, text := range a.methods {
		if _, ok := slices.BinarySearch(t.texts, text); !ok {
			return false
		}
	}
	return true
}

func (b *book) forgetTypes() {
	b.types, b.byObject = map[string][]*methods{}, nil
}

// methodsOf returns the methods of an object that is a type.
func (b *book) methodsOf(object int32) *typeMethods {
	if int(object) < len(b.byObject) && b.byObject[object] != nil {
		return b.byObject[object]
	}
	byName := map[string]typeMethod{}
	for _, ms := range b.types[b.objects.names[object][1:]] {
		for _, m := range ms.all {
			name, sig, _ := strings.Cut(m.text, " ")
			one := typeMethod{key: m.key, name: b.text(name), sig: b.text(sig), text: b.text(m.text), object: none}
			if m.key != "" {
				one.object = b.object(functionObject + string(m.key))
			}
			byName[name] = one
		}
	}
	t := &typeMethods{byName: slices.SortedFunc(maps.Values(byName), func(a, b typeMethod) int { return cmp.Compare(a.name, b.name) })}
	for _, m := range t.byName {
		t.texts = append(t.texts, m.text)
	}
	slices.Sort(t.texts)
	if more := len(b.objects.names) - len(b.byObject); more > 0 {
		b.byObject = append(b.byObject, make([]*typeMethods, more)...)
	}
	b.byObject[object] = t
	return t
}
