package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

func (a *app) statusCmd() *cobra.Command {
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
			answered := false
			err := a.WithBackend(cmd.Context(), func(b *connect.Backend) error {
				answered = true
				if b.Local != nil {
					if err := connect.Settle(cmd.Context(), b); err != nil {
						return err
					}
				}
				st, err := b.Status(cmd.Context(), api.StatusRequest{Roots: roots})
				a.ClearProgress()
				if err != nil {
					return err
				}
				if a.JSON {
					return a.PrintJSON(st)
				}
				nodeview.Status(a.Terminal, st, b.Local != nil, time.Now())
				return nil
			})
			if cfg, bad := a.NodeConfig(); err != nil && !answered && bad == nil && !a.JSON {
				nodeview.Spool(a.Terminal, node.SpoolStatus(cfg.DataDir, nil)) // this needs no server
			}
			return err
		},
	}
	c.Flags().BoolVar(&roots, "roots", false, "compute the root of each projection; this reads its whole state")
	return c
}
