package main

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/server/api"
	"github.com/recountdb/recount/server/node"
)

func (a *app) backupCmd() *cobra.Command {
	var verify bool
	c := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy the log into a folder, without stopping anything",
		Long: `Copy a consistent state of the log into a folder. It holds everything that was
acknowledged before the command began. A server on the data directory makes the copy
while it continues to work; without a server the command opens the directory itself.
If the folder already has a backup of this log, only new data is copied, and the old
backup stays intact until the new one is complete. Projections are not copied: they
are rebuilt from the log.

Keep the folder on another disk. Everyone who can read it can read all recorded data.
It also holds events that were forgotten after the backup was made: back up into the
same folder again to remove them.

--verify reads a backup and checks all of it against its checksums. Exits with 1 if
anything is wrong.`,
		Example: `  recount backup /backup/recount
  recount backup --verify /backup/recount
  recount restore /backup/recount --data-dir /srv/recount`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			dir, err := filepath.Abs(args[0])
			if err != nil {
				return err
			}
			if verify {
				return a.verifyBackup(cmd, dir)
			}
			return a.WithBackendFor(cmd.Context(), a.ToKeep, func(b *connect.Backend) error {
				r, err := b.Backup(cmd.Context(), api.BackupRequest{Dir: dir}, a.Progress())
				a.ClearProgress()
				if err != nil {
					return err
				}
				if r.Spooled {
					fmt.Fprintln(a.Err, "recount: the backup does not include commands that are still in the spool: recount status shows why")
				}
				if a.JSON {
					return a.PrintJSON(r)
				}
				nodeview.Backup(a.Terminal, r)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&verify, "verify", false, "check the backup in DIR instead of making one")
	return c
}

func (a *app) verifyBackup(cmd *cobra.Command, dir string) error {
	r, wrong, err := node.VerifyBackup(cmd.Context(), dir, a.Progress())
	a.ClearProgress()
	if err != nil {
		return err
	}
	for _, w := range wrong {
		a.Printf("%s %s\n", a.Paint(render.Red, "WRONG"), render.OneLine(w.Error()))
	}
	if len(wrong) > 0 {
		a.Printf("%d of %s are damaged: make a new backup in a new folder\n", len(wrong), render.Count(r.Files, "file"))
		return exitError(1)
	}
	if a.JSON {
		return a.PrintJSON(r)
	}
	a.Printf("%s: %s of %s, as of %s\n", a.Paint(render.Green, "whole"), render.Count(r.Files, "file"), render.Count(int(r.Bytes), "byte"), r.Made.Local().Format(time.DateTime))
	return nil
}

func (a *app) restoreCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "restore BACKUP --data-dir DIR",
		Short: "Restore a backup into a new data directory",
		Long: `Restore a backup made by "recount backup" into a new or empty data directory. The
whole backup is checked and its log is read before anything is put in place; if that
fails, nothing is left behind. The projections are rebuilt by the first query or the
next start.`,
		Example: "  recount restore /backup/recount --data-dir /srv/recount",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.DataDir == "" {
				return usage.Errorf("restore: name the new directory: --data-dir DIR")
			}
			r, err := node.Restore(cmd.Context(), args[0], a.DataDir, a.Progress())
			a.ClearProgress()
			if err != nil {
				return err
			}
			if a.JSON {
				return a.PrintJSON(r)
			}
			a.Printf("%s: the log as of %s, %s, checked\n", render.OneLine(a.DataDir), r.Made.Local().Format(time.DateTime), render.Count(int(r.Bytes), "byte"))
			return nil
		},
	}
}
