// Package sealed is how projections keep files that are written once, put in
// place in one step and read in place: what it takes of the disk, where a
// partition's files are, and what damage in one of them is called.
//
// What a caller may rely on: after a crash a name that Replace was asked to put
// in place durably holds the old content or the whole of the new one. A checkpoint,
// which is read once, is compressed (ReplacePacked). A file must
// not be cut while a process has it mapped: a page that is gone cannot be
// reported as an error.
package sealed

import (
	"fmt"

	"github.com/recountdb/recount/schemas"
)

// CorruptError is damage in a file: what is wrong and where. It is of class
// schemas.ErrFatal. The log still has the events, so the projection can be made
// anew.
type CorruptError struct {
	// Projection whose file it is.
	Projection string
	File       string
	// Region is the part of the file that is damaged, under the name that the
	// projection's layout gives it.
	Region         string
	Offset, Length uint64 // of the region
	Reason         string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s: region %s at %d, %d bytes: %s; `recount rebuild --projection %s` makes it anew from the log",
		e.File, e.Region, e.Offset, e.Length, e.Reason, e.Projection)
}

func (e *CorruptError) Unwrap() error { return schemas.ErrFatal }
