package extract

import (
	"strconv"
	"strings"
)

// Block has the local names of a block, in languages whose blocks are scopes (Java, C#),
// linked to the enclosing blocks. Facts have no blocks: there the second variable with a
// name in one declaration is called name#2, the third name#3.
type Block struct {
	Up *Block
	// Names maps the block's variables to their names in paths.
	Names map[string]string
	// Members are the names of a class's fields, which hide enclosing variables.
	Members map[string]bool
}

func Inner(up *Block) *Block { return &Block{Up: up, Names: map[string]string{}} }

// Path returns the form of a name in paths, and whether it is a local variable.
func (b *Block) Path(name string) (path string, local bool) {
	for ; b != nil; b = b.Up {
		if p, ok := b.Names[name]; ok {
			return p, true
		}
		if b.Members[name] {
			return name, false
		}
	}
	return name, false
}

// Blocks counts the local variables of a file.
type Blocks struct{ Times map[NameIn]int }

// Local adds a variable of declaration `in` to a block and returns its path. If a field of
// an enclosing class has the name, the field keeps it.
func (l *Blocks) Local(b *Block, in uint32, name string) string {
	if l.Times == nil {
		l.Times = map[NameIn]int{}
	}
	key := NameIn{in, name}
	if l.Times[key]++; l.Times[key] == 1 {
		for up := b; up != nil; up = up.Up {
			if up.Members[name] {
				l.Times[key]++
				break
			}
		}
	}
	p := name
	if n := l.Times[key]; n > 1 {
		p = name + "#" + strconv.Itoa(n)
	}
	b.Names[name] = p
	return p
}

// Parameter adds a parameter of declaration `in`, whose path is its name.
func (l *Blocks) Parameter(b *Block, in uint32, name string) {
	if l.Times == nil {
		l.Times = map[NameIn]int{}
	}
	l.Times[NameIn{in, name}]++
	b.Names[name] = name
}

// Paths of languages with declared types, see Reference in schemas/recount/v1/code.proto.

// OfType returns the path of a value with a known type and nothing else.
func OfType(typ string) string {
	if typ == "" || typ == Unknown {
		return Unknown
	}
	return Checked("<" + typ + ">")
}

// Made returns the path of a new instance.
func Made(typ string) string { return Result(MadeBy(typ)) }

// MadeBy returns the path of the constructor.
func MadeBy(typ string) string {
	if typ == "" || typ == Unknown {
		return Unknown
	}
	return Checked("new " + typ)
}

// Handed returns the path of the value that base passes to parameter i of the function in
// its argument at. For parameters of a function base itself, at is -1.
func Handed(base string, at, i int) string {
	if base == Unknown {
		return Unknown
	}
	arg := ""
	if at >= 0 {
		arg = strconv.Itoa(at)
	}
	return Checked(base + "(" + arg + "," + strconv.Itoa(i) + ")")
}

// Passed returns the path of what base passes out through its argument at.
func Passed(base string, at int) string {
	if base == Unknown {
		return Unknown
	}
	return Checked(base + "(" + strconv.Itoa(at) + ")")
}

// FunctionOf returns the path of a function as an argument, with n parameters (-1:
// unknown) and the path of its result.
func FunctionOf(n int, gives string) string {
	if gives == Unknown {
		gives = ""
	}
	count := ""
	if n >= 0 {
		count = strconv.Itoa(n)
	}
	return Checked("{" + count + "}" + gives)
}

// Erased returns a type without its arguments.
func Erased(typ string) string {
	if i := strings.IndexByte(typ, '<'); i >= 0 {
		return typ[:i]
	}
	return strings.TrimSuffix(typ, "[]")
}

func Compact(text string) string { return strings.Join(strings.Fields(text), "") }

func HasWord(words []string, word string) bool {
	for _, w := range words {
		if w == word {
			return true
		}
	}
	return false
}

func IsNumber(path string) bool {
	switch path {
	case "<int>", "<long>", "<float>", "<double>":
		return true
	}
	return false
}

// SameOf returns the path of two alternatives if they are equal or one is null, or the first one if
// both are constants of one type (Color.Red, Color.Blue).
func SameOf(a, b string) string {
	switch {
	case a == "<null>":
		return b
	case b == "<null>" || a == b:
		return a
	}
	of, first := SplitLast(a)
	if to, second := SplitLast(b); of != "" && of == to && isTypeName(of) && isTypeName(first) && isTypeName(second) {
		return a
	}
	return Unknown
}

// isTypeName reports whether a path is of names alone and its last name begins as types and constants do.
func isTypeName(path string) bool {
	_, last := SplitLast(path)
	return last != "" && last[0] >= 'A' && last[0] <= 'Z' && !strings.ContainsAny(path, "([<?")
}

// Slashed returns a pattern with a leading and without a trailing slash, as frameworks join them.
func Slashed(p string) string {
	p = strings.Trim(p, "/")
	if p == "" {
		return ""
	}
	return "/" + p
}

// Unescaped returns the character of a simple escape sequence.
func Unescaped(text string) string {
	switch text {
	case `\n`:
		return "\n"
	case `\t`:
		return "\t"
	case `\\`, `\"`, `\'`:
		return text[1:]
	}
	return text
}

// ConditionalKey is the attribute of a declaration in one of several branches, of which others
// may declare the same name.
const ConditionalKey = "conditional"

// TypeParametersKey is the attribute of a declaration's type parameters:
// "K, V extends a.Base<K>".
const TypeParametersKey = "type_parameters"
