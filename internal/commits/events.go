package commits

import (
	"fmt"
	"path"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Source is the source of the events.
const Source = "import/git"

// canon starts an event's id: a hash over the event's subject, so that the same subject imported
// twice, from any clone, gives one event.
func canon(kind, repository string) *schemas.Canon {
	return schemas.NewCanon("recount/import/git/1").String(kind).String(repository)
}

func newEvent(id schemas.EventID, typ, subject, repository string, at time.Time, m proto.Message) (schemas.Event, error) {
	payload, err := proto.MarshalOptions{Deterministic: true}.Marshal(m)
	if err != nil {
		return schemas.Event{}, fmt.Errorf("encode %s %s: %w", typ, subject, err)
	}
	return schemas.Event{
		ID: id, Type: typ, Source: Source, Subject: subject, Time: clampTime(at).UTC(), Key: []byte(repository),
		ContentType: schemas.ContentProto, Payload: payload,
	}, nil
}

// clampTime limits a time, which may come from a wrong clock, to the range of events.
func clampTime(t time.Time) time.Time {
	earliest, latest := time.Unix(0, 0), time.Date(2249, 1, 1, 0, 0, 0, 0, time.UTC)
	switch {
	case t.Before(earliest):
		return earliest
	case t.After(latest):
		return latest
	}
	return t
}

// reading returns how a path's content is read: its language, or if that is unknown its extension
// or name, so that a language supported later finds the content under a path that implies it.
func (im *importer) reading(p string) string {
	if lang := im.o.Language(p); lang != "" {
		return lang
	}
	if ext := path.Ext(p); ext != "" {
		return strings.ToLower(ext)
	}
	return path.Base(p)
}

// small is the size in bytes below which a content is not compressed.
const small = 128

// revised returns the `source.revised` event of a file. ok is false if it exceeds the limit of an
// event.
func (im *importer) revised(c git.Change, content []byte, at time.Time) (e schemas.Event, ok bool, err error) {
	p, _ := git.UTF8Path(c.Path)
	m := &recountv1.SourceRevised{Repository: im.o.Repository, Blob: c.Blob, Path: p, Size: int64(len(content))}
	if im.o.RedactFile != nil {
		content, m.Redacted = im.o.RedactFile(content)
	}
	if z := content; len(content) > small {
		if z = schemas.Compress(content); len(z) < len(content) {
			m.ContentZstd = z
		}
	}
	if m.ContentZstd == nil {
		m.Content = content
	}
	if proto.Size(m) > im.o.Limits.Event {
		return e, false, nil
	}
	if n := len(m.Redacted); n > 0 {
		im.report.Redacted += int64(n)
		if len(im.report.RedactedFiles) < maxProblems {
			first := m.Redacted[0]
			im.report.RedactedFiles = append(im.report.RedactedFiles, fmt.Sprintf("%s:%d: %s", p, first.Line, first.Kind))
		}
	}
	id := canon(schemas.TypeSourceRevised, im.o.Repository).String(c.Blob).String(im.reading(c.Path)).ID()
	e, err = newEvent(id, schemas.TypeSourceRevised, c.Blob, im.o.Repository, at, m)
	return e, true, err
}

// These limit a commit's text as in events.proto or more strictly, because each part repeats it.
const (
	maxMessage = 64 << 10
	maxName    = 4 << 10
	maxPath    = 4096
	// partBytes limits the changes in one part.
	partBytes = 512 << 10
)

// commitEvents returns the `commit.recorded` events of a commit, which has one or more parts.
func (im *importer) commitEvents(m *recountv1.CommitRecorded, at time.Time) ([]schemas.Event, error) {
	changes := m.Changes
	var parts [][]*recountv1.FileChange
	size, first := 0, 0
	for i, c := range changes {
		n := protowire.SizeBytes(proto.Size(c)) + 1
		if size+n > partBytes && i > first {
			parts = append(parts, changes[first:i])
			size, first = 0, i
		}
		size += n
	}
	parts = append(parts, changes[first:])
	events := make([]schemas.Event, len(parts))
	for i, part := range parts {
		m.Changes, m.Part, m.Parts = part, 0, 0
		if len(parts) > 1 {
			m.Part, m.Parts = int32(i), int32(len(parts))
		}
		c := canon(schemas.TypeCommitRecorded, m.Repository).String(m.Commit).Int(int64(m.Scope)).Int(int64(m.Part)).Int(int64(m.Parts))
		if m.WorkingTree {
			// A working tree may return to an earlier state, which must be a new event.
			c.String(im.state.WorkingTree)
		}
		e, err := newEvent(c.ID(), schemas.TypeCommitRecorded, m.Commit, m.Repository, at, m)
		if err != nil {
			return nil, err
		}
		events[i] = e
	}
	m.Changes, m.Part, m.Parts = changes, 0, 0
	return events, nil
}

// commitMessage returns a commit without its changes.
func commitMessage(repository string, c git.Commit, scope recountv1.Scope) *recountv1.CommitRecorded {
	return &recountv1.CommitRecorded{
		Repository: repository, Commit: c.ID, Parents: c.Parents, Tree: c.Tree,
		Author: signature(c.Author), Committer: signature(c.Committer), Message: schemas.Clip(c.Message, maxMessage), Scope: scope,
	}
}

func signature(s git.Signature) *recountv1.Signature {
	m := &recountv1.Signature{Name: schemas.Clip(s.Name, maxName), Email: schemas.Clip(s.Email, maxName)}
	if !s.Time.IsZero() {
		_, offset := s.Time.Zone()
		m.Time, m.UtcOffsetMinutes = timestamppb.New(clampTime(s.Time)), int32(offset/60)
	}
	return m
}

var statuses = map[byte]recountv1.ChangeStatus{
	'A': recountv1.ChangeStatus_CHANGE_STATUS_ADDED,
	'M': recountv1.ChangeStatus_CHANGE_STATUS_MODIFIED,
	'T': recountv1.ChangeStatus_CHANGE_STATUS_MODIFIED, // a file that became a link, or a link that became a file
	'D': recountv1.ChangeStatus_CHANGE_STATUS_DELETED,
	'R': recountv1.ChangeStatus_CHANGE_STATUS_RENAMED,
	'C': recountv1.ChangeStatus_CHANGE_STATUS_COPIED,
}

// fileChange returns a change as an event stores it, nil if its path cannot be stored.
func fileChange(c git.Change, size int64, skipped string) *recountv1.FileChange {
	m := &recountv1.FileChange{Status: statuses[c.Status], Mode: c.Mode, Blob: c.Blob, Size: max(0, size), Skipped: skipped}
	var same bool
	if m.Path, same = git.UTF8Path(c.Path); !same {
		m.RawPath = []byte(c.Path)
	}
	m.OldPath, _ = git.UTF8Path(c.OldPath)
	if len(m.Path) > maxPath {
		return nil
	}
	return m
}
