package scope

// containerPuts are the methods that put an argument into a container: its place.
var containerPuts = map[string]uint32{"append": 0, "add": 0, "appendleft": 0, "insert": 1}

// containerGives are those that give elements, or a container of the same ones.
var (
	containerGives = wordSet("get pop popleft popitem setdefault __getitem__")
	containerSame  = wordSet("values copy __iter__")
)

// sameElements are the builtins whose result has the elements of their argument.
var sameElements = wordSet("list tuple set frozenset sorted reversed iter")
