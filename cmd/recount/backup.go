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
		Short: "Copy the log into a folder, while everything goes on",
		Long: `Copy one moment of the log into a folder: all that was acknowledged before is in it.
A server on the data directory makes the copy, and goes on meanwhile; without one the
directory is opened for it. Into a folder that has a backup of this log, only what is new
is copied; what it held before stays whole until the new one is. Projections are not in
it: they are made from the log.

Keep the folder on another disk. Whoever can read it can read all that was recorded, and
what was forgotten after it was made is still in it: make another one into the same folder.

--verify reads a backup and compares all of it with its checksums. Exits with 1 if
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
					fmt.Fprintln(a.Err, "recount: commands wait in the spool, which are not in the backup: recount status says why")
				}
				if a.JSON {
					return a.PrintJSON(r)
				}
				nodeview.Backup(a.Terminal, r)
				return nil
			})
		},
	}
	c.Flags().BoolVar(&verify, "verify", false, "check the backup in DIR instead")
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
		a.Printf("%d of %s are damaged: make another backup into a new folder\n", len(wrong), render.Count(r.Files, "file"))
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
		Short: "Make a data directory of a backup",
		Long: `Make a data directory of a backup that "recount backup" made. The directory must be new
or empty. All of the backup is checked, and the log in it read, before anything is put in
place; what fails leaves nothing behind. The projections are made by the first question or
the next start.`,
		Example: "  recount restore /backup/recount --data-dir /srv/recount",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if a.DataDir == "" {
				return usage.Errorf("restore: name the directory to make: --data-dir DIR")
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
