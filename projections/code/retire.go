package code

import (
	"context"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/prolly"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// Retirable returns the commits whose graphs a rule would remove from the state of the view, by
// object id, and the number of graphs that stay. Commits without a time stay.
func (v *View) Retirable(r RepoID, rule *recountv1.SnapshotsRetired) (retire []*recountv1.CodeSnapshot, kept int, err error) {
	refs, err := v.Refs(r)
	if err != nil {
		return nil, 0, err
	}
	tips := map[string]bool{}
	for name, ref := range refs {
		if keepsRef(rule.GetRefs(), name) {
			// A symbolic ref has the commit that its target had when the ref was reported.
			tips[ref.GetCommit()] = true
			tips[refs[ref.GetTarget()].GetCommit()] = true
		}
	}
	before := rule.GetBefore().AsTime()
	newest := int64(-1)
	var old []*recountv1.CodeSnapshot
	err = v.Commits(r, func(s *recountv1.CodeSnapshot) error {
		if s.Maps == nil {
			return nil
		}
		newest = max(newest, s.GetPosition().GetOffset())
		at := committed(s)
		if at.IsZero() || !at.Before(before) || tips[s.Commit] {
			kept++
			return nil
		}
		old = append(old, s)
		return nil
	})
	for _, s := range old {
		if s.GetPosition().GetOffset() == newest {
			kept++
			continue
		}
		retire = append(retire, s)
	}
	return retire, kept, err
}

// keepsRef reports whether a rule keeps the graph that a ref points to.
func keepsRef(patterns []string, name string) bool {
	return len(patterns) == 0 || name == "HEAD" || slices.ContainsFunc(patterns, func(p string) bool {
		begins, star := strings.CutSuffix(p, "*")
		return p == name || star && strings.HasPrefix(name, begins)
	})
}

// committed returns the time of a commit, or zero if it has none.
func committed(s *recountv1.CodeSnapshot) time.Time {
	for _, by := range []*recountv1.Signature{s.Committer, s.Author} {
		if by.GetTime() != nil {
			return by.Time.AsTime()
		}
	}
	return time.Time{}
}

// retire removes graphs, and the chunks that no other graph of the partition uses. It is applied
// alone: everything that it reads is stored.
func (f *fold) retire(ctx context.Context, r *recountv1.Record, rule *recountv1.SnapshotsRetired) error {
	v, err := f.c.View()
	if err != nil {
		return err
	}
	defer v.Close()
	at := schemas.PositionOf(r.Origin)
	repo := RepoID{at.TP(), rule.Repository}
	retire, _, err := v.Retirable(repo, rule)
	if err != nil {
		return err
	}
	gone := map[string]bool{}
	for _, s := range retire {
		gone[s.Commit] = true
		s.Maps, s.Snapshot = nil, nil
		s.WithoutGraph = fmt.Sprintf("its graph was removed by the event at %s; to build it again, import under another NAME: recount import git PATH --repo NAME --history N", at)
		id, err := hex.DecodeString(s.Commit)
		if err != nil {
			return f.c.Damaged(err)
		}
		value, err := marshal(s)
		if err != nil {
			return err
		}
		if err := f.set(commitKey(f.t.Shard(), s.Repository, id), value); err != nil {
			return err
		}
	}
	used, err := f.used(ctx, v, repo, gone)
	if err != nil {
		return err
	}
	chunks := viewed(v.View, f.t.Shard())
	return v.each(chunks.Prefix, func(key, _ []byte) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if r, ok := chunks.Ref(key); ok && !used.has(r) {
			return f.t.Delete(slices.Clone(key))
		}
		return nil
	})
}

// marks has the marks of each map, in the order of allMaps.
type marks [len(allMaps)]*prolly.Marks

func (m *marks) has(r prolly.Ref) bool {
	return 1 <= r.Space && int(r.Space) <= len(m) && m[r.Space-1].Has(r.Hash)
}

// used marks the chunks of all graphs of the partition, except the graphs in gone of the repository
// retired.
func (f *fold) used(ctx context.Context, v *View, retired RepoID, gone map[string]bool) (*marks, error) {
	used := &marks{}
	for i, w := range allMaps {
		used[i] = v.Maps(retired, w).Marks()
	}
	repos, err := v.Repositories()
	if err != nil {
		return nil, err
	}
	mark := func(s *recountv1.CodeSnapshot) error {
		if s.GetMaps() == nil {
			return nil
		}
		roots, err := decodeRoots(s.Maps)
		if err != nil {
			return v.Damaged(err)
		}
		for i, root := range roots.all() {
			if err := used[i].Add(ctx, *root); err != nil {
				return err
			}
		}
		return nil
	}
	for _, r := range repos {
		if r.TP != retired.TP {
			continue
		}
		err := v.Commits(r, func(s *recountv1.CodeSnapshot) error {
			if r == retired && gone[s.Commit] {
				return nil
			}
			return mark(s)
		})
		if err != nil {
			return nil, err
		}
		tree, err := v.WorkingTree(r)
		if err == nil {
			err = mark(tree)
		}
		if err != nil {
			return nil, err
		}
	}
	return used, nil
}
