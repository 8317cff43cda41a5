package golang

import (
	"maps"
	"slices"
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
	byObject map[int32]*typeMethods
	// implemented are the edges of what implements what, for the types and interfaces
	// of these shapes.
	implemented []joined
	shapes      xxh3.Uint128
}

func newBook() *book {
	b := &book{}
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
}

func (b *book) link(f *flow) *linked {
	if f.linked != nil && f.linked.book == b {
		return f.linked
	}
	l := &linked{book: b, nodes: make([]int32, len(f.names)), objects: make([]int32, len(f.objects)), funcs: make([]int32, len(f.funcs)), asks: make([][]int32, len(f.funcs))}
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
	b.types, b.byObject = map[string][]*methods{}, map[int32]*typeMethods{}
}

// methodsOf are those of an object that is a type.
func (b *book) methodsOf(object int32) *typeMethods {
	if t, ok := b.byObject[object]; ok {
		return t
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
	b.byObject[object] = t
	return t
}
