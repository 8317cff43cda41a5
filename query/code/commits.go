package code

import (
	"context"
	"errors"

	snapshots "github.com/recountdb/recount/projections/graph/code"
	"github.com/recountdb/recount/schemas"
)

// Commits finds the commits that names stand for, in any repository: ids, or beginnings of
// ids. A name that none has is left out, and so is one that several have. visible is what
// the answer rests on.
func Commits(ctx context.Context, s Sources, names []string) (found map[string]Revision, visible schemas.Watermark, err error) {
	a, err := s.ask(ctx, Scope{})
	if err != nil {
		return nil, nil, err
	}
	defer a.close()
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
	return found, a.visible, nil
}
