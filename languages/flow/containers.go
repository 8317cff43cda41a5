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
