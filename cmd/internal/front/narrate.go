package front

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/state"
)

// Narratives are the verbs about narratives of commands, which may ask several questions.
var Narratives = []Verb{
	func(a *asker) *cobra.Command { return verbs.Show(a.Terminal, a, nil) },
	func(a *asker) *cobra.Command { return verbs.Why(a.Terminal, a, a.subject(), nil) },
	func(a *asker) *cobra.Command { return verbs.Stitch(a.Terminal, a, a.subject()) },
	func(a *asker) *cobra.Command { return verbs.Diff(a.Terminal, a, a.subject(), revisions) },
	func(a *asker) *cobra.Command { return verbs.Insights(a.Terminal, a) },
}

// OfServer are the verbs that only recount has, and not recount-local. But for search, whose interface
// waits for a server, they ask one or are the engine's.
var OfServer = []Verb{
	Search,
	func(a *asker) *cobra.Command { return verbs.Status(a.Terminal, a) },
}

// Asking implements verbs.Narrator. What fails before fn has printed is the engine's to do; what fails
// when the data directory is closed is reported here.
func (a *asker) Asking(ctx context.Context, fn func(by verbs.Answers) error) error {
	by, err := a.opened(ctx)
	if err != nil {
		return err
	}
	err = fn(by)
	closed := by.Close()
	var exit cli.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		return errors.Join(err, closed)
	case closed != nil:
		a.Tell(closed.Error())
		return cli.ExitError(cli.ExitFailed)
	}
	return err
}

// Status implements verbs.Stater: of the server of the data directory. What reads every projection's
// whole state, the engine asks for: it reports progress.
func (a *asker) Status(ctx context.Context, roots bool) (st state.Status, local bool, err error) {
	if roots {
		return st, false, errEngine
	}
	dir, err := a.directory()
	if err != nil {
		return st, false, err
	}
	s, _, err := serverOf(ctx, a.Terminal, dir, a.getenv)
	if errors.Is(err, errLocal) {
		return st, false, errEngine // recount-local does not do this
	}
	if err != nil {
		return st, false, err
	}
	defer a.UnlessSoon(func() string { return "waiting for the answer of the server" })()
	err = s.call(ctx, http.MethodGet, "/v1/status", nil, &st)
	return st, false, err
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
