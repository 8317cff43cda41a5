package golang

import (
	"encoding/binary"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/recountdb/recount/schemas"
)

// numbers gives names small numbers, from one step to the next the same.
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

// book is what the solver keeps between steps: the numbers of nodes that several
// files use, of objects and of what parameters ask for. Flows hold them (see
// linked), so that solving does not look names up.
type book struct {
	nodes, objects, asks numbers
	asked                []ask // by number
	// types are those with methods, by their text, and byObject what is known of those
	// that are objects; both hold while the methods of all types are the same.
	types    map[string][]*methods
	byObject []*typeMethods
	// implemented are the edges of what implements what, for the types and interfaces
	// of these shapes.
	implemented []joined
	shapes      xxh3.Uint128
	// flows are those of the step, and arriving is what arrives at each of their sites,
	// for the constraints and methods of the hash solved.
	flows    []placed
	arriving [][]schemas.NodeKey
	solved   xxh3.Uint128
	// What follows is memory for the next step alone: a solver's nodes, what joins give
	// a path, and what is hashed of it.
	room   []held
	joined map[string][]joined
	buffer []byte
}

func newBook() *book {
	b := &book{joined: map[string][]joined{}}
	for _, n := range []*numbers{&b.nodes, &b.objects, &b.asks} {
		n.of = map[string]int32{}
	}
	b.nodes.number(outside)
	b.forgetTypes()
	return b
}

// maxNames is how many names a book holds before it is begun anew: names of files
// that are gone stay in it.
const maxNames = 4 << 20

func (b *book) full() bool { return len(b.nodes.names)+len(b.objects.names) > maxNames }

// ask is what a parameter's type asks of an object: a signature, or methods.
type ask struct {
	function bool
	sig      string
	methods  []string // texts
}

func (b *book) ask(text string) int32 {
	n := b.asks.number(text)
	if int(n) == len(b.asked) {
		a := ask{function: text[:1] == functionObject, sig: text[1:]}
		if !a.function {
			a.methods = strings.Split(strings.TrimSuffix(text[1:], "\x00"), "\x00")
		}
		b.asked = append(b.asked, a)
	}
	return n
}

// linked is a flow by the numbers of a book.
type linked struct {
	book    *book
	nodes   []int32 // -1: the file's own
	objects []int32
	funcs   []int32   // objects
	asks    [][]int32 // of each function's parameters; none where anything could be there
	hash    xxh3.Uint128
}

func (b *book) link(f *flow) *linked {
	if f.linked != nil && f.linked.book == b {
		return f.linked
	}
	l := &linked{book: b, nodes: make([]int32, len(f.names)), objects: make([]int32, len(f.objects)), funcs: make([]int32, len(f.funcs)), asks: make([][]int32, len(f.funcs)), hash: f.hash()}
	for i, name := range f.names {
		if l.nodes[i] = none; name != "" {
			l.nodes[i] = b.nodes.number(name)
		}
	}
	for i, name := range f.objects {
		l.objects[i] = b.objects.number(name)
	}
	for i, fn := range f.funcs {
		l.funcs[i] = b.objects.number(fn.object)
		for _, text := range fn.asks {
			n := none
			if len(text) > 1 {
				n = b.ask(text)
			}
			l.asks[i] = append(l.asks[i], n)
		}
	}
	f.linked = l
	return l
}

// hash is of all that a flow says, but for where its sites are.
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

// typeMethods are the methods of a type that is an object.
type typeMethods struct {
	byName map[string]*typeMethod
	all    []*typeMethod // by text
}

type typeMethod struct {
	key       schemas.NodeKey // "" where it is declared elsewhere
	text, sig string
	object    int32 // the method as a function; -1 without key
}

func (b *book) forgetTypes() {
	b.types, b.byObject = map[string][]*methods{}, nil
}

// methodsOf are those of an object that is a type.
func (b *book) methodsOf(object int32) *typeMethods {
	if int(object) < len(b.byObject) && b.byObject[object] != nil {
		return b.byObject[object]
	}
	t := &typeMethods{byName: map[string]*typeMethod{}}
	for _, ms := range b.types[b.objects.names[object][1:]] {
		for _, m := range ms.all {
			name, sig, _ := strings.Cut(m.text, " ")
			one := &typeMethod{key: m.key, text: m.text, sig: sig, object: none}
			if m.key != "" {
				one.object = b.objects.number(functionObject + string(m.key))
			}
			t.byName[name] = one
		}
	}
	t.all = slices.SortedFunc(maps.Values(t.byName), func(a, b *typeMethod) int { return strings.Compare(a.text, b.text) })
	if more := len(b.objects.names) - len(b.byObject); more > 0 {
		b.byObject = append(b.byObject, make([]*typeMethods, more)...)
	}
	b.byObject[object] = t
	return t
}
