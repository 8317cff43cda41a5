package code

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	snapshots "github.com/recountdb/recount/projections/code"
	"github.com/recountdb/recount/schemas"
)

// Commits returns the commits of any repository that match names: object ids, or beginnings of
// them. Names that match none or several are omitted. visible is the watermark of the answer.
func Commits(ctx context.Context, s Sources, names []string) (found map[string]Revision, visible schemas.Watermark, err error) {
	a, err := s.open(ctx, Scope{})
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	repos, err := a.view.Repositories()
	if err != nil {
		return nil, nil, err
	}
	found = map[string]Revision{}
	for _, name := range names {
		several := false
		for _, r := range repos {
			c, err := a.view.Abbreviated(r, name)
			var ambiguous *snapshots.AmbiguousError
			switch {
			case errors.As(err, &ambiguous):
				several = true
				continue
			case errors.Is(err, snapshots.ErrUnknown):
				continue
			case err != nil:
				return nil, nil, err
			}
			// A copy of a repository has the same commits.
			if first, have := found[name]; have {
				several = several || first.Commit != c.Commit
			} else {
				found[name] = revisionOf(c)
			}
		}
		if several {
			delete(found, name)
		}
	}
	return found, a.Visible, nil
}

// maxNaming is the maximum number of commits per repository that are examined for one issue.
const maxNaming = 256

// Naming returns, for each issue (OWNER/REPO#NUMBER), the newest commits of any repository whose
// messages name it: at most `most` per issue, the newest first.
func Naming(ctx context.Context, s Sources, issues []string, most int) (found map[string][]Revision, visible schemas.Watermark, err error) {
	a, err := s.open(ctx, Scope{})
	if err != nil {
		return nil, nil, err
	}
	defer a.Close()
	repos, err := a.view.Repositories()
	if err != nil {
		return nil, nil, err
	}
	found = map[string][]Revision{}
	for _, issue := range issues {
		var all []Revision
		seen := map[string]bool{}
		for _, r := range repos {
			commits, err := a.view.Naming(r, issue, maxNaming)
			if err != nil {
				return nil, nil, err
			}
			for _, c := range commits {
				if !seen[c.Commit] { // a copy of a repository has the same commits
					seen[c.Commit] = true
					all = append(all, revisionOf(c))
				}
			}
		}
		slices.SortFunc(all, func(x, y Revision) int { return cmp.Or(y.Time.Compare(x.Time), strings.Compare(x.Commit, y.Commit)) })
		if len(all) > 0 {
			found[issue] = all[:min(len(all), most)]
		}
	}
	return found, a.Visible, nil
}
