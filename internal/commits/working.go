package commits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// workingTree records the changes of the working tree above HEAD, as a commit outside the history.
// Its id is a hash over HEAD and the changed paths with their blobs, so that the same state is one
// event. A clean tree gives no event.
func (im *importer) workingTree(ctx context.Context, head string) error {
	if head == "" {
		return fmt.Errorf("the working tree: %w", ErrNoCommits)
	}
	if before, err := im.isBefore(ctx, head); err != nil || before {
		return errors.Join(err, fmt.Errorf("the working tree: the log does not have the files of HEAD, only those from %s on: import more with --history", im.state.Base))
	}
	files, err := im.repo.WorkingTree(ctx)
	if err != nil {
		return err
	}
	attrs, err := im.attributes([]string{head})
	if err != nil {
		return err
	}
	now := im.o.Now().UTC()
	m := &recountv1.CommitRecorded{
		Repository: im.o.Repository, Parents: []string{head}, Scope: recountv1.Scope_SCOPE_CHANGES, WorkingTree: true,
		Message: "working tree",
	}
	id := schemas.NewCanon("recount/working-tree/1").String(im.o.Repository).String(head)
	for _, f := range files {
		ch, skipped, err := im.workingFile(ctx, f, attrs[0])
		if err != nil {
			return err
		}
		if ch.Status == 0 {
			continue
		}
		seen := im.state.seen[im.seenKey(ch)]
		size := ch.Size
		if ch.Status != 'D' && skipped == "" {
			size, skipped = seen.size, seen.verdict.reason(seen.size, im.o.Limits)
		}
		im.change(m, ch, size, skipped)
		id.String(ch.Path).Int(int64(ch.Mode)).String(ch.Blob)
	}
	if len(m.Changes) == 0 {
		return nil
	}
	m.Commit = id.Sum().String()[:len(head)]
	im.report.WorkingTree = m.Commit
	if m.Commit == im.state.WorkingTree {
		return nil
	}
	if err := im.emit(ctx, m, now); err != nil {
		return err
	}
	im.state.WorkingTree = m.Commit
	im.feed.completed()
	return nil
}

// workingFile appends a file's content and returns its change from HEAD; a zero Status means that
// there is none.
func (im *importer) workingFile(ctx context.Context, f git.WorkingFile, attrs attributes) (ch git.Change, skipped string, err error) {
	gone := git.Change{Status: 'D', Path: f.Path}
	if f.Head == "" {
		gone.Status = 0
	}
	if f.Mode == 0 {
		return gone, "", nil
	}
	if f.Mode == git.ModeSubmodule || f.HeadMode == git.ModeSubmodule {
		return ch, "", nil
	}
	ch, content, err := im.repo.ReadWorking(ctx, f.Path, im.o.Limits.Content)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return gone, "", nil // since the list was read
	case errors.Is(err, git.ErrConverted):
		im.problem("%v: left out", err)
		return git.Change{}, "", nil
	case err != nil:
		return ch, "", err
	}
	switch {
	case f.Head == "":
		ch.Status = 'A'
	case f.Head == ch.Blob && f.HeadMode == ch.Mode:
		ch.Status = 0
		return ch, "", nil
	default:
		ch.Status = 'M'
	}
	if skipped = skipPath(f.Path, ch.Mode, attrs); skipped != "" {
		return ch, skipped, nil
	}
	if _, seen := im.state.seen[im.seenKey(ch)]; seen {
		return ch, "", nil
	}
	if ch.Size > im.o.Limits.Content {
		im.leaveOut(ch, oversized)
		return ch, "", nil
	}
	return ch, "", im.append(ctx, ch, content, im.o.Now())
}
