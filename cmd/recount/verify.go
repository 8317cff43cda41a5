package main

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/internal/render/stateview"
	"github.com/recountdb/recount/query/state"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

func (a *app) fsckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "fsck",
		Short: "Check the stored snapshots of the code graph",
		Long: `Read every snapshot, map and chunk of the code graph, recompute their hashes, and check
the edges of each repository's newest graph against their reverse edges and their nodes.
It changes nothing. recount verify also compares with the log, which takes as long as a
rebuild. To repair damage, run: recount rebuild --projection code

Exits with 1 if anything is wrong, and names the repository, commit, map and chunk.`,
		Example: "  recount fsck\n  recount fsck --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				r, err := b.Fsck(cmd.Context(), api.FsckRequest{}, a.Progress())
				a.ClearProgress()
				if err != nil {
					return err
				}
				return a.verdict(r, r.OK, func() { nodeview.Fsck(a.Terminal, r) })
			})
		},
	}
}

// verdict prints the report of a check, as JSON or by draw, and returns the exit code of ok.
func (a *app) verdict(report any, ok bool, draw func()) error {
	if a.JSON {
		if err := a.PrintJSON(report); err != nil {
			return err
		}
	} else {
		draw()
	}
	if !ok {
		return exitError(exitNothing)
	}
	return nil
}

func (a *app) rebuildCmd() *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   "rebuild [--projection NAME]",
		Short: "Rebuild projections from the log",
		Long: `Replay the log from offset zero into new projections beside the live ones, and switch
to them when they have caught up. The live ones answer until then; an interrupted
rebuild leaves them unchanged.`,
		Example: "  recount rebuild\n  recount rebuild --projection lexical",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			rebuild := func(b *connect.Backend) error {
				r, err := b.Rebuild(cmd.Context(), api.RebuildRequest{Projections: names}, a.Progress())
				a.ClearProgress()
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(r)
				}
				nodeview.Rebuilt(a.Terminal, r)
				return nil
			}
			err := a.WithBackend(cmd.Context(), rebuild)
			// State that is too damaged to be opened is removed before it is rebuilt.
			var damaged *node.DamagedError
			if !errors.As(err, &damaged) {
				return err
			}
			cfg, cerr := a.NodeConfig()
			if cerr == nil {
				cerr = node.Reset(cfg.DataDir, names)
			}
			if cerr != nil {
				return cerr
			}
			return a.WithBackend(cmd.Context(), rebuild)
		},
	}
	c.Flags().StringSliceVar(&names, "projection", nil, "names of projections, comma-separated (default all)")
	return c
}

func (a *app) verifyCmd() *cobra.Command {
	var names []string
	c := &cobra.Command{
		Use:   "verify [--projection NAME]",
		Short: "Check that the projections match the log",
		Long: `Replay the log from offset zero into a scratch directory and compare the result with
the live projections: roots, every key, and sealed files byte for byte. It changes
nothing. If anything differs, it prints where and exits with 1.`,
		Example: "  recount verify\n  recount verify --projection segment --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				r, err := b.Verify(cmd.Context(), api.VerifyRequest{Projections: names}, a.Progress())
				a.ClearProgress()
				if err != nil {
					return err
				}
				return a.verdict(r, r.OK, func() { nodeview.Verify(a.Terminal, r) })
			})
		},
	}
	c.Flags().StringSliceVar(&names, "projection", nil, "names of projections, comma-separated (default all)")
	return c
}

func (a *app) statusCmd() *cobra.Command { return verbs.Status(a.Terminal, stater{a}) }

// stater answers the verb status.
type stater struct{ *app }

// Status implements verbs.Stater: of the server, or of the data directory once its projections have
// applied what is on the log. If neither can be asked, it prints how the spool stands.
func (a stater) Status(ctx context.Context, roots bool) (st state.Status, local bool, err error) {
	answered := false
	err = a.WithBackendFor(ctx, a.ToRead, func(b *connect.Backend) error {
		answered, local = true, b.Local != nil
		if local {
			if err := connect.Settle(ctx, b); err != nil {
				return err
			}
		}
		var err error
		st, err = b.Status(ctx, state.StatusRequest{Roots: roots})
		a.ClearProgress()
		if cfg, bad := a.NodeConfig(); local && bad == nil {
			// ToRead opens another one if nothing was recorded.
			if dir, bad := filepath.Abs(cfg.DataDir); bad == nil {
				st.DataDir = dir
			}
		}
		return err
	})
	if cfg, bad := a.NodeConfig(); err != nil && !answered && bad == nil && !a.JSON {
		stateview.Spool(a.Terminal, node.SpoolStatus(cfg.DataDir, nil)) // this needs no server
	}
	return st, local, err
}
