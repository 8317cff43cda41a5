package verbs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/recountdb/recount/cmd/internal/cli"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/hitview"
	"github.com/recountdb/recount/internal/terminalsearch"
	"github.com/recountdb/recount/internal/usage"
	"github.com/recountdb/recount/query/commands/ask"
)

// Searcher gives what answers a search.
type Searcher interface {
	// Asker returns who answers; quiet has it print nothing meanwhile. close ends what it holds.
	Asker(quiet bool) (by terminalsearch.Asker, close func(), err error)
}

// searchFlags are the flags of search.
type searchFlags struct {
	filters      Filters
	mode         string
	limit        int
	height       int
	plain, list  bool
	binding      bool
	below, proof bool
}

// Search returns the verb search.
func Search(t *render.Terminal, by Searcher, getenv func(string) string) *cobra.Command {
	var f searchFlags
	c := &cobra.Command{
		Use:   "search [WORDS...]",
		Short: "Choose a command from the history while typing (ctrl-R)",
		Long: `Show the commands that match what is typed, and print the one that is chosen. The
scripts of recount hook bash, zsh and fish bind this to ctrl-R and put the choice on the
command line; enter runs it, tab leaves it there to edit, esc leaves the line as it was.
Alt-h lists all keys.

Best, the default mode, finds commands by their words, beginnings of words and letters in
order, and by what they do, as find does. Ctrl-s changes the mode, ctrl-r where commands
must have run. The flags of find that select commands hold from the start.

The interface draws on the terminal below the prompt and removes itself. --plain is the
same line by line, for screen readers (RECOUNT_SEARCH_PLAIN=1 makes it the default).
--list prints the answer without an interface, --json as JSON.
Exits with 1 if nothing is chosen or found.`,
		Example: `  recount search                          choose, and print the command
  recount search docker prune --here      begin with these words, in this directory
  recount search --mode exact -- -rf      a text that begins with a dash
  recount search --list docker pru        print the answer
  recount search --plain                  line by line, for screen readers`,
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := f.request(args, time.Now())
			if err != nil {
				return err
			}
			asker, end, err := by.Asker(!f.list && !t.JSON)
			if err != nil {
				return err
			}
			defer end()
			if f.list || t.JSON {
				return printSearch(cmd.Context(), t, asker, r, f.proof)
			}
			return f.choose(cmd.Context(), t, asker, r, getenv)
		},
	}
	f.filters.Add(c)
	fl := c.Flags()
	fl.StringVarP(&f.mode, "mode", "m", ask.ModeBest, "how to match: "+strings.Join(ask.Modes, ", "))
	fl.IntVarP(&f.limit, "limit", "n", ask.DefaultSearchLimit, fmt.Sprintf("with --list or --json: maximum number of hits, up to %d", ask.MaxLimit))
	fl.IntVar(&f.height, "height", 0, "number of lines of the interface (default two thirds of the terminal)")
	fl.BoolVar(&f.plain, "plain", false, "line by line, without moving the cursor, for screen readers")
	fl.BoolVar(&f.list, "list", false, "print the answer and exit")
	fl.BoolVar(&f.proof, "proof", false, "with --list: print the proof: the steps by which the answer was computed")
	fl.BoolVar(&f.binding, "binding", false, "print run: or edit: before the command, for the script of a shell")
	fl.BoolVar(&f.below, "below", false, "begin on the next line of the terminal, for the script of a shell")
	_ = fl.MarkHidden("binding")
	_ = fl.MarkHidden("below")
	_ = c.RegisterFlagCompletionFunc("mode", cobra.FixedCompletions(ask.Modes, cobra.ShellCompDirectiveNoFileComp))
	return c
}

// request returns the search that the flags and words describe.
func (f *searchFlags) request(words []string, now time.Time) (ask.SearchRequest, error) {
	r := ask.SearchRequest{Text: strings.Join(words, " "), Mode: f.mode, Limit: f.limit}
	var err error
	if r.Filters, err = f.filters.Filters(now); err != nil {
		return r, err
	}
	if f.height < 0 {
		return r, usage.Errorf("--height %d: want 1 or more", f.height)
	}
	if f.proof && !f.list {
		return r, usage.Errorf("--proof: only with --list")
	}
	if _, err = r.Normal(); err != nil {
		return r, usage.Wrap(err)
	}
	return r, nil
}

// choose shows the interface and prints what was chosen.
func (f *searchFlags) choose(ctx context.Context, t *render.Terminal, by terminalsearch.Asker, r ask.SearchRequest, getenv func(string) string) error {
	tty, err := terminalsearch.OpenTerminal()
	if err != nil {
		return err
	}
	defer tty.Close()
	cwd, _ := os.Getwd() // without one there is no filter for it
	o := terminalsearch.Options{
		Text: r.Text, Mode: r.Mode, Filters: r.Filters, Height: f.height, HomeDir: t.HomeDir, Now: time.Now,
		Colour: getenv("NO_COLOR") == "" && getenv("TERM") != "dumb",
		Here:   terminalsearch.Here{Cwd: cwd, Workspace: recording.Workspace(cwd), Session: getenv("RECOUNT_SESSION"), Host: recording.HostName()},
	}
	var c terminalsearch.Choice
	if f.plain || getenv("RECOUNT_SEARCH_PLAIN") != "" || getenv("TERM") == "dumb" {
		c, err = terminalsearch.Lines(ctx, tty, by, o)
	} else {
		c, err = terminalsearch.Run(ctx, tty, by, o, f.below)
	}
	switch {
	case err != nil:
		return err
	case c.Command == "":
		return cli.ExitError(cli.ExitNothing)
	case !f.binding:
		t.Printf("%s\n", c.Command)
	case c.Run:
		t.Printf("run:%s\n", c.Command)
	default:
		t.Printf("edit:%s\n", c.Command)
	}
	return nil
}

// printSearch prints the answer, and fails if it is empty.
func printSearch(ctx context.Context, t *render.Terminal, by terminalsearch.Asker, r ask.SearchRequest, proof bool) error {
	resp, err := by.Search(ctx, r)
	if err != nil {
		return err
	}
	return PrintAnswer(t, resp, resp.Basis, proof, func() { hitview.Found(t, resp, time.Now()) })
}

// VerbOutput runs a verb of a program of Recount and returns what it prints, without colours.
func VerbOutput(ctx context.Context, program string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1")
	var out, diag bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &diag
	err := cmd.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == cli.ExitNothing || err == nil {
		return out.String() + diag.String(), nil
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return out.String(), fmt.Errorf("%s%w", diag.String(), err)
}

// GlobalFlags returns the global flags for a program that works on the same data.
func GlobalFlags(dataDir, config, server string) []string {
	var args []string
	for _, f := range []struct{ name, value string }{{"--data-dir", dataDir}, {"--config", config}, {"--server", server}} {
		if f.value != "" {
			args = append(args, f.name+"="+f.value)
		}
	}
	return args
}
