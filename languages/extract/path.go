package extract

import (
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Access paths: see Reference in schemas/recount/v1/code.proto. Extractors make them
// of expressions with these; what is too long is unknown.

// Unknown is the path of what is no chain of names.
const Unknown = "?"

func Checked(path string) string {
	if len(path) > MaxPath {
		return Unknown
	}
	return path
}

// Member is base.name.
func Member(base, name string) string {
	if name == "" {
		return Unknown
	}
	return Checked(base + "." + name)
}

// Result is what calling base gives.
func Result(base string) string {
	if base == Unknown {
		return Unknown
	}
	return Checked(base + "()")
}

// Element is base[key]: key is the literal's text, or empty.
func Element(base, key string) string {
	if base == Unknown {
		return Unknown
	}
	if len(key) > 64 || strings.ContainsFunc(key, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) {
		key = ""
	}
	return Checked(base + "[" + key + "]")
}

// Root is the first name of a path: "a" of a.b()[].
func Root(path string) string {
	if i := strings.IndexAny(path, ".(["); i >= 0 {
		return path[:i]
	}
	return path
}

// KnownPath is a path as the type of something: empty where it is not known.
func KnownPath(path string) string {
	if path == Unknown {
		return ""
	}
	return path
}

// SplitLast cuts a path at its last dot: what something is called on, and its name.
func SplitLast(path string) (on, name string) {
	i := strings.LastIndexByte(path, '.')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

func Decimal(i int) string { return strconv.Itoa(i) }

// IsMember reports whether a declaration can be named through its owner.
func IsMember(d *recountv1.Declaration) bool {
	switch d.Kind {
	case recountv1.SymbolKind_SYMBOL_KIND_METHOD, recountv1.SymbolKind_SYMBOL_KIND_FIELD, recountv1.SymbolKind_SYMBOL_KIND_PROPERTY,
		recountv1.SymbolKind_SYMBOL_KIND_CONSTRUCTOR, recountv1.SymbolKind_SYMBOL_KIND_ENUM_MEMBER:
		return true
	}
	return false
}

func IsDotted(s string) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !IsName(part) {
			return false
		}
	}
	return true
}

func IsName(s string) bool {
	for i, r := range s {
		if r != '_' && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// maxElements is how many elements of a literal list or dictionary are followed,
// maxLiteral how deep.
const (
	MaxElements = 64
	MaxLiteral  = 3
)
