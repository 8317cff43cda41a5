package commits

import (
	"bytes"
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/git"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// maxRef is the maximum length of a ref's name, as in events.proto.
const maxRef = 1024

// refs records the refs that moved since they were last seen, if their commits are on the log, and
// the refs that were removed.
func (im *importer) refs(ctx context.Context, p plan) error {
	now := map[string]git.Ref{}
	var moved []git.Ref
	for _, r := range append(slices.Clone(p.refs), p.head) {
		now[r.Name] = r
		if im.unreadable[r.Commit] {
			continue
		}
		if k, known := im.state.refs[r.Name]; !known || k.Commit != r.Commit || k.Target != r.Target {
			moved = append(moved, r)
		}
	}
	unrecorded := map[string]bool{}
	var commits []string
	for _, r := range moved {
		if r.Commit != "" && !unrecorded[r.Commit] {
			unrecorded[r.Commit] = true
			commits = append(commits, r.Commit)
		}
	}
	// Commits that are not reachable from recorded ones are not on the log.
	clear(unrecorded)
	err := im.repo.Walk(ctx, commits, im.known(), func(w git.Walked) error {
		unrecorded[w.ID] = true
		return nil
	})
	if err != nil {
		return err
	}
	for _, r := range moved {
		k, known := im.state.refs[r.Name]
		if unrecorded[r.Commit] || (r.Commit == "" && !known) || len(r.Name) > maxRef {
			continue
		}
		if err := im.moved(ctx, r, k); err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(im.state.refs)) {
		k := im.state.refs[name]
		if _, here := now[name]; here || k.Commit == "" || !im.looksAt(name) {
			continue
		}
		if err := im.moved(ctx, git.Ref{Name: name}, k); err != nil {
			return err
		}
	}
	if im.report.Refs == 0 {
		return nil
	}
	// The moves must be on the log before the cache has them.
	if err := im.feed.drain(ctx); err != nil {
		return err
	}
	return im.state.saveRefs()
}

// looksAt reports whether a ref that was seen before would be read now.
func (im *importer) looksAt(name string) bool {
	return strings.HasPrefix(name, "refs/heads/") || strings.HasPrefix(name, "refs/tags/") ||
		(im.o.All && strings.HasPrefix(name, "refs/remotes/"))
}

// moved appends a `ref.moved` event. Its id includes the number of earlier moves, because a branch
// may return to an earlier commit.
func (im *importer) moved(ctx context.Context, r git.Ref, was knownRef) error {
	at := im.movedAt(r)
	name, _ := git.UTF8Path(r.Name)
	target, _ := git.UTF8Path(r.Target)
	m := &recountv1.RefMoved{
		Repository: im.o.Repository, Ref: name, OldCommit: was.Commit, NewCommit: r.Commit, Target: target,
		MovedAt: timestamppb.New(at),
	}
	id := canon(schemas.TypeRefMoved, im.o.Repository).String(r.Name).String(was.Commit).String(r.Commit).String(r.Target).
		Int(was.Moves).Int(at.Unix()).ID()
	e, err := newEvent(id, schemas.TypeRefMoved, name, im.o.Repository, at, m)
	if err != nil {
		return err
	}
	im.report.Refs++
	im.state.refs[r.Name] = knownRef{Commit: r.Commit, Target: r.Target, Moves: was.Moves + 1}
	return im.feed.add(ctx, e)
}

// movedAt returns when a ref moved to its commit: the time in the last line of its reflog, if that
// line is about this move, else now.
func (im *importer) movedAt(r git.Ref) time.Time {
	dir, name := im.repo.CommonDir, r.Name
	if strings.HasSuffix(name, "HEAD") && !strings.HasPrefix(name, "refs/") {
		dir, name = im.repo.GitDir, "HEAD"
	}
	if line := lastLine(filepath.Join(dir, "logs", filepath.FromSlash(name))); line != "" && r.Commit != "" {
		// OLD NEW NAME <EMAIL> SECONDS ZONE\tMESSAGE
		head, _, _ := strings.Cut(line, "\t")
		f := strings.Fields(head)
		if len(f) >= 4 && f[1] == r.Commit {
			if sec, err := strconv.ParseInt(f[len(f)-2], 10, 64); err == nil {
				return clampTime(time.Unix(sec, 0).UTC())
			}
		}
	}
	return clampTime(im.o.Now().UTC())
}

// lastLine returns the last line of a file, unless it is too long.
func lastLine(file string) string {
	f, err := os.Open(file)
	if err != nil {
		return ""
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || !st.Mode().IsRegular() {
		return ""
	}
	b := make([]byte, min(st.Size(), 8<<10))
	if _, err := f.ReadAt(b, st.Size()-int64(len(b))); err != nil {
		return ""
	}
	b = bytes.TrimRight(b, "\n")
	return string(b[bytes.LastIndexByte(b, '\n')+1:])
}
