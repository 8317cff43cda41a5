// Command recount-record records one command that a shell ran, or with --listen each one
// that a shell writes into a pipe. The shells' hooks call it, so it does little: it reads the command's text from the standard input
// (arguments are for everybody to see), takes secrets out, and appends one entry to the
// spool in the data directory. It opens no log, asks no server and waits for nothing; who
// has the log takes the entry from there (package spool).
//
// Where RECOUNT_SERVER names a server, the program recount beside this one then sends
// what waits for it.
package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/recountdb/recount/internal/recording"
)

func main() {
	if err := recording.Record(os.Args[1:], os.Stdin, os.Stderr); err != nil {
		fmt.Fprintf(os.Stderr, "recount-record: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
		os.Exit(1)
	}
}
