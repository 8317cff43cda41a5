package evidence

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Requests and answers name the values of the schema's enums by their words: "tool_call"
// for OBJECT_TYPE_TOOL_CALL.
const (
	typePrefix       = "OBJECT_TYPE_"
	memoryPrefix     = "MEMORY_KIND_"
	edgePrefix       = "OBJECT_EDGE_KIND_"
	visibilityPrefix = "VISIBILITY_"
)

// enum has the words of an enum's values, by their numbers.
type enum map[int32]string

var (
	types        = enumOf(typePrefix, recountv1.ObjectType_name)
	memories     = enumOf(memoryPrefix, recountv1.MemoryKind_name)
	edgeKinds    = enumOf(edgePrefix, recountv1.ObjectEdgeKind_name)
	visibilities = enumOf(visibilityPrefix, recountv1.Visibility_name)
)

func enumOf(prefix string, all map[int32]string) enum {
	e := enum{}
	for n, name := range all {
		if n != 0 { // which is nothing
			e[n] = strings.ToLower(strings.TrimPrefix(name, prefix))
		}
	}
	return e
}

// word is that of a value, which may be one of a later schema.
func (e enum) word(n int32) string {
	if w, known := e[n]; known || n == 0 {
		return w
	}
	return strconv.Itoa(int(n))
}

func typeName(t recountv1.ObjectType) string { return types.word(int32(t)) }

func memoryName(k recountv1.MemoryKind) string { return memories.word(int32(k)) }

// edgeName is an edge's kind, or the producer's own word for it.
func edgeName(e *recountv1.ObjectEdge) string { return kindName(e.Kind, e.Name) }

// kindName is the name of an edge's kind: of one that is no other, its own.
func kindName(kind recountv1.ObjectEdgeKind, name string) string {
	if kind == recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_OTHER && name != "" {
		return name
	}
	return edgeKinds.word(int32(kind))
}

// visibilityName is nothing for the workspace, which is the common one.
func visibilityName(v recountv1.Visibility) string {
	if v == recountv1.Visibility_VISIBILITY_WORKSPACE {
		return ""
	}
	return visibilities.word(int32(v))
}

// The words that requests may have.
var (
	typeNames   = types.names()
	memoryNames = memories.names()
	edgeNames   = edgeKinds.names()
)

// names are the words, in the order of their numbers.
func (e enum) names() []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(e)) {
		out = append(out, e[n])
	}
	return out
}

// brief is the beginning of a text that has no more than so many bytes, an ellipsis
// included where it was cut.
func brief(s string, most int) string {
	if len(s) <= most {
		return s
	}
	end := max(0, most-len("…"))
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}
