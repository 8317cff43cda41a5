package extract

import (
	"strconv"
	"strings"
)

// block is the local names of a block, of a language whose blocks are scopes (Java,
// C#), in front of those around it. The facts know no blocks: there the second
// variable of a name in one declaration is called name#2, the third name#3.
type block struct {
	up *block
	// names are what the block's variables are called in paths.
	names map[string]string
	// members are the names of a class's fields, which hide the variables around it.
	members map[string]bool
}

func inner(up *block) *block { return &block{up: up, names: map[string]string{}} }

// path is what a name is called in paths, and whether it is a local variable.
func (b *block) path(name string) (path string, local bool) {
	for ; b != nil; b = b.up {
		if p, ok := b.names[name]; ok {
			return p, true
		}
		if b.members[name] {
			return name, false
		}
	}
	return name, false
}

// blocks counts the local variables of a file.
type blocks struct{ times map[nameIn]int }

// local adds a variable of declaration `in` to a block and returns its path. Where a
// field of a class around has the name, that keeps it.
func (l *blocks) local(b *block, in uint32, name string) string {
	if l.times == nil {
		l.times = map[nameIn]int{}
	}
	key := nameIn{in, name}
	if l.times[key]++; l.times[key] == 1 {
		for up := b; up != nil; up = up.up {
			if up.members[name] {
				l.times[key]++
				break
			}
		}
	}
	p := name
	if n := l.times[key]; n > 1 {
		p = name + "#" + strconv.Itoa(n)
	}
	b.names[name] = p
	return p
}

// parameter adds a parameter of declaration `in`, which is called as it is everywhere.
func (l *blocks) parameter(b *block, in uint32, name string) {
	if l.times == nil {
		l.times = map[nameIn]int{}
	}
	l.times[nameIn{in, name}]++
	b.names[name] = name
}

// Paths of languages with declared types, see Reference in schemas/recount/v1/code.proto.

// ofType is the path of a value of which only the type is known.
func ofType(typ string) string {
	if typ == "" || typ == unknown {
		return unknown
	}
	return checked("<" + typ + ">")
}

// made is the path of an instance that is made.
func made(typ string) string { return result(madeBy(typ)) }

// madeBy is the path of what makes it.
func madeBy(typ string) string {
	if typ == "" || typ == unknown {
		return unknown
	}
	return checked("new " + typ)
}

// handed is what calling base hands to parameter i of the function that is its
// argument at; of a function's own parameters, where base is of its type, at is -1.
func handed(base string, at, i int) string {
	if base == unknown {
		return unknown
	}
	arg := ""
	if at >= 0 {
		arg = strconv.Itoa(at)
	}
	return checked(base + "(" + arg + "," + strconv.Itoa(i) + ")")
}

// functionOf is the path of a function as an argument: of n parameters (-1: not known),
// with what it gives.
func functionOf(n int, gives string) string {
	if gives == unknown {
		gives = ""
	}
	count := ""
	if n >= 0 {
		count = strconv.Itoa(n)
	}
	return checked("{" + count + "}" + gives)
}

// erased is a type without its arguments.
func erased(typ string) string {
	if i := strings.IndexByte(typ, '<'); i >= 0 {
		return typ[:i]
	}
	return strings.TrimSuffix(typ, "[]")
}
