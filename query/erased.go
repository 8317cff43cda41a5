package query

import (
	"context"
	"errors"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

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

// PayloadOf reads an event from the log and returns what it says; nil if it was erased, or if event is nil.
func PayloadOf(ctx context.Context, event func(context.Context, schemas.Position) (schemas.LogRecord, error), at schemas.Position) (proto.Message, error) {
	if event == nil {
		return nil, nil
	}
	lr, err := event(ctx, at)
	if erased := (*ErasedError)(nil); errors.As(err, &erased) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if _, erased := lr.Erased(); erased {
		return nil, nil
	}
	e, err := lr.Event()
	if err != nil {
		return nil, err
	}
	return e.DecodePayload()
}
