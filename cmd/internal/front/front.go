// Package front is the small program that people type (cmd/recount-front, which a release installs as
// recount). It does a few verbs by asking a running server. For every other verb, without a server,
// and whenever anything is out of the ordinary, it replaces its process by recount-engine
// (cmd/recount) with the same arguments, before it has printed anything. So it decides nothing: what
// it cannot answer, the engine answers or refuses, in the engine's words (decision 108).
package front

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/installed"
	"github.com/recountdb/recount/internal/render"
)

// Main does what the arguments of the process say and returns its exit code. It does not return if
// the engine takes over.
func Main(t *render.Terminal, version string) int {
	if code, done := Run(context.Background(), t, os.Getenv, version, os.Args[1:]); done {
		return code
	}
	fmt.Fprintf(t.Err, "recount: %s\n", engine())
	return cli.ExitFailed
}

// engine replaces this process by recount-engine. It returns only with an error.
func engine() error {
	path, err := installed.EnginePath()
	if err != nil {
		return err
	}
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ()))
}

// errEngine is the error of what the engine is to do.
var errEngine = errors.New("the engine does this")

// Run does what the arguments say and returns the exit code. done is false if the engine is to do
// it; nothing has been printed then.
func Run(ctx context.Context, t *render.Terminal, getenv func(string) string, version string, args []string) (code int, done bool) {
	if len(args) == 0 || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return 0, false // completions are of all verbs
	}
	a := &asker{Terminal: t, getenv: getenv}
	err := a.root(version, args).ExecuteContext(ctx)
	var exit cli.ExitError
	switch {
	case err == nil:
		return 0, true
	case errors.As(err, &exit):
		return int(exit), true
	}
	return 0, false
}

// root returns the command line that this program knows. Everything else in it fails.
func (a *asker) root(version string, args []string) *cobra.Command {
	unknown := func(*cobra.Command, []string) error { return errEngine }
	root := &cobra.Command{Use: "recount", Args: cobra.ArbitraryArgs, RunE: unknown}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Use: "help", RunE: unknown})
	root.AddCommand(verbs.Find(a.Terminal, a), verbs.Search(a.Terminal, a, a.getenv), verbs.Version(a.Terminal, version))
	cli.Prepare(root, a.Terminal, cli.Globals{DataDir: &a.dataDir, Config: &a.config, Server: &a.server, InsecureHTTP: new(bool)})
	// Help is the engine's, which knows all verbs. A flag of this name takes the place of cobra's,
	// which prints and succeeds.
	root.PersistentFlags().VarPF(helpFlag{}, "help", "h", "").NoOptDefVal = "true"
	root.SetArgs(args)
	return root
}

// helpFlag is the flag --help: it is an error, so that the engine prints the help.
type helpFlag struct{}

func (helpFlag) String() string   { return "false" }
func (helpFlag) Type() string     { return "bool" }
func (helpFlag) Set(string) error { return errEngine }
