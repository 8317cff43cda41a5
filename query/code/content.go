package code

import (
	"fmt"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// MaxContent is the size up to which files are compared by their content, in bytes.
const MaxContent = 256 << 10

// ContentOf returns the content of a file from the event that brought it, or nil if the event has
// none or more than limit bytes.
func ContentOf(lr schemas.LogRecord, limit int) ([]byte, error) {
	e, err := lr.Event()
	if err != nil {
		return nil, err
	}
	payload, err := e.DecodePayload()
	if err != nil {
		return nil, err
	}
	m, ok := payload.(*recountv1.SourceRevised)
	if !ok || m.GetSize() > int64(limit) {
		return nil, nil
	}
	if z := m.GetContentZstd(); len(z) > 0 {
		return schemas.Decompress(z, limit)
	}
	return m.GetContent(), nil
}

// content returns the content of a file of a snapshot, or nil if it is not known.
func (a *session) content(s *snapshots.Snapshot, path string) ([]byte, error) {
	if a.s.Content == nil {
		return nil, nil
	}
	at, err := contentAt(s, path)
	if err != nil || at == nil {
		return nil, err
	}
	content, err := a.s.Content(a.Ctx, *at)
	if err != nil {
		return nil, fmt.Errorf("read the event at %s: %w", at, err)
	}
	return content, nil
}
