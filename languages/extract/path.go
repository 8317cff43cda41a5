package extract

import "strings"

// Access paths: see Reference in schemas/recount/v1/code.proto. Extractors make them
// of expressions with these; what is too long is unknown.

// unknown is the path of what is no chain of names.
const unknown = "?"

func checked(path string) string {
	if len(path) > maxPath {
		return unknown
	}
	return path
}

// member is base.name.
func member(base, name string) string {
	if name == "" {
		return unknown
	}
	return checked(base + "." + name)
}

// result is what calling base gives.
func result(base string) string {
	if base == unknown {
		return unknown
	}
	return checked(base + "()")
}

// element is base[key]: key is the literal's text, or empty.
func element(base, key string) string {
	if base == unknown {
		return unknown
	}
	if len(key) > 64 || strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		key = ""
	}
	return checked(base + "[" + key + "]")
}

// root is the first name of a path: "a" of a.b()[].
func root(path string) string {
	if i := strings.IndexAny(path, ".(["); i >= 0 {
		return path[:i]
	}
	return path
}

// knownPath is a path as the type of something: empty where it is not known.
func knownPath(path string) string {
	if path == unknown {
		return ""
	}
	return path
}

// splitLast cuts a path at its last dot: what something is called on, and its name.
func splitLast(path string) (on, name string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}
