package evidence

import (
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

func typeName(t recountv1.ObjectType) string { return word(typePrefix, int32(t), t.String()) }

func memoryName(k recountv1.MemoryKind) string { return word(memoryPrefix, int32(k), k.String()) }

// edgeName is an edge's kind, or the producer's own word for it.
func edgeName(e *recountv1.ObjectEdge) string {
	if e.Kind == recountv1.ObjectEdgeKind_OBJECT_EDGE_KIND_OTHER && e.Name != "" {
		return e.Name
	}
	return word(edgePrefix, int32(e.Kind), e.Kind.String())
}

// visibilityName is nothing for the workspace, which is the common one.
func visibilityName(v recountv1.Visibility) string {
	if v == recountv1.Visibility_VISIBILITY_WORKSPACE {
		return ""
	}
	return word(visibilityPrefix, int32(v), v.String())
}

func word(prefix string, n int32, name string) string {
	if n == 0 {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(name, prefix))
}

func typeNames() []string   { return names(typePrefix, recountv1.ObjectType_name) }
func memoryNames() []string { return names(memoryPrefix, recountv1.MemoryKind_name) }
func edgeNames() []string   { return names(edgePrefix, recountv1.ObjectEdgeKind_name) }

// names are the words of an enum's values, in the order of their numbers.
func names(prefix string, all map[int32]string) []string {
	var out []string
	for n := int32(1); int(n) < len(all); n++ {
		out = append(out, word(prefix, n, all[n]))
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
