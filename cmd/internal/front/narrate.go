package front

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/query"
)

// OfServer are the verbs that recount has besides those of recount-local, which does not link them. But
// for search, whose interface waits for a server, they ask one or are the engine's.
var OfServer = []Verb{
	Search,
	func(a *asker) *cobra.Command { return verbs.Show(a.Terminal, a, nil) },
	func(a *asker) *cobra.Command { return verbs.Why(a.Terminal, a, a.subject(), nil) },
	func(a *asker) *cobra.Command { return verbs.Stitch(a.Terminal, a, a.subject()) },
	func(a *asker) *cobra.Command { return verbs.Diff(a.Terminal, a, a.subject(), revisions) },
	func(a *asker) *cobra.Command { return verbs.Insights(a.Terminal, a) },
}

// Asking implements verbs.Narrator: by is the server of the data directory.
func (a *asker) Asking(ctx context.Context, fn func(by verbs.Answers) error) error {
	dir, err := a.directory()
	if err != nil {
		return err
	}
	s, err := serverOf(ctx, a.Terminal, dir, a.getenv)
	if errors.Is(err, errLocal) {
		return errEngine // recount-local does not have these verbs
	}
	if err != nil {
		return err
	}
	return fn(s)
}

func (a *asker) subject() verbs.Subject { return verbs.Subject{Getenv: a.getenv} }

// revisions leaves to the engine what may be two revisions of the code.
func revisions(_ context.Context, _ *cobra.Command, _ verbs.Answers, args []string, _ query.Moment, _ bool) (mine bool, err error) {
	if len(args) == 2 || len(args) == 1 && strings.Contains(args[0], "..") {
		return true, errEngine
	}
	return false, nil
}

var _ verbs.Narrator = (*asker)(nil)
