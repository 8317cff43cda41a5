package python

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
	"github.com/recountdb/recount/languages/scope"
)

// transparent are types that stand for their argument: they say only that the value may be None, or that it
// is awaited.
var transparent = scope.WordSet("Optional Annotated Final ClassVar Required NotRequired Awaitable ReadOnly InitVar")

// lists are types whose values contain those of their only or first argument, mappings those of the second.
var (
	lists = scope.WordSet(`list List set Set frozenset FrozenSet deque Deque Sequence MutableSequence Iterable Iterator Collection
Container AbstractSet MutableSet Reversible Generator AsyncIterable AsyncIterator AsyncGenerator WeakSet`)
	mappings = scope.WordSet(`dict Dict Mapping MutableMapping defaultdict DefaultDict OrderedDict ChainMap WeakValueDictionary`)
)

// typeOf returns the type that an annotation states, as Declaration.type in code.proto says, "" if it states none.
func typeOf(annotation string) string {
	t := typeReader{text: annotation}
	return extract.AnyOf(t.union())
}

// typeReader reads an annotation, which may be quoted as a whole or in parts.
type typeReader struct {
	text  string
	depth int
}

// maxTypeDepth limits how deep the arguments of types are read.
const maxTypeDepth = 8

func (t *typeReader) space() { t.text = strings.TrimLeft(t.text, " \t\r\n\\") }

// next takes a byte if it comes next.
func (t *typeReader) next(c byte) bool {
	t.space()
	if t.text == "" || t.text[0] != c {
		return false
	}
	t.text = t.text[1:]
	return true
}

// union reads the alternatives of A | B.
func (t *typeReader) union() (all []string) {
	t.depth++
	defer func() { t.depth-- }()
	if t.depth > maxTypeDepth {
		t.text = ""
		return nil
	}
	for {
		all = append(all, t.one()...)
		if !t.next('|') {
			return all
		}
	}
}

// one reads a type without alternatives beside it, or one in quotes or parentheses.
func (t *typeReader) one() []string {
	t.space()
	if t.text == "" {
		return nil
	}
	switch c := t.text[0]; c {
	case '"', '\'':
		quoted, rest, _ := strings.Cut(strings.TrimLeft(t.text, string(c)), string(c))
		t.text = strings.TrimLeft(rest, string(c))
		inner := typeReader{text: quoted, depth: t.depth}
		return inner.union()
	case '(':
		t.text = t.text[1:]
		all := t.union()
		t.next(')')
		return all
	case '[': // the parameters of Callable
		t.text = t.text[1:]
		t.arguments()
		return nil
	}
	end := strings.IndexFunc(t.text, func(r rune) bool { return strings.ContainsRune(" \t\r\n|[](),'\"#=", r) })
	if end < 0 {
		end = len(t.text)
	}
	name := t.text[:end]
	if t.text = t.text[end:]; name == "" {
		t.text = ""
		return nil
	}
	if !t.next('[') {
		if !extract.IsDotted(name) || name == "None" {
			return nil
		}
		return []string{name}
	}
	return apply(name, t.arguments())
}

// arguments reads type arguments behind the bracket that opens them.
func (t *typeReader) arguments() (all [][]string) {
	for {
		if t.next(']') || t.text == "" {
			return all
		}
		before := len(t.text)
		all = append(all, t.union())
		if t.next(','); len(t.text) == before {
			t.text = "" // what is no type
		}
	}
}

// apply returns the alternatives of a type with arguments.
func apply(name string, args [][]string) []string {
	argument := func(i int) []string {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	switch last := name[strings.LastIndexByte(name, '.')+1:]; {
	case last == "Union":
		var all []string
		for _, a := range args {
			all = append(all, a...)
		}
		return all
	case transparent[last]:
		return argument(0)
	case last == "Coroutine":
		return argument(2)
	case lists[last]:
		return extract.ElementTypes(argument(0), "")
	case mappings[last]:
		return extract.ElementTypes(argument(1), "")
	case last == "type" || last == "Type":
		var all []string
		for _, of := range argument(0) {
			all = append(all, of+scope.ClassOf)
		}
		return all
	case last == "tuple" || last == "Tuple":
		var all []string
		for i, of := range args {
			all = append(all, extract.ElementTypes(of, extract.Decimal(i))...)
		}
		if len(args) == 2 && len(args[1]) == 0 { // tuple[X, ...]
			return extract.ElementTypes(args[0], "")
		}
		return all
	case last == "Literal" || last == "Callable" || !extract.IsDotted(name):
		return nil
	}
	return []string{name}
}
