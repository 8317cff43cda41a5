package flow

import (
	"github.com/recountdb/recount/languages/scope"
)

// containerPuts are the methods that put an argument into a container, with the index of that
// argument.
var containerPuts = map[string]uint32{"append": 0, "add": 0, "appendleft": 0, "insert": 1}

// containerGives are the methods that return an element, containerSame those that return a
// container of the same elements.
var (
	containerGives = scope.WordSet("get pop popleft popitem setdefault __getitem__")
	containerSame  = scope.WordSet("values copy __iter__")
)

// sameElements are the builtins whose result has the elements of their argument.
var sameElements = scope.WordSet("list tuple set frozenset sorted reversed iter")

// Those of arrays, maps and sets of JavaScript, besides.
var (
	arrayPuts  = map[string]uint32{"push": 0, "unshift": 0, "set": 1}
	arrayGives = scope.WordSet("shift at find findLast")
	arraySame  = scope.WordSet("filter slice concat sort reverse toSorted toReversed flat")
)

// ofContainer reports whether containers have a method of a name that is known.
func (p *Engine) ofContainer(name string) bool {
	return containerGives[name] || containerSame[name] || p.Lang.Exports && (arrayGives[name] || arraySame[name])
}

// puts returns the index of the argument that a method of a name puts into a container.
func (p *Engine) puts(name string) (i uint32, ok bool) {
	if i, ok = containerPuts[name]; !ok && p.Lang.Exports {
		i, ok = arrayPuts[name]
	}
	return i, ok
}
