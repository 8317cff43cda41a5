// Package program holds what the programs recount and recount-pipeline share: the connection to the
// data from the global flags, and the verb up.
package program

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
)

// Main runs a command line of the process and ends it. A verb reports what it waits for after being
// silent for the given time. patience is the connector's.
func Main(version string, silence, patience time.Duration, root func(*connect.Connector) *cobra.Command) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first interrupt, restore the default handling: a second ctrl-c ends the process at
	// once.
	context.AfterFunc(ctx, stop)
	con := &connect.Connector{Terminal: cli.Terminal(silence), Getenv: os.Getenv, Version: version, Patience: patience}
	code := Run(ctx, con, root(con), os.Args[1:])
	stop()
	cli.Exit(con.Terminal, code)
}

// Run runs a command line and returns the exit code. It prints the error.
func Run(ctx context.Context, con *connect.Connector, root *cobra.Command, args []string) int {
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var code cli.ExitError
	var wrong usage.Error
	var missing *query.NotFoundError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		con.Tell("interrupted")
		return 130
	case errors.As(err, &wrong):
		con.Tell(fmt.Sprintf("%s\nsee %s --help", cli.Mistake(cmd, err), cmd.CommandPath()))
		return cli.ExitFailed
	}
	// Joined errors have one line each; print the program's name before each of them.
	for line := range strings.SplitSeq(err.Error(), "\n") {
		con.Tell(line)
	}
	if errors.As(err, &missing) {
		return cli.ExitNothing
	}
	return cli.ExitFailed
}

// Prepare sets what the root commands of both programs have alike. Call it after all verbs are added.
func Prepare(root *cobra.Command, con *connect.Connector) {
	cli.Prepare(root, con.Terminal, cli.Globals{DataDir: &con.DataDir, Config: &con.Config, Server: &con.Server, InsecureHTTP: &con.InsecureHTTP})
}
