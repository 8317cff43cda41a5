package verbs

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/stateview"
	"github.com/recountdb/recount/query/state"
)

// Stater answers the verb status.
type Stater interface {
	// Status returns the status, and whether no server answered but a data directory that was opened
	// for it. roots asks for the root of each projection.
	Status(ctx context.Context, roots bool) (st state.Status, local bool, err error)
}

// Status returns the verb status, which prints on t what by answers.
func Status(t *render.Terminal, by Stater) *cobra.Command {
	var roots bool
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the status of the log and the projections",
		Long: `Show what the log holds, what the projections have applied of it, and counts of
commands. --roots adds the hash of each projection's whole state: equal roots mean
equal states.`,
		Example: "  recount status\n  recount status --roots --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, local, err := by.Status(cmd.Context(), roots)
			if err != nil {
				return err
			}
			if t.JSON {
				return t.PrintJSON(st)
			}
			stateview.Status(t, st, local, time.Now())
			return nil
		},
	}
	c.Flags().BoolVar(&roots, "roots", false, "compute the root of each projection; this reads its whole state")
	return c
}
