package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/server/api"
)

func (a *app) fsckCmd() *cobra.Command {
	return &cobra.Command{
		Use:   "fsck",
		Short: "Check every snapshot of the code graph as it is stored",
		Long: `Read every snapshot, map and chunk of the code graph, compute their hashes anew, and
hold the edges of each repository's newest graph against their other direction and
their nodes. Changes nothing. verify compares with the log besides, which takes as long
as a rebuild. What is damaged is mended by: recount rebuild --projection code

Exits with 1 if anything is wrong, and says in which repository, commit, map and chunk.`,
		Example: "  recount fsck\n  recount fsck --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.withBackend(cmd.Context(), func(b *backend) error {
				r, err := b.Fsck(cmd.Context(), api.FsckRequest{}, a.progress())
				a.clearProgress()
				if err != nil {
					return err
				}
				if a.json {
					err = a.printJSON(r)
				} else {
					a.printFsck(r)
				}
				if err == nil && !r.OK {
					return exitError(exitNothing)
				}
				return err
			})
		},
	}
}

func (a *app) printFsck(r api.FsckReport) {
	for _, f := range r.Faults {
		where := oneLine(f.Repo)
		if f.Commit != "" {
			where += fmt.Sprintf(" at %.12s", f.Commit)
		}
		if f.Map != "" {
			where += ", map " + f.Map
		}
		a.printf("%s %s: %s\n", a.paint(red, "WRONG"), where, oneLine(f.What))
	}
	if r.More {
		a.printf("… there may be more: the check ended here\n")
	}
	if r.OK {
		a.printf("%s ", a.paint(green, "clean"))
	}
	a.printf("%s in %s; %s of %s; %s\n", counted(r.Snapshots, "snapshot"), repositories(r.Repositories),
		counted(r.Chunks, "chunk"), counted(int(r.Bytes), "byte"), counted(int(r.Edges), "edge"))
	if r.Unused > 0 {
		a.printf("%s\n", a.paint(dim, fmt.Sprintf("%s in no snapshot", counted(r.Unused, "chunk"))))
	}
	a.printf("%s\n", a.paint(dim, "checked in "+took(time.Duration(r.ElapsedMS)*time.Millisecond)))
	if !r.OK {
		a.printf("recount rebuild --projection code makes the graph anew from the log\n")
	}
}

func repositories(n int) string {
	if n == 1 {
		return "1 repository"
	}
	return thousands(n) + " repositories"
}
