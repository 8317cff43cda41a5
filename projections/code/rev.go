package code

import (
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/recountdb/recount/projections/store"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// minAbbreviation is the minimum number of digits of an abbreviated commit, as in git.
const minAbbreviation = 4

// maxCandidates is the maximum number of commits listed for an ambiguous abbreviation.
const maxCandidates = 8

// Resolve returns the commit of a revision in git's syntax: a branch, a tag, a full ref, HEAD (or
// the empty revision), or a commit id or its beginning, followed by any number of ~N, ^ and ^N.
// "worktree" is the last state of a working tree. Where only linked working trees were imported,
// HEAD is that of the one with the newest commit.
func (v *View) Resolve(r RepoID, rev string) (*recountv1.CodeSnapshot, error) {
	base, path := rev, ""
	if i := strings.IndexAny(rev, "~^"); i >= 0 {
		base, path = rev[:i], rev[i:]
	}
	s, err := v.named(r, base)
	if err != nil {
		return nil, err
	}
	for path != "" {
		step := path[0]
		digits := 1
		for digits < len(path) && path[digits] >= '0' && path[digits] <= '9' {
			digits++
		}
		n := 1
		if digits > 1 {
			if n, err = strconv.Atoi(path[1:digits]); err != nil {
				return nil, fmt.Errorf("revision %q: %w: %s is too large a number", rev, ErrUnknown, path[1:digits])
			}
		}
		if digits < len(path) && path[digits] != '~' && path[digits] != '^' {
			return nil, fmt.Errorf("revision %q: %w: want ~N, ^ or ^N after the name, not %q", rev, ErrUnknown, path[digits:])
		}
		path = path[digits:]
		which, times := 0, n
		if step == '^' {
			which, times = n-1, min(n, 1)
		}
		for range times {
			if which >= len(s.Parents) {
				return nil, fmt.Errorf("revision %q: %w: commit %.12s has %d parents", rev, ErrUnknown, s.Commit, len(s.Parents))
			}
			parent, err := v.Commit(r, s.Parents[which])
			if err != nil {
				return nil, err
			}
			if parent == nil {
				return nil, fmt.Errorf("revision %q: %w: commit %s was not imported", rev, ErrNotImported, s.Parents[which])
			}
			s = parent
		}
	}
	return s, nil
}

func (v *View) named(r RepoID, name string) (*recountv1.CodeSnapshot, error) {
	switch name {
	case "", "@", "HEAD":
		head, err := v.head(r)
		if err != nil {
			return nil, err
		}
		name = head
	case "worktree":
		s, err := v.WorkingTree(r)
		if err == nil && s == nil {
			err = fmt.Errorf("revision %q: %w: `recount import git --working-tree` makes one", name, ErrUnknown)
		}
		return s, err
	}
	for _, ref := range []string{name, "refs/" + name, "refs/tags/" + name, "refs/heads/" + name, "refs/remotes/" + name} {
		commit, err := v.refCommit(r, ref)
		if err != nil {
			return nil, err
		}
		if commit == "" {
			continue
		}
		s, err := v.Commit(r, commit)
		if err == nil && s == nil {
			err = fmt.Errorf("%s of %s points to commit %s: %w: it was not imported", ref, r.Name, commit, ErrNotImported)
		}
		return s, err
	}
	s, err := v.Abbreviated(r, name)
	if !errors.Is(err, ErrUnknown) {
		return s, err
	}
	if refs, e := v.Refs(r); e != nil || len(refs) > 0 {
		return nil, cmp.Or(e, err)
	}
	return nil, fmt.Errorf("revision %q of %s: %w: no ref was imported, so the import has not ended: if it was interrupted, run `recount import git PATH` again", name, r.Name, ErrNotImported)
}

// head returns the name of a repository's HEAD: that of the main working tree, else that of the
// linked one whose commit is the newest.
func (v *View) head(r RepoID) (string, error) {
	head := "HEAD"
	if commit, err := v.refCommit(r, head); commit != "" || err != nil {
		return head, err
	}
	refs, err := v.Refs(r)
	if err != nil {
		return head, err
	}
	var newest *recountv1.CodeSnapshot
	for _, name := range slices.Sorted(maps.Keys(refs)) {
		if !strings.HasPrefix(name, "worktrees/") {
			continue
		}
		commit, err := v.refCommit(r, name)
		if err != nil {
			return head, err
		}
		s, err := v.Commit(r, commit)
		if err != nil {
			return head, err
		}
		if s != nil && (newest == nil || s.Committer.GetTime().AsTime().After(newest.Committer.GetTime().AsTime())) {
			head, newest = name, s
		}
	}
	return head, nil
}

// refCommit returns the commit of a ref, following symbolic refs, or "" if there is none.
func (v *View) refCommit(r RepoID, ref string) (string, error) {
	for range 5 {
		m := &recountv1.CodeRef{}
		ok, err := v.Get(refKey(r.shard(), r.Name, ref), func(value []byte) error { return proto.Unmarshal(value, m) })
		if err != nil || !ok {
			return "", err
		}
		if m.Target == "" || m.Target == ref {
			return m.Commit, nil
		}
		next := m.Target
		if ok, err = v.Get(refKey(r.shard(), r.Name, next), func([]byte) error { return nil }); err != nil || !ok {
			return m.Commit, err
		}
		ref = next
	}
	return "", nil
}

// Abbreviated returns the only commit whose object id begins with digits. The error wraps
// ErrUnknown if there is none, and is an *AmbiguousError if there are several.
func (v *View) Abbreviated(r RepoID, digits string) (*recountv1.CodeSnapshot, error) {
	unknown := fmt.Errorf("revision %q of %s: %w: no ref or commit with that name was imported", digits, r.Name, ErrUnknown)
	lower := strings.ToLower(digits)
	if strings.Trim(lower, "0123456789abcdef") != "" {
		return nil, unknown
	}
	if len(lower) < minAbbreviation {
		return nil, fmt.Errorf("%w; give at least %d digits of a commit", unknown, minAbbreviation)
	}
	whole, err := hex.DecodeString(lower[:len(lower)/2*2])
	if err != nil {
		return nil, unknown
	}
	var found []*recountv1.CodeSnapshot
	prefix := commitKey(r.shard(), r.Name, whole)
	it, err := v.Iter(prefix, store.PrefixEnd(prefix))
	if err != nil {
		return nil, err
	}
	for ok := it.First(); ok && len(found) < maxCandidates; ok = it.Next() {
		value, err := it.ValueAndErr()
		s := &recountv1.CodeSnapshot{}
		if err == nil {
			err = proto.Unmarshal(value, s)
		}
		if err != nil {
			_ = it.Close()
			return nil, v.Damaged(err)
		}
		if strings.HasPrefix(s.Commit, lower) {
			found = append(found, s)
		}
	}
	if err := it.Close(); err != nil {
		return nil, v.Explain(err)
	}
	switch len(found) {
	case 0:
		return nil, unknown
	case 1:
		return found[0], nil
	}
	e := &AmbiguousError{What: fmt.Sprintf("commit %q", digits)}
	for _, s := range found {
		subject, _, _ := strings.Cut(s.Message, "\n")
		e.Candidates = append(e.Candidates, fmt.Sprintf("%.12s (%s)", s.Commit, subject))
	}
	return nil, e
}
