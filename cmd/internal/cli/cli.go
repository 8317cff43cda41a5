// Package cli holds what the command lines of all programs have alike: the streams, the global
// flags, the exit codes, and how mistakes in arguments are reported. It imports nothing that is slow
// to start.
package cli

import (
	"fmt"
	"os"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"github.com/recountdb/recount/internal/render"
)

// The exit codes other than 0.
const (
	ExitNothing = 1 // a negative answer: nothing found, states not equal
	ExitFailed  = 2 // no answer
)

// ExitError ends the program with a code; its message, if any, has been printed already.
type ExitError int

func (e ExitError) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// Terminal returns the streams of the process. A verb reports what it waits for after being silent
// for the given time.
func Terminal(silence time.Duration) *render.Terminal {
	return &render.Terminal{
		In: os.Stdin, Out: &render.Output{File: os.Stdout}, Err: os.Stderr, HomeDir: os.Getenv("HOME"),
		Colour: colours(os.Stdout), Interactive: term.IsTerminal(int(os.Stderr.Fd())),
		Silence: silence,
	}
}

// Exit ends the process with an exit code, or with that of an error if a part of the answer could not be written.
func Exit(t *render.Terminal, code int) {
	if o, ok := t.Out.(*render.Output); ok && o.Failed != nil && code <= ExitNothing {
		fmt.Fprintf(t.Err, "recount: the answer is not whole: %v\n", o.Failed)
		code = ExitFailed
	}
	os.Exit(code)
}

// colours reports whether a file is a terminal that shows colours.
func colours(f *os.File) bool {
	return term.IsTerminal(int(f.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// Globals are where the global flags are put.
type Globals struct {
	DataDir, Config, Server *string
	InsecureHTTP            *bool
}

// Prepare sets what the root commands of all programs have alike. Call it after all verbs are added.
func Prepare(root *cobra.Command, t *render.Terminal, g Globals) {
	root.SilenceErrors, root.SilenceUsage = true, true
	// Global flags may come before any verb, also before pipeline, whose own flags belong to
	// Benthos.
	root.TraverseChildren = true
	root.SetOut(t.Out)
	root.SetErr(t.Err)
	root.SetIn(t.In)
	f := root.PersistentFlags()
	f.StringVar(g.DataDir, "data-dir", "", "the data directory (default $RECOUNT_DATA_DIR, else the user's data folder)")
	f.StringVar(g.Config, "config", "", "the config file (default $RECOUNT_CONFIG, else recount/config.yaml in the user's config folder, if it exists)")
	f.StringVar(g.Server, "server", "", "use the server at this URL instead of the data directory (default $RECOUNT_SERVER; its token is $RECOUNT_TOKEN)")
	f.BoolVar(g.InsecureHTTP, "insecure-http", false, "send the token to a remote server over http:// too, if the connection is encrypted in another way")
	f.BoolVar(&t.JSON, "json", false, "print JSON")
	verbsFirst(root)
	root.InitDefaultCompletionCmd() // cobra's own, which would otherwise come after strict
	strict(root)
}
