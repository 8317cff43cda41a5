package extract

import (
	"slices"
	"strconv"
	"strings"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Access paths: see Reference in schemas/recount/v1/code.proto. Extractors make them from
// expressions with these functions; a path that is too long becomes Unknown.

// Unknown is the path of an expression that is not a chain of names.
const Unknown = "?"

func Checked(path string) string {
	if len(path) > MaxPath {
		return Unknown
	}
	return path
}

// Member returns base.name.
func Member(base, name string) string {
	if name == "" {
		return Unknown
	}
	return Checked(base + "." + name)
}

// Result returns the path of the result of calling base.
func Result(base string) string {
	if base == Unknown {
		return Unknown
	}
	return Checked(base + "()")
}

// Element returns base[key]: key is the literal's text, or empty.
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

// Root returns the first name of a path: "a" for a.b()[].
func Root(path string) string {
	if i := strings.IndexAny(path, ".(["); i >= 0 {
		return path[:i]
	}
	return path
}

// KnownPath returns a path used as a type, empty if it is not known.
func KnownPath(path string) string {
	if path == Unknown {
		return ""
	}
	return path
}

// AnyOf returns the type of a value that is of one of several types, "" if there are none, or too many.
func AnyOf(types []string) string {
	var all []string
	for _, of := range types {
		if of != "" && of != Unknown && !slices.Contains(all, of) {
			all = append(all, of)
		}
	}
	return KnownPath(Checked(strings.Join(all, "|")))
}

// ElementTypes returns the types of what contains values of some types under a key, "" for any.
func ElementTypes(types []string, key string) (all []string) {
	for _, of := range types {
		if of != "" && of != Unknown {
			all = append(all, of+"["+key+"]")
		}
	}
	return all
}

// Known has what imported names stand for: "run" is "subprocess.run".
type Known map[string]string

// Canonical replaces an imported name at the head of a path by what it stands for.
func (k Known) Canonical(path string) string {
	head := Root(path)
	if full, ok := k[head]; ok {
		return full + path[len(head):]
	}
	return path
}

// SplitLast splits a path at its last dot into the receiver and the name.
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

// maxElements is the maximum number of elements of a literal list or dictionary that are
// followed, maxLiteral the maximum nesting.
const (
	MaxElements = 64
	MaxLiteral  = 3
)
