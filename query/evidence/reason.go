package evidence

import (
	"github.com/recountdb/recount/projections/objects"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// byReason goes from the best of the other paths to what came after them: what failed, and
// what was understood. Who tells of a trouble seldom uses the words of either.
func (t *retrieval) byReason(l *ranked) error { return t.byEffects(l, explains) }

// explains says whether an object may be a part of a reason: a result that failed, or what
// somebody made of it.
func explains(o *objects.Stored, _ map[uint64]bool) bool {
	if o.Tool != nil && !calls(o) {
		return o.Tool.Failed || o.Tool.GetExitCode() != 0
	}
	return o.Memory == recountv1.MemoryKind_MEMORY_KIND_REFLECTIVE
}
