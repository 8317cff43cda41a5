// Command recount is the memory of engineering work: it keeps every shell command on a durable log,
// answers questions about what happened, and proves its answers.
//
// A file here holds the flags and the help of one verb, or of a few alike; the packages below do the
// work: internal/connect finds what answers, query asks, internal/render prints. A verb
// asks the server that uses the data directory, if there is one; else it opens the directory itself
// for as long as it needs it.
//
// The exit code is 0 for success, 1 for a negative answer (nothing found, not equal) and 2 for an
// error. exec exits with the code of its command; the commands in agents' settings exit with 0.
package main

import (
	"cmp"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/program"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render"
)

// version is set by the build: -ldflags "-X main.version=1.2.3".
var version string

func main() { start(render.DefaultSilence, 0) }

// start runs the command line of the process and ends it. A verb reports what it waits for after
// being silent for the given time.
func start(silence, patience time.Duration) {
	program.Main(cli.Version(version), silence, patience, func(con *connect.Connector) *cobra.Command { return (&app{con}).root() })
}

// app holds what all verbs share: the streams and the global flags.
type app struct {
	*connect.Connector
}

// user returns the name under which a person's notes are kept: $USER, or else the account's.
func (a *app) user() string {
	return cmp.Or(a.Getenv("USER"), recording.UserName(a.Getenv))
}

const (
	exitNothing = cli.ExitNothing
	exitFailed  = cli.ExitFailed
)

type exitError = cli.ExitError
