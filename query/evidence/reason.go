package evidence

import (
	"github.com/recountdb/recount/projections/objects"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// byReason follows the best candidates of the other paths to later failures and conclusions. The
// message that reports a problem seldom shares words with either.
func (t *retrieval) byReason(l *ranked) error { return t.byEffects(l, explains) }

// explains reports whether an object may be part of a reason: a result that failed, or a
// conclusion.
func explains(o *objects.Stored, _ map[uint64]bool) bool {
	if o.Tool != nil && !calls(o) {
		return o.Tool.Failed || o.Tool.GetExitCode() != 0
	}
	return o.Memory == recountv1.MemoryKind_MEMORY_KIND_REFLECTIVE
}
