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
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"
	"golang.org/x/term"

	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query"
)

// version is set by the build: -ldflags "-X main.version=1.2.3". Otherwise it is the tag given to
// `go install`, if any.
var version = devVersion

const devVersion = "0.1.0-dev"

func main() { program(render.DefaultSilence) }

// program runs the command line and ends the process. A verb reports what it waits for after being
// silent for the given time.
func program(silence time.Duration) {
	if info, ok := debug.ReadBuildInfo(); ok && version == devVersion {
		version = installed(info.Main.Version)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// After the first interrupt, restore the default handling: a second ctrl-c ends the process at
	// once.
	context.AfterFunc(ctx, stop)
	a := &app{
		Connector: &connect.Connector{
			Terminal: &render.Terminal{
				In: os.Stdin, Out: os.Stdout, Err: os.Stderr, HomeDir: os.Getenv("HOME"),
				Colour: colours(os.Stdout), Interactive: term.IsTerminal(int(os.Stderr.Fd())),
				Silence: silence,
			},
			Getenv: os.Getenv, Version: version,
		},
	}
	code := a.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}

// colours reports whether a file is a terminal that shows colours.
func colours(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// app holds what all verbs share: the streams and the global flags.
type app struct {
	*connect.Connector
}

// The exit codes other than 0.
const (
	exitNothing = 1 // a negative answer: nothing found, states not equal
	exitFailed  = 2 // no answer
)

// exitError ends the program with a code; its message, if any, has been printed already.
type exitError int

func (e exitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// run is the program without its process: it returns the exit code.
func (a *app) run(ctx context.Context, args []string) int {
	root := a.root()
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	var code exitError
	var wrong usage.Error
	var missing *query.NotFoundError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &code):
		return int(code)
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		fmt.Fprintln(a.Err, "recount: interrupted")
		return 130
	case errors.As(err, &wrong):
		fmt.Fprintf(a.Err, "recount: %s\nsee %s --help\n", err, cmd.CommandPath())
		return exitFailed
	}
	// Joined errors have one line each; print the program's name before each of them.
	for line := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(a.Err, "recount: %s\n", line)
	}
	if errors.As(err, &missing) {
		return exitNothing
	}
	return exitFailed
}

// installed returns the version of a module that was built by its tag, and devVersion for any other
// build.
func installed(tag string) string {
	if !semver.IsValid(tag) || module.IsPseudoVersion(tag) || semver.Build(tag) != "" {
		return devVersion
	}
	return tag[1:]
}

func (a *app) versionCmd() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  recount version --json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"version": version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			if info, ok := debug.ReadBuildInfo(); ok {
				for _, s := range info.Settings {
					if s.Key == "vcs.revision" {
						v["commit"] = s.Value
					}
				}
			}
			if a.JSON {
				return a.PrintJSON(v)
			}
			a.Printf("recount %s (%s, %s)\n", version, v["go"], v["platform"])
			return nil
		},
	}
}
