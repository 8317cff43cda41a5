package commits

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/recountdb/recount/internal/git"
)

// plan is what an import will do, based on the refs at its start.
type plan struct {
	head git.Ref
	// refs are those that may be recorded.
	refs    []git.Ref
	shallow []string
	// beforeBase are the base's parents.
	beforeBase []string
	// deepen is a base older than the recorded one, or "".
	deepen string
	// tips are the commits to record, with all their ancestors.
	tips []string
}

// plan reads the refs and chooses the base.
func (im *importer) plan(ctx context.Context) (p plan, err error) {
	if p.head, err = im.repo.Head(ctx); err != nil {
		return p, err
	}
	prefixes := []string{"refs/heads", "refs/tags"}
	if im.o.All {
		prefixes = append(prefixes, "refs/remotes")
	}
	if p.refs, err = im.repo.Refs(ctx, prefixes...); err != nil {
		return p, err
	}
	if p.shallow, err = im.repo.Shallow(); err != nil {
		return p, err
	}
	if err := im.reconcile(ctx, p); err != nil {
		return p, err
	}
	if p.tips, err = im.tips(p); err != nil {
		return p, err
	}
	from := p.head.Commit
	if from == "" {
		from = p.tips[0]
	}
	if im.state.Base == "" {
		if im.state.Base, err = im.repo.Back(ctx, from, max(0, im.o.History)); err != nil {
			return p, err
		}
	} else if im.o.History >= 0 {
		older, err := im.repo.Back(ctx, from, im.o.History)
		if err != nil {
			return p, err
		}
		deeper, err := im.isBefore(ctx, older)
		switch {
		case err != nil:
			return p, err
		case deeper && im.state.BaseDone:
			p.deepen = older
		case deeper:
			// The base is not recorded yet. The commits after the older one may be recorded by
			// names, and are recorded with content now.
			im.state.Base, im.state.Heads = older, nil
			clear(im.before)
		}
	}
	im.state.Path = im.repo.Root()
	if p.beforeBase, err = im.parents(ctx, im.state.Base); err != nil {
		return p, err
	}
	return p, nil
}

// tips returns the commits to record, HEAD's first.
func (im *importer) tips(p plan) ([]string, error) {
	var tips []string
	add := func(id string) {
		if id != "" && !slices.Contains(tips, id) {
			tips = append(tips, id)
		}
	}
	add(p.head.Commit)
	for _, r := range p.refs {
		if strings.HasPrefix(r.Name, "refs/tags/") {
			continue
		}
		// A branch that was imported before is followed.
		if _, known := im.state.refs[r.Name]; im.o.All || known {
			add(r.Commit)
		}
	}
	switch {
	case len(tips) > 0:
		return tips, nil
	case len(p.refs) > 0:
		return nil, fmt.Errorf("HEAD points to %s, which does not exist: switch to an existing branch, or import all branches with --all", p.head.Target)
	}
	return nil, fmt.Errorf("%s: %w: make a commit, or follow the repository with recount watch git", im.repo.Root(), ErrNoCommits)
}

// branch returns the name of a branch with a tip.
func (p plan) branch(tip string) string {
	for _, r := range p.refs {
		if r.Commit == tip && !strings.HasPrefix(r.Name, "refs/tags/") {
			return strings.TrimPrefix(strings.TrimPrefix(r.Name, "refs/heads/"), "refs/remotes/")
		}
	}
	return tip
}

// SameNameError means that another repository has the name.
type SameNameError struct {
	Repository  string
	Path, Other string
	Roots       []string
	// Shallow means that the clone may only be too shallow to reach their common commits.
	Shallow bool
}

func (e *SameNameError) Error() string {
	roots := "none"
	if len(e.Roots) > 0 {
		roots = strings.Join(e.Roots[:min(3, len(e.Roots))], ", ")
	}
	if e.Shallow {
		return fmt.Sprintf("%s and %s are both named %s, and the shallow clone does not reach back to an imported commit: deepen it (git fetch --deepen=100), or, if it is another repository, give it another name with --repo",
			e.Path, e.Other, e.Repository)
	}
	return fmt.Sprintf("%s and %s are both named %s and have no commit in common (the first commit of the other: %s): give one of them another name with --repo",
		e.Path, e.Other, e.Repository, roots)
}

// reconcile compares the state with the repository: another repository with the same name is
// refused, and commits that no longer exist are removed from the state.
func (im *importer) reconcile(ctx context.Context, p plan) error {
	s := im.state
	if !s.Known() {
		return nil
	}
	ids := append(append([]string{s.Base}, s.Roots...), s.Heads...)
	var here []string
	err := im.objects.Infos(ids, func(i int, info git.Info) error {
		if info.Type == git.TypeCommit {
			here = append(here, ids[i])
		}
		return nil
	})
	if err != nil {
		return err
	}
	if len(here) == 0 && (s.BaseDone || len(s.Heads) > 0) {
		// The border of a shallow clone names commits that the clone does not have.
		known, err := im.borders(ids, p.shallow)
		if err != nil {
			return err
		}
		if !known {
			return &SameNameError{im.o.Repository, im.repo.Root(), s.Path, s.Roots, len(p.shallow) > 0}
		}
	}
	gone := func(id string) bool { return !slices.Contains(here, id) }
	heads := slices.DeleteFunc(slices.Clone(s.Heads), gone)
	if len(heads) < len(s.Heads) {
		// A branch was deleted and git has removed its commits. The last known refs show what else
		// is recorded.
		for _, r := range s.refs {
			ok := false
			err := im.objects.Infos([]string{r.Commit}, func(_ int, info git.Info) error {
				ok = info.Type == git.TypeCommit
				return nil
			})
			if err != nil {
				return err
			}
			if ok && !slices.Contains(heads, r.Commit) {
				heads = append(heads, r.Commit)
			}
		}
		slices.Sort(heads)
	}
	s.Heads = heads
	if gone(s.Base) {
		// All known commits are gone, or this is a shallower clone: start with HEAD.
		s.Base, s.BaseDone, s.Heads = "", false, nil
	} else if !slices.Equal(s.Shallow, p.shallow) {
		// The clone was deepened: commits beyond the old border are new. Those recorded before are
		// recorded again, with the same ids.
		s.Heads, s.BaseDone = nil, false
	}
	return nil
}

// borders reports whether commits at the border of a shallow clone follow one of the known commits.
func (im *importer) borders(known, border []string) (follows bool, err error) {
	err = im.objects.Commits(border, func(c git.Commit) error {
		for _, parent := range c.Parents {
			follows = follows || slices.Contains(known, parent)
		}
		return nil
	})
	return follows, err
}

// parents returns those parents of a commit that the repository has.
func (im *importer) parents(ctx context.Context, id string) (ids []string, err error) {
	var c git.Commit
	err = im.objects.Commits([]string{id}, func(read git.Commit) error {
		c = read
		return nil
	})
	if err != nil || len(c.Parents) == 0 {
		return nil, err
	}
	border, err := im.repo.Shallow()
	if err != nil || slices.Contains(border, id) {
		return nil, err
	}
	return c.Parents, nil
}

// isBefore reports whether a commit is a proper ancestor of the base, so that its content is not on
// the log.
func (im *importer) isBefore(ctx context.Context, id string) (bool, error) {
	if id == im.state.Base {
		return false, nil
	}
	if b, known := im.before[id]; known {
		return b, nil
	}
	b, err := im.repo.Has(ctx, im.state.Base, id)
	if err == nil {
		im.before[id] = b
	}
	return b, err
}

// count determines the number of commits, if Progress is set.
func (im *importer) count(ctx context.Context, p plan) error {
	if im.o.Progress == nil {
		return nil
	}
	not := im.known()
	if p.deepen != "" {
		n, err := im.repo.Count(ctx, p.beforeBase, []string{p.deepen})
		if err != nil {
			return err
		}
		im.total += n
	}
	from := p.tips
	if !im.state.BaseDone {
		from = append(slices.Clone(from), im.state.Base)
	}
	n, err := im.repo.Count(ctx, from, not)
	im.total += n
	return err
}
