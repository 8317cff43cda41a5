// Command recount-record records one command that a shell ran, or with --listen each command that a
// shell writes into a pipe. The shells' hooks call it, so it must be fast: it reads the command's
// text from the standard input (arguments are visible to everybody), redacts secrets, and appends
// one entry to the spool in the data directory. It opens no log and waits for no server; the
// process that has the log takes the entry from the spool (package spool).
//
// If RECOUNT_SERVER names a server, the program recount beside this one then sends the spooled
// entries to it.
//
// `recount-record hook run AGENT` is an agent's hook that was installed with --recall: it starts
// `recount hook run AGENT`, which records, and prints what the server recalls (package recallhook).
//
// `recount-record sandbox-init` is the first process of a sandbox; a replay starts it (package sandbox).
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/recountdb/recount/internal/recallhook"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/replay/sandbox"
)

func main() {
	sandbox.Init() // it returns, unless this program is to be the first process of a sandbox
	if len(os.Args) > 1 && os.Args[1] == "hook" {
		recallhook.Run(os.Args[2:], os.Stdin, os.Stdout, os.Getenv, recallhook.Started())
		return
	}
	if err := recording.Record(os.Args[1:], os.Stdin, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "recount-record: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}
