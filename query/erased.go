package query

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/schemas"
)

// ErasedError: the event was there, and what it held was erased for good.
type ErasedError struct {
	Position schemas.Position `json:"position"`
	schemas.Erasure
	// At and Reason are those of the event that erased it.
	At     time.Time `json:"at"`
	Reason string    `json:"reason,omitempty"`
}

func (e *ErasedError) Error() string {
	s := fmt.Sprintf("%s: erased at %s by %s", e.Position, e.At.UTC().Format(time.RFC3339), e.By)
	if e.Reason != "" {
		s += " (" + e.Reason + ")"
	}
	return s + "; the SHA-256 of the erased bytes is " + e.SHA256.String()
}
