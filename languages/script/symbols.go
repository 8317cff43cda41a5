package script

import (
	"strings"

	"github.com/recountdb/recount/languages/extract"
)

// A symbol is the name of a member that other files can't name without it:
//
//	const _queue = Symbol('queue')
//	class Worker { [_queue]() {} run() { this[_queue]() } }
//
// Such a member has the name of the constant here.

// symbol notes that a variable holds a symbol.
func (j *walker) symbol(name, value extract.Ref) {
	if j.Kind(name) != "identifier" || j.Kind(value) != "call_expression" {
		return
	}
	if of := j.Text(j.Field(value, "function")); of == "Symbol" || of == "Symbol.for" {
		j.symbols[j.Text(name)] = true
	}
}

// symbolKeys notes the names that are imported from other files and name members of a class.
func (j *walker) symbolKeys(body extract.Ref) {
	for c := range j.Children(body) {
		if key := j.Child(j.Field(c, "name"), 0); j.Kind(key) == "identifier" && strings.HasPrefix(j.known[j.Text(key)], ".") {
			j.symbols[j.Text(key)] = true
		}
	}
}

// ofSymbols reports whether a name is imported from a file of symbols of the repository.
func (j *walker) ofSymbols(name string) bool {
	from := j.known[name]
	return strings.HasPrefix(from, ".") && strings.HasSuffix(from, "."+name) && strings.Contains(strings.ToLower(from[strings.LastIndexByte(from, '/')+1:len(from)-len(name)]), "symbol")
}

// isSymbol reports whether an expression is the name of a symbol.
func (j *walker) isSymbol(n extract.Ref) bool {
	return j.Kind(n) == "identifier" && (j.symbols[j.Text(n)] || j.ofSymbols(j.Text(n)))
}
