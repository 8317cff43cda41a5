package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/commandevent"
	"github.com/recountdb/recount/internal/execute"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/internal/shellwords"
	"github.com/recountdb/recount/internal/timespec"
	"github.com/recountdb/recount/internal/usage"
)

// recordFlags are the flags of record and exec that describe a command.
type recordFlags struct {
	commandevent.Details
	at, uptime string
	exit       int32
	duration   time.Duration
	hook       bool
}

// contextFlags adds the flags that record and exec share.
func (f *recordFlags) contextFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.Session, "session", "", "the shell session's name (default $RECOUNT_SESSION)")
	c.Flags().StringVar(&f.Author, "author", "", "the author, a person or an agent (default $RECOUNT_AUTHOR)")
	c.Flags().StringVar(&f.Intent, "intent", "", "the purpose, in the author's words")
	c.Flags().StringVar(&f.Parent, "parent", "", "the id of the event that led to this one")
	c.Flags().StringVar(&f.ID, "id", "", "an id of your own; the same id twice is one event")
	c.Flags().StringSliceVar(&f.Env, "env", nil, "names of environment variables to record, comma-separated")
	c.Flags().StringVar(&f.Workspace, "workspace", "", "the workspace (default the root of the repository that the directory is in)")
	c.Flags().StringVar(&f.GitHead, "git-head", "", "the commit that HEAD points to (default read from the repository)")
}

func (a *app) recordCmd() *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record [flags] -- COMMAND [ARG...]",
		Short: "Append one command that was run",
		Long: `Append one command that was run elsewhere. The shell hooks use this verb; use it to
record commands from any other place. Secrets are replaced by [redacted:KIND] before
anything is stored. It does not wait: if the log is not available at once, the command
goes into the spool, and from there into the log when a server or another verb opens it.

Several arguments are joined and quoted as a shell would read them. Without --at the
command is taken to have just ended.`,
		Example: `  recount record --exit 0 --duration 1.5s -- make test
  recount record --cwd /src/app --exit 2 --at 2026-11-20T12:00:00Z --author claude -- 'go vet ./... | head'`,
		Args: func(cmd *cobra.Command, args []string) error {
			if f.hook {
				return nil
			}
			return wantCommand(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				b, err := io.ReadAll(io.LimitReader(a.In, maxHooked))
				if err != nil {
					return err
				}
				args = []string{string(b)}
			}
			var exit *int32
			if cmd.Flags().Changed("exit") {
				exit = &f.exit
			}
			return a.record(cmd.Context(), f, exit, args)
		},
	}
	f.contextFlags(c)
	c.Flags().StringVar(&f.Cwd, "cwd", "", "the directory it ran in (default the current one)")
	c.Flags().StringVar(&f.Shell, "shell", "", "the shell's name (default from $SHELL)")
	c.Flags().Int32Var(&f.exit, "exit", 0, "the exit code (absent: unknown)")
	c.Flags().DurationVar(&f.duration, "duration", 0, "how long it ran, such as 1.5s")
	c.Flags().StringVar(&f.at, "at", "", "when it started: an age (5m), a day, an RFC 3339 time or seconds since 1970 (default now less --duration)")
	c.Flags().StringVar(&f.uptime, "uptime", "", "when it started, by the first number of /proc/uptime")
	if err := c.Flags().MarkHidden("uptime"); err != nil { // for fish's hook, which has no clock
		panic(err)
	}
	c.Flags().BoolVar(&f.hook, "hook", false, "for the shell hooks: print nothing, respect RECOUNT_IGNORE, and read the text from the standard input if no argument has it")
	return c
}

func wantCommand(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no command: give it after --, such as -- make test")
	}
	return nil
}

// maxHooked is the maximum number of bytes read of a command from a hook.
const maxHooked = 16 << 20

func (a *app) record(ctx context.Context, f recordFlags, exit *int32, args []string) error {
	text := args[0]
	if len(args) > 1 {
		text = shellwords.Join(args)
	}
	if f.hook {
		var ok bool
		if text, ok = recording.Typed(text, f.Cwd, a.Getenv("RECOUNT_IGNORE"), a.Getenv); !ok {
			return nil
		}
	}
	p, err := commandevent.New(a.Getenv, f.Details, text)
	if err != nil {
		return err
	}
	p.ExitCode = exit
	if f.duration < 0 {
		return usage.Errorf("--duration %s: want 0 or more", f.duration)
	}
	if f.duration > 0 {
		p.Duration = durationpb.New(f.duration)
	}
	started := time.Now().Add(-f.duration)
	if f.at != "" {
		if started, err = recording.ParseTime(f.at); err != nil {
			if started, err = timespec.Parse(time.Now(), f.at); err != nil {
				return usage.Errorf("--at %q: %w, or seconds since 1970", f.at, err)
			}
		}
	}
	if since, ok := recording.SinceUptime(f.uptime); ok {
		started = time.Now().Add(-since)
	}
	p.StartedAt = timestamppb.New(started)

	cfg, err := a.NodeConfig()
	if err != nil {
		return err
	}
	e, found, err := commandevent.Event(cfg, p, f.ID)
	if err != nil {
		return err
	}
	if f.hook {
		return a.Spool(cfg, e)
	}
	done, err := a.Append(ctx, cfg, e, f.ID != "")
	if err != nil {
		return err
	}
	done.Redacted = max(done.Redacted, found)
	if a.JSON {
		return a.PrintJSON(done)
	}
	nodeview.Appended(a.Terminal, done.Appended, done.Spooled)
	return nil
}

func (a *app) spoolCmd() *cobra.Command {
	c := &cobra.Command{Use: "spool", Short: "Manage commands that wait for the log", Hidden: true}
	c.AddCommand(&cobra.Command{
		Use:   "send",
		Short: "Send the waiting commands to the server that $RECOUNT_SERVER names",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := a.NodeConfig()
			if err != nil {
				return err
			}
			url := a.ServerURL()
			if url == "" {
				return usage.Errorf("no server: set RECOUNT_SERVER or --server")
			}
			c, err := a.Elsewhere(url)
			if err != nil {
				return err
			}
			if err := a.SendSpooled(cmd.Context(), cfg, url, c); err != nil {
				return fmt.Errorf("%s: %w; its commands stay in the spool", url, err)
			}
			return nil
		},
	})
	return c
}

func (a *app) execCmd() *cobra.Command {
	var f recordFlags
	var quiet bool
	c := &cobra.Command{
		Use:   "exec [flags] -- COMMAND [ARG...]",
		Short: "Run a command and record it with its outcome",
		Long: `Run a command and record it. Its start is appended without an exit code while it runs.
When it ends, an event outcome.observed follows with the exit code, the duration and
the end of the output. A crash in between leaves a command with an unknown outcome and
loses nothing.

Streams and signals pass through unchanged, and exec exits as the command did (128 plus
the signal's number if a signal ended it, 127 if there is no such command). If the
command cannot be recorded, it runs all the same, and the reason is printed at the end.
With --json the ids and positions of its events are printed on the standard error.`,
		Example: `  recount exec -- make test
  recount exec --author claude --intent "see whether the fix holds" -- go test ./...
  recount exec -- sh -c 'make && make install'`,
		Args: wantCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
			code, err := execute.Run(cmd.Context(), a.Connector, f.Details, !quiet, args)
			if err == nil && code != 0 {
				return exitError(code)
			}
			return err
		},
	}
	f.contextFlags(c)
	c.Flags().BoolVar(&quiet, "no-output", false, "do not record its output, and leave the terminal to it")
	return c
}
