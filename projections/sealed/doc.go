// Package sealed keeps the files of projections that are written once, put in place in one step and
// read in place. It defines the disk operations that this needs, where a partition's files are, and
// the error for damage in one of them.
//
// A caller may rely on this: after a crash, a name that Replace was asked to put in place durably
// holds the old content or the whole new one. A file must not be truncated while a process has it
// mapped: an access to a missing page cannot be reported as an error.
package sealed

import (
	"fmt"

	"github.com/recountdb/recount/schemas"
)

// CorruptError is damage in a file: what is wrong and where. It is of class schemas.ErrFatal. The
// log still has the events, so the projection can be rebuilt.
type CorruptError struct {
	// Projection is the projection that the file belongs to.
	Projection string
	File       string
	// Region is the damaged part of the file, under the name that the projection's layout gives it.
	Region         string
	Offset, Length uint64 // of the region
	Reason         string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: region %s at %d, %d bytes: %s; `recount rebuild --projection %s` rebuilds it from the log",
		e.File, e.Region, e.Offset, e.Length, e.Reason, e.Projection)
}

func (e *CorruptError) Unwrap() error { return schemas.ErrFatal }
