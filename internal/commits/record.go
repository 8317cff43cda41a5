package commits

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/git"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// metadata records a commit with the names of what it changed.
func (im *importer) metadata(ctx context.Context, c git.Entry) error {
	switch c.Lacks {
	case git.LacksTrees:
		im.lacks(&im.report.Missing.Commits, c.ID)
	case git.LacksContent:
		im.lacks(&im.report.Missing.Renames, c.ID)
	}
	m := commitMessage(im.o.Repository, c.Commit, recountv1.Scope_SCOPE_METADATA)
	for _, ch := range c.Changes {
		skipped := ""
		if ch.Mode == git.ModeSubmodule || ch.Mode == git.ModeSymlink {
			skipped = skipPath(ch.Path, ch.Mode, nil)
		}
		im.change(m, ch, 0, skipped)
	}
	im.report.Commits.Metadata++
	return im.emit(ctx, m, c.Commit.Committer.Time)
}

// commit reads one commit.
func (im *importer) commit(id string) (c git.Commit, err error) {
	err = im.objects.Commits([]string{id}, func(read git.Commit) error {
		c = read
		return nil
	})
	return c, err
}

// base records the commit with which the graph begins.
func (im *importer) base(ctx context.Context) error {
	s := im.state
	c, err := im.commit(s.Base)
	if err != nil {
		return err
	}
	if err := im.full(ctx, c); err != nil {
		return err
	}
	if len(c.Parents) == 0 && !slices.Contains(s.Roots, c.ID) {
		s.Roots = append(s.Roots, c.ID)
	}
	s.BaseDone = true
	s.Heads = append(slices.DeleteFunc(s.Heads, func(h string) bool { return slices.Contains(c.Parents, h) || h == c.ID }), c.ID)
	im.feed.completed()
	im.step()
	return nil
}

// deepen moves the base back: the commits from the older base on, which are recorded by names, are
// recorded with content. Its progress is not stored; after an interruption it starts again, and
// finds its contents seen.
func (im *importer) deepen(ctx context.Context, p plan) error {
	im.state.Base = p.deepen
	clear(im.before)
	c, err := im.commit(p.deepen)
	if err != nil {
		return err
	}
	if err := im.full(ctx, c); err != nil {
		return err
	}
	err = im.repo.History(ctx, p.beforeBase, []string{p.deepen}, func(c git.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		im.step()
		return im.content(ctx, c)
	})
	if err != nil {
		return err
	}
	im.report.Base = p.deepen
	im.feed.completed()
	return nil
}

// content records a commit after the base, by its changes or completely.
func (im *importer) content(ctx context.Context, c git.Entry) error {
	if c.Lacks == git.LacksTrees {
		return im.withoutTrees(ctx, c)
	}
	parent := first(c.Parents)
	whole := parent == "" || im.isLacking(parent)
	if !whole {
		_, here := im.recorded[keyOf(parent)]
		if !here {
			before, err := im.isBefore(ctx, parent)
			if err != nil {
				return err
			}
			whole = before
		}
	}
	if whole {
		return im.full(ctx, c.Commit)
	}
	attrs, err := im.attributes([]string{c.ID, parent})
	if err != nil {
		return err
	}
	if !attrs[0].equal(attrs[1]) {
		return im.full(ctx, c.Commit)
	}
	if c.Lacks == git.LacksContent {
		im.lacks(&im.report.Missing.Renames, c.ID)
	}
	im.report.Commits.Changes++
	return im.withContent(ctx, c.Commit, recountv1.Scope_SCOPE_CHANGES, c.Changes, attrs[0])
}

// full records a commit with all its files.
func (im *importer) full(ctx context.Context, c git.Commit) error {
	attrs, err := im.attributes([]string{c.ID})
	if err != nil {
		return err
	}
	var changes []git.Change
	err = im.repo.Tree(ctx, c.ID, func(ch git.Change) error {
		changes = append(changes, ch)
		return nil
	})
	if errors.Is(err, git.ErrLacksTrees) {
		return im.withoutTrees(ctx, git.Entry{Walked: git.Walked{ID: c.ID}, Commit: c, Lacks: git.LacksTrees})
	}
	if err != nil {
		return err
	}
	im.report.Commits.Full++
	return im.withContent(ctx, c, recountv1.Scope_SCOPE_FULL, changes, attrs[0])
}

// withoutTrees records a commit by name, because its changes are unknown. Later commits are
// recorded completely.
func (im *importer) withoutTrees(ctx context.Context, c git.Entry) error {
	im.lacking[keyOf(c.ID)] = struct{}{}
	im.state.Lacking = append(im.state.Lacking, c.ID)
	c.Changes = nil
	return im.metadata(ctx, c)
}

func (im *importer) isLacking(commit string) bool {
	_, lacking := im.lacking[keyOf(commit)]
	return lacking || slices.Contains(im.state.Lacking, commit)
}

// withContent appends the contents of the changes, then the commit.
func (im *importer) withContent(ctx context.Context, c git.Commit, scope recountv1.Scope, changes []git.Change, attrs attributes) error {
	m := commitMessage(im.o.Repository, c, scope)
	skipped := make([]string, len(changes))
	for i, ch := range changes {
		if ch.Status != 'D' {
			skipped[i] = skipPath(ch.Path, ch.Mode, attrs)
		}
	}
	if err := im.contents(ctx, changes, skipped, c.Committer.Time); err != nil {
		return err
	}
	for i, ch := range changes {
		size, why := ch.Size, skipped[i]
		if key := im.seenKey(ch); ch.Status != 'D' && why == "" && im.isMissing(key) {
			size, why = 0, "missing"
		} else if ch.Status != 'D' && why == "" {
			seen := im.state.seen[key]
			size, why = seen.size, seen.verdict.reason(seen.size, im.o.Limits)
		}
		im.change(m, ch, size, why)
	}
	if err := im.emit(ctx, m, c.Committer.Time); err != nil {
		return err
	}
	im.recorded[keyOf(c.ID)] = struct{}{}
	return nil
}

// change adds a change to a commit, and counts the reason if its content was skipped.
func (im *importer) change(m *recountv1.CommitRecorded, ch git.Change, size int64, skipped string) {
	fc := fileChange(ch, size, skipped)
	if fc == nil {
		im.problem("commit %s: left out a path of %d bytes, the maximum is %d", m.Commit, len(ch.Path), maxPath)
		return
	}
	switch {
	case m.Scope == recountv1.Scope_SCOPE_METADATA: // no content of it is wanted
	case skipped != "":
		why, _, _ := strings.Cut(skipped, ":")
		im.report.Skipped[why]++
	case ch.Status != 'D' && im.o.Unread != nil:
		if language := im.o.Unread(ch.Path); language != "" && !im.unread[ch.Path] {
			if im.unread == nil {
				im.unread, im.report.Unread = map[string]bool{}, map[string]int64{}
			}
			im.unread[ch.Path] = true
			im.report.Unread[language]++
		}
	}
	m.Changes = append(m.Changes, fc)
}

// emit redacts a commit and appends its events.
func (im *importer) emit(ctx context.Context, m *recountv1.CommitRecorded, at time.Time) error {
	if im.o.Redact != nil {
		im.report.Redacted += int64(im.o.Redact(m))
	}
	events, err := im.commitEvents(m, at)
	if err != nil {
		return err
	}
	for _, e := range events {
		if err := im.feed.add(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

// attributes returns the rules in the .gitattributes of commits.
func (im *importer) attributes(commits []string) ([]attributes, error) {
	names := make([]string, len(commits))
	for i, c := range commits {
		names[i] = c + ":.gitattributes"
	}
	ids := make([]string, len(commits))
	err := im.objects.Infos(names, func(i int, info git.Info) error {
		if info.Type == git.TypeBlob && info.Size <= 1<<20 {
			ids[i] = info.ID
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	rules := make([]attributes, len(commits))
	for i, id := range ids {
		if id == "" {
			continue
		}
		if _, known := im.rules[id]; !known {
			err := im.objects.Read([]string{id}, func(_ int, _ git.Info, content []byte) error {
				im.rules[id] = parseAttributes(content)
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
		rules[i] = im.rules[id]
	}
	return rules, nil
}

func first(ids []string) string {
	if len(ids) == 0 {
		return ""
	}
	return ids[0]
}

func keyOf(id string) (k commitKey) {
	_, _ = hex.Decode(k[:], []byte(id[:2*len(k)])) // git.IsID holds for every id
	return k
}

func (im *importer) seenKey(c git.Change) seenKey {
	sum := sha256.Sum256([]byte(c.Blob + " " + im.reading(c.Path)))
	return seenKey(sum[:16])
}
