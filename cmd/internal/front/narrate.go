package front

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/state"
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
	func(a *asker) *cobra.Command { return verbs.Status(a.Terminal, a) },
}

// Asking implements verbs.Narrator: by is the server of the data directory.
func (a *asker) Asking(ctx context.Context, fn func(by verbs.Answers) error) error {
	s, err := a.running(ctx)
	if err != nil {
		return err
	}
	return fn(s)
}

// Status implements verbs.Stater: of the server of the data directory. What reads every projection's
// whole state, the engine asks for: it reports progress.
func (a *asker) Status(ctx context.Context, roots bool) (st state.Status, local bool, err error) {
	if roots {
		return st, false, errEngine
	}
	s, err := a.running(ctx)
	if err != nil {
		return st, false, err
	}
	defer a.UnlessSoon(func() string { return "waiting for the answer of the server" })()
	err = s.call(ctx, http.MethodGet, "/v1/status", nil, &st)
	return st, false, err
}

// running returns the server of the data directory. Without one the engine does the verbs of OfServer:
// recount-local does not have them.
func (a *asker) running(ctx context.Context) (server, error) {
	dir, err := a.directory()
	if err != nil {
		return server{}, err
	}
	s, err := serverOf(ctx, a.Terminal, dir, a.getenv)
	if errors.Is(err, errLocal) {
		err = errEngine
	}
	return s, err
}

func (a *asker) subject() verbs.Subject { return verbs.Subject{Getenv: a.getenv} }

// revisions leaves to the engine what may be two revisions of the code.
func revisions(_ context.Context, _ *cobra.Command, _ verbs.Answers, args []string, _ query.Moment, _ bool) (mine bool, err error) {
	if len(args) == 2 || len(args) == 1 && strings.Contains(args[0], "..") {
		return true, errEngine
	}
	return false, nil
}

var (
	_ verbs.Narrator = (*asker)(nil)
	_ verbs.Stater   = (*asker)(nil)
)
