package evidence

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Requests and answers use lower-case names for the values of the schema's enums: "tool_call" for
// OBJECT_TYPE_TOOL_CALL.
const (
	typePrefix       = "OBJECT_TYPE_"
	memoryPrefix     = "MEMORY_KIND_"
	edgePrefix       = "OBJECT_EDGE_KIND_"
	visibilityPrefix = "VISIBILITY_"
)

// enum maps an enum's values to their names.
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
		if n != 0 { // 0 has no name
			e[n] = strings.ToLower(strings.TrimPrefix(name, prefix))
		}
	}
	return e
}

// word returns the name of a value, or its number if it is one of a later schema.
func (e enum) word(n int32) string {
	if w, known := e[n]; known || n == 0 {
		return w
	}
	return strconv.Itoa(int(n))
}

func typeName(t recountv1.ObjectType) string { return types.word(int32(t)) }

func memoryName(k recountv1.MemoryKind) string { return memories.word(int32(k)) }

// edgeName returns the name of an edge's kind, or the producer's own name for it.
func edgeName(e *recountv1.ObjectEdge) string { return kindName(e.Kind, e.Name) }

// kindName returns the name of an edge's kind; for the kind other it is the producer's name.
func kindName(kind recountv1.ObjectEdgeKind, name string) string {
	if kind == recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_OTHER && name != "" {
		return name
	}
	return edgeKinds.word(int32(kind))
}

// visibilityName returns "" for the workspace, which is the default.
func visibilityName(v recountv1.Visibility) string {
	if v == recountv1.Visibility_VISIBILITY_WORKSPACE {
		return ""
	}
	return visibilities.word(int32(v))
}

// These are the names allowed in requests.
var (
	typeNames   = types.names()
	memoryNames = memories.names()
	edgeNames   = edgeKinds.names()
)

// names returns the names in the order of their numbers.
func (e enum) names() []string {
	var out []string
	for _, n := range slices.Sorted(maps.Keys(e)) {
		out = append(out, e[n])
	}
	return out
}

// brief returns the beginning of a text, at most `most` bytes long, including an ellipsis if it was
// cut.
func brief(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return schemas.Clip(s, max(0, most-len("…"))) + "…"
}
