// Package front is the small program that people type (cmd/recount-front, which a release installs as
// recount). It does a few verbs by asking a running server. Without a server it replaces its process
// by recount-local, which does the same verbs from the data directory (cmd/recount-local); for every
// other verb, and whenever anything is out of the ordinary, by recount-engine (cmd/recount), with the
// same arguments and before it has printed anything. So it decides nothing: what it cannot answer, the
// engine answers or refuses, in the engine's words (decisions 108 and 113).
package front

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/cmd/internal/verbs"
	"github.com/recountdb/recount/internal/installed"
	"github.com/recountdb/recount/internal/render"
)

// Main does what the arguments of the process say, by asking the server, and returns its exit code.
// It does not return if another program takes over.
func Main(t *render.Terminal, version string) int {
	return run(t, version, OpenServer(t, os.Getenv), slices.Concat(Narratives, OfServer)...)
}

// MainLocal is Main of recount-local, whose answers are those of what open returns (package local).
func MainLocal(t *render.Terminal, version string, open Open) int {
	return run(t, version, open, Narratives...)
}

// Verb makes a verb of this program.
type Verb func(*asker) *cobra.Command

func run(t *render.Terminal, version string, open Open, more ...Verb) int {
	code, err := Run(context.Background(), t, os.Getenv, version, os.Args[1:], open, more...)
	if err == nil {
		return code
	}
	if errors.Is(err, errLocal) {
		if path, err := installed.Beside(installed.Local); err == nil {
			_ = replaceBy(path) // the engine does the same
		}
	}
	t.Tell(engine().Error())
	return cli.ExitFailed
}

// engine replaces this process by recount-engine. It returns only with an error.
func engine() error {
	path, err := installed.EnginePath()
	if err != nil {
		return err
	}
	return replaceBy(path)
}

// replaceBy replaces this process by another program with the same arguments.
func replaceBy(path string) error {
	return fmt.Errorf("run %s: %w", path, syscall.Exec(path, append([]string{path}, os.Args[1:]...), os.Environ()))
}

var (
	// errEngine is the error of what the engine is to do.
	errEngine = errors.New("the engine does this")
	// errLocal is the error of a question about a data directory without a server.
	errLocal = errors.New("no server uses the data directory")
)

// Run does what the arguments say and returns the exit code. An error means that another program is
// to do it; nothing has been printed then. more are verbs besides find, stats and version.
func Run(ctx context.Context, t *render.Terminal, getenv func(string) string, version string, args []string, open Open, more ...Verb) (code int, err error) {
	if len(args) == 0 || strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		return 0, errEngine // completions are of all verbs
	}
	a := &asker{Terminal: t, getenv: getenv, open: open}
	root := a.root(version, args)
	for _, verb := range more {
		root.AddCommand(verb(a))
	}
	cli.Prepare(root, a.Terminal, cli.Globals{DataDir: &a.dataDir, Config: &a.config, Server: &a.server, InsecureHTTP: new(bool)})
	err = root.ExecuteContext(ctx)
	var exit cli.ExitError
	if errors.As(err, &exit) {
		return int(exit), nil
	}
	return 0, err
}

// root returns the command line that this program knows. Everything else in it fails.
func (a *asker) root(version string, args []string) *cobra.Command {
	unknown := func(*cobra.Command, []string) error { return errEngine }
	root := &cobra.Command{Use: "recount", Args: cobra.ArbitraryArgs, RunE: unknown}
	root.CompletionOptions.DisableDefaultCmd = true
	root.SetHelpCommand(&cobra.Command{Use: "help", RunE: unknown})
	root.AddCommand(verbs.Find(a.Terminal, a), verbs.Stats(a.Terminal, a), verbs.Version(a.Terminal, version))
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
