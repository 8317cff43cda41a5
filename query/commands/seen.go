package commands

import (
	"cmp"
	"context"
	"encoding/hex"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// changedBy returns what a recorder saw to change while a command ran, as its own event or else the latest of
// its outcomes tells; nil if no recorder looked.
func (s Sources) changedBy(ctx context.Context, at schemas.Position, outcomes []narrative.Outcome) (*recountv1.Changes, error) {
	m, err := query.PayloadOf(ctx, s.Event, at)
	if err != nil {
		return nil, err
	}
	if c, ok := m.(*recountv1.CommandExecuted); ok && c.Changes != nil {
		return c.Changes, nil
	}
	for _, o := range outcomes {
		if m, err = query.PayloadOf(ctx, s.Event, o.Position); err != nil {
			return nil, err
		}
		if c, ok := m.(*recountv1.OutcomeObserved); ok && c.Changes != nil {
			return c.Changes, nil
		}
	}
	return nil, nil
}

// changesOf returns changes as an answer has them: what git stores for itself is last.
func changesOf(c *recountv1.Changes) *ask.Changes {
	if c == nil {
		return nil
	}
	out := &ask.Changes{Below: c.GetBelow(), LookedAt: c.GetLookedAt().AsTime(), Files: []ask.ChangedFile{}}
	remembers := c.GetRemembered() || slices.ContainsFunc(c.GetFiles(), func(f *recountv1.WrittenFile) bool { return f.GetRemoved() || len(f.GetWasSha256()) > 0 })
	for _, f := range c.GetFiles() {
		added := slices.Contains(c.GetDirectories(), path.Dir(f.GetPath()))
		out.Files = append(out.Files, ask.ChangedFile{
			Path: f.GetPath(), Change: changeOf(f, added, remembers), Size: f.GetSize(), SHA256: hex.EncodeToString(f.GetSha256()),
		})
	}
	git := func(f ask.ChangedFile) int { return min(strings.Count(f.Path, "/.git/"), 1) }
	slices.SortStableFunc(out.Files, func(a, b ask.ChangedFile) int {
		return cmp.Or(cmp.Compare(git(a), git(b)), cmp.Compare(a.Path, b.Path))
	})
	return out
}

// maxRemembered is the length of the largest file that recorders remember; see package recording.
const maxRemembered = 256 << 10

// changeOf names what happened to a file. added tells that its directory has an entry more or fewer than
// before, and remembers that the recorder knew what was there.
func changeOf(f *recountv1.WrittenFile, added, remembers bool) string {
	switch {
	case f.GetRemoved():
		return ask.ChangeRemoved
	case sameAsBefore(f):
		return ask.ChangeTouched
	case len(f.GetWasSha256()) > 0 || !added:
		return ask.ChangeChanged
	case remembers && f.GetSize() <= maxRemembered:
		return ask.ChangeCreated
	}
	return ask.ChangeWritten
}

// sameAsBefore reports whether a file has the content and the permissions that it had before.
func sameAsBefore(f *recountv1.WrittenFile) bool {
	return !f.GetRemoved() && len(f.GetWasSha256()) > 0 && string(f.GetSha256()) == string(f.GetWasSha256()) && f.GetMode() == f.GetWasMode()
}

// CachedFile reports whether a file lies in a directory in which interpreters, toolchains and test runners keep what they
// can make again, or counts of their own use.
func CachedFile(name string) bool {
	return slices.ContainsFunc(cacheDirectories, func(dir string) bool { return strings.Contains(name, dir) })
}

var cacheDirectories = []string{"/__pycache__/", "/.pytest_cache/", "/.mypy_cache/", "/.ruff_cache/", "/.cache/", "/Testing/Temporary/", "/.config/go/telemetry/"}

// looksTogether is the number of neighbouring events that are read together. A read takes longer than
// reading some more.
const looksTogether = 64

// readTogether limits the time of one such read: the events are known to exist, so only an outage causes a wait.
const readTogether = 10 * time.Second

// looks holds what events tell of the files that changed, for searches at the same time.
type looks struct {
	mu  sync.Mutex
	all map[schemas.Position]*narrative.Looked // nil: it tells nothing
}

// looked returns what an event tells the narrative of the files that changed. An event that cannot be read
// tells nothing.
func (a *session) looked(at schemas.Position) (*narrative.Looked, error) {
	a.looks.mu.Lock()
	defer a.looks.mu.Unlock()
	if l, known := a.looks.all[at]; known {
		return l, nil
	}
	if a.looks.all == nil {
		a.looks.all = map[schemas.Position]*narrative.Looked{}
	}
	if a.s.Events == nil {
		m, err := query.PayloadOf(a.Ctx, a.s.Event, at)
		if err != nil {
			return nil, a.Ctx.Err()
		}
		a.looks.all[at] = lookedOf(m)
		return a.looks.all[at], nil
	}
	block := make([]schemas.Position, looksTogether)
	for i := range block {
		block[i] = schemas.Position{Topic: at.Topic, Partition: at.Partition, Offset: at.Offset - at.Offset%looksTogether + int64(i)}
		a.looks.all[block[i]] = nil
	}
	ctx, cancel := context.WithTimeout(a.Ctx, readTogether)
	defer cancel()
	err := a.s.Events(ctx, block, func(lr schemas.LogRecord) error {
		m, err := query.PayloadOf(ctx, func(context.Context, schemas.Position) (schemas.LogRecord, error) { return lr, nil }, lr.Position)
		if err == nil {
			a.looks.all[lr.Position] = lookedOf(m)
		}
		return nil
	})
	if err != nil && a.Ctx.Err() != nil {
		return nil, a.Ctx.Err()
	}
	return a.looks.all[at], nil
}

// lookedOf returns what a payload tells of the files that changed, nil if nothing.
func lookedOf(m proto.Message) *narrative.Looked {
	var c *recountv1.Changes
	switch m := m.(type) {
	case *recountv1.CommandExecuted:
		c = m.GetChanges()
	case *recountv1.OutcomeObserved:
		c = m.GetChanges()
	}
	if c == nil {
		return nil
	}
	l := &narrative.Looked{Below: c.GetBelow(), UntilUnixNano: c.GetLookedAt().AsTime().UnixNano(), Unclear: c.GetDirectories()}
	for _, f := range c.GetFiles() {
		if sameAsBefore(f) {
			l.Unclear = append(l.Unclear, f.GetPath())
		} else {
			l.Files = append(l.Files, f.GetPath())
		}
		if f.GetRemoved() {
			l.Removed = append(l.Removed, f.GetPath())
		}
	}
	return l
}
