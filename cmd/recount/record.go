package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/internal/render/nodeview"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/node"
)

// recordFlags are the flags of record and exec that describe a command.
type recordFlags struct {
	details
	at, uptime string
	exit       int32
	duration   time.Duration
	hook       bool
}

// details describe a command that ran. What is empty is taken from the environment and the
// directory.
type details struct {
	cwd, workspace, session, shell, author, intent, gitHead, parent string
	// id is an id of the caller's own, "" to derive it.
	id string
	// env names the environment variables to record.
	env []string
}

// contextFlags adds the flags that record and exec share.
func (f *recordFlags) contextFlags(c *cobra.Command) {
	c.Flags().StringVar(&f.session, "session", "", "the shell session's name (default $RECOUNT_SESSION)")
	c.Flags().StringVar(&f.author, "author", "", "who runs it: a human's or an agent's name (default $RECOUNT_AUTHOR)")
	c.Flags().StringVar(&f.intent, "intent", "", "why, in the author's words")
	c.Flags().StringVar(&f.parent, "parent", "", "the id of the event that led to this one")
	c.Flags().StringVar(&f.id, "id", "", "an id of your own; the same id twice is one event")
	c.Flags().StringSliceVar(&f.env, "env", nil, "names of environment variables to record, comma-separated")
	c.Flags().StringVar(&f.workspace, "workspace", "", "what belongs together (default the root of the repository that the directory is in)")
	c.Flags().StringVar(&f.gitHead, "git-head", "", "the commit that HEAD names (default what the repository says)")
}

func (a *app) recordCmd() *cobra.Command {
	var f recordFlags
	c := &cobra.Command{
		Use:   "record [flags] -- COMMAND [ARG...]",
		Short: "Append one command that was run",
		Long: `Append one command that was run elsewhere. The shell hooks call this; use it to
tell Recount of commands from anywhere else. Secrets are replaced by
[redacted:KIND] before anything is stored. It waits for nobody: where the log
cannot be had at once, the command goes into the spool, and from there into the
log when a server or another verb has it.

Several arguments are joined as a shell would have to read them. Without --at the
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
	c.Flags().StringVar(&f.cwd, "cwd", "", "the directory it ran in (default the current one)")
	c.Flags().StringVar(&f.shell, "shell", "", "the shell's name (default from $SHELL)")
	c.Flags().Int32Var(&f.exit, "exit", 0, "the exit code (absent: unknown)")
	c.Flags().DurationVar(&f.duration, "duration", 0, "how long it ran, such as 1.5s")
	c.Flags().StringVar(&f.at, "at", "", "when it started: an RFC 3339 time or seconds since 1970 (default now less --duration)")
	c.Flags().StringVar(&f.uptime, "uptime", "", "when it started, by the first number of /proc/uptime")
	if err := c.Flags().MarkHidden("uptime"); err != nil { // for fish's hook, which has no clock
		panic(err)
	}
	c.Flags().BoolVar(&f.hook, "hook", false, "as the shell hooks call it: print nothing, respect RECOUNT_IGNORE, and take the text from the standard input where no argument has it")
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
		text = render.ShellJoin(args)
	}
	if f.hook {
		var ok bool
		if text, ok = recording.Hooked(text, a.getenv("RECOUNT_IGNORE")); !ok {
			return nil
		}
	}
	p, err := payload(a.getenv, f.details, text)
	if err != nil {
		return err
	}
	p.ExitCode = exit
	if f.duration < 0 {
		return usagef("--duration %s: want 0 or more", f.duration)
	}
	if f.duration > 0 {
		p.Duration = durationpb.New(f.duration)
	}
	started := time.Now().Add(-f.duration)
	if f.at != "" {
		if started, err = recording.ParseTime(f.at); err != nil {
			return usagef("--at %q: %w", f.at, err)
		}
	}
	if since, ok := recording.SinceUptime(f.uptime); ok {
		started = time.Now().Add(-since)
	}
	p.StartedAt = timestamppb.New(started)

	cfg, err := a.nodeConfig()
	if err != nil {
		return err
	}
	e, found, err := event(cfg, p, f.id)
	if err != nil {
		return err
	}
	if f.hook {
		return a.spool(cfg, e)
	}
	done, err := a.append(ctx, cfg, e, f.id != "")
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

// payload returns a command with the given details, and others from the environment.
func payload(getenv func(string) string, f details, text string) (*recountv1.CommandExecuted, error) {
	p := &recountv1.CommandExecuted{
		Command: history.Clean(text), Workspace: f.workspace, Cwd: f.cwd, Session: f.session, Shell: f.shell,
		Author: f.author, StatedIntent: f.intent, GitHead: f.gitHead, ParentEventId: f.parent,
		User: recording.UserName(getenv), Host: recording.HostName(),
	}
	if strings.TrimSpace(p.Command) == "" {
		return nil, usagef("the command is empty")
	}
	if p.Cwd == "" {
		p.Cwd, _ = os.Getwd() // empty if the directory was deleted
	} else if abs, err := filepath.Abs(p.Cwd); err == nil {
		p.Cwd = abs
	}
	if p.Session == "" {
		p.Session = getenv("RECOUNT_SESSION")
	}
	if p.Author == "" {
		p.Author = getenv("RECOUNT_AUTHOR")
	}
	if p.Shell == "" {
		p.Shell = filepath.Base(getenv("SHELL"))
		if p.Shell == "." {
			p.Shell = ""
		}
	}
	root := recording.Workspace(p.Cwd)
	if p.Workspace == "" {
		p.Workspace = root
	}
	if p.GitHead == "" {
		p.GitHead = recording.GitHead(root)
	}
	for _, name := range f.env {
		if p.Env == nil {
			p.Env = map[string]string{}
		}
		p.Env[name] = history.Clean(getenv(name))
	}
	return p, nil
}

// event returns the event of a command with secrets redacted, and the number of redactions.
func event(cfg node.Config, p *recountv1.CommandExecuted, id string) (schemas.Event, int, error) {
	r, err := redactor(cfg)
	if err != nil {
		return schemas.Event{}, 0, err
	}
	found := r.Event(p)
	payload, err := schemas.EncodePayload(p)
	if err != nil {
		return schemas.Event{}, 0, err
	}
	e := schemas.Event{
		Type: schemas.TypeCommandExecuted, Source: recording.Source, Time: p.StartedAt.AsTime(),
		Key: schemas.KeyOf(p), ContentType: schemas.ContentJSON, Payload: payload,
	}
	if id != "" {
		e.ID = schemas.ProducerID(recording.Source, id)
	} else {
		// The id is derived from the fields, not from the JSON, whose white space may vary.
		e.ID = schemas.NewCanon("recount/cli/1").String(p.Command).String(p.Cwd).String(p.Session).String(p.User).
			String(p.Host).Int(p.StartedAt.AsTime().UnixNano()).Int(p.Duration.AsDuration().Nanoseconds()).ID()
	}
	return e, len(found), nil
}
