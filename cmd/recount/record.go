package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/user"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/history"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/httpapi"
	"github.com/recountdb/recount/server/node"
)

// recordFlags are what the flags of record and exec say of a command.
type recordFlags struct {
	cwd, workspace, session, shell, at, author, intent, gitHead, parent, id string
	exit                                                                    int32
	duration                                                                time.Duration
	env                                                                     []string
	hook                                                                    bool
}

// contextFlags are those that record and exec share.
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
[redacted:KIND] before anything is stored.

Several arguments are joined as a shell would have to read them. Without --at the
command is taken to have just ended.`,
		Example: `  recount record --exit 0 --duration 1.5s -- make test
  recount record --cwd /src/app --exit 2 --at 2026-11-20T12:00:00Z --author claude -- 'go vet ./... | head'`,
		Args: wantCommand,
		RunE: func(cmd *cobra.Command, args []string) error {
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
	c.Flags().BoolVar(&f.hook, "hook", false, "as the shell hooks call it: print nothing, respect RECOUNT_IGNORE, wait longer for the data directory")
	return c
}

func wantCommand(_ *cobra.Command, args []string) error {
	if len(args) == 0 {
		return errors.New("no command: give it after --, such as -- make test")
	}
	return nil
}

// hookWait is longer than a person would wait: nobody does.
const hookWait = 60 * time.Second

func (a *app) record(ctx context.Context, f recordFlags, exit *int32, args []string) error {
	text := args[0]
	if len(args) > 1 {
		text = shellJoin(args)
	}
	if f.hook && (ignored(text, a.getenv("RECOUNT_IGNORE")) || recordsItself.MatchString(text)) {
		return nil
	}
	p, err := a.payload(f, text)
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
		if started, err = parseTime(f.at); err != nil {
			return usagef("--at %q: %w", f.at, err)
		}
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
	wait := defaultWait
	if f.hook {
		wait = hookWait
	}
	roles := appendOnly
	if f.id != "" {
		roles = nil
	}
	done, err := a.append(ctx, cfg, wait, e, roles...)
	if err != nil || f.hook {
		return err
	}
	done.Redacted = max(done.Redacted, found)
	if a.json {
		return a.printJSON(done)
	}
	a.printf("%s %s", done.ID, a.paint(dim, "at "+done.Position.String()))
	if done.Duplicate {
		a.printf(" %s", a.paint(yellow, "(was there already)"))
	}
	if done.Redacted > 0 {
		a.printf(" %s", a.paint(yellow, fmt.Sprintf("(%d secrets redacted)", done.Redacted)))
	}
	a.printf("\n")
	return nil
}

// appendOnly are the roles of a node that appends and answers nothing: it need
// not open the projections.
var appendOnly = []string{node.RoleLog, node.RoleIngest}

// append puts one event into the log.
func (a *app) append(ctx context.Context, cfg node.Config, wait time.Duration, e schemas.Event, roles ...string) (done httpapi.Appended, err error) {
	b, err := a.open(ctx, cfg, wait, roles...)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	if b.local != nil && len(roles) == 0 {
		// Whether the id is there already is known by the projections.
		if err := settle(ctx, b); err != nil {
			return done, err
		}
	}
	all, err := b.Append(ctx, []schemas.Event{e})
	if err != nil {
		return done, err
	}
	return all[0], nil
}

// payload is a command with what the flags, the environment and the directory
// say about it.
func (a *app) payload(f recordFlags, text string) (*recountv1.CommandExecuted, error) {
	p := &recountv1.CommandExecuted{
		Command: history.Clean(text), Workspace: f.workspace, Cwd: f.cwd, Session: f.session, Shell: f.shell,
		Author: f.author, StatedIntent: f.intent, GitHead: f.gitHead, ParentEventId: f.parent,
		User: userName(a.getenv), Host: hostName(),
	}
	if strings.TrimSpace(p.Command) == "" {
		return nil, usagef("the command is empty")
	}
	if p.Cwd == "" {
		p.Cwd, _ = os.Getwd() // gone from under us: then there is none to tell
	} else if abs, err := filepath.Abs(p.Cwd); err == nil {
		p.Cwd = abs
	}
	if p.Session == "" {
		p.Session = a.getenv("RECOUNT_SESSION")
	}
	if p.Author == "" {
		p.Author = a.getenv("RECOUNT_AUTHOR")
	}
	if p.Shell == "" {
		p.Shell = filepath.Base(a.getenv("SHELL"))
		if p.Shell == "." {
			p.Shell = ""
		}
	}
	root := workspaceOf(p.Cwd)
	if p.Workspace == "" {
		p.Workspace = root
	}
	if p.GitHead == "" {
		p.GitHead = gitHead(root)
	}
	for _, name := range f.env {
		if p.Env == nil {
			p.Env = map[string]string{}
		}
		p.Env[name] = history.Clean(a.getenv(name))
	}
	return p, nil
}

// source is the ce_source of what the command line itself appends.
const source = "recount/cli"

// event makes the event of a command, secrets taken out.
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
		Type: schemas.TypeCommandExecuted, Source: source, Time: p.StartedAt.AsTime(),
		Key: schemas.KeyOf(p), ContentType: schemas.ContentJSON, Payload: payload,
	}
	if id != "" {
		e.ID = schemas.ProducerID(source, id)
	} else {
		// From the fields and not from the JSON, whose white space may vary.
		e.ID = schemas.NewCanon("recount/cli/1").String(p.Command).String(p.Cwd).String(p.Session).String(p.User).
			String(p.Host).Int(p.StartedAt.AsTime().UnixNano()).Int(p.Duration.AsDuration().Nanoseconds()).ID()
	}
	return e, len(found), nil
}

func userName(getenv func(string) string) string {
	if u, err := user.Current(); err == nil {
		return u.Username
	}
	return getenv("USER")
}

func hostName() string {
	h, err := os.Hostname()
	if err != nil {
		return ""
	}
	return h
}

// parseTime reads an RFC 3339 time or seconds since 1970 with a fraction.
func parseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC(), nil
	}
	whole, frac, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(frac) > 9 || strings.Trim(frac, "0123456789") != "" || sec > math.MaxInt64/int64(time.Second) {
		return time.Time{}, errors.New("want an RFC 3339 time such as 2026-11-20T12:00:00Z, or seconds since 1970 such as 1795176000.25")
	}
	nsec, _ := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	return time.Unix(sec, nsec).UTC(), nil
}

// ignored says whether a command matches one of the patterns, which are written
// like bash's HISTIGNORE: separated by colons, each for the whole command.
func ignored(command, patterns string) bool {
	for p := range strings.SplitSeq(patterns, ":") {
		if p == "" {
			continue
		}
		// path.Match lets * stop at slashes, which commands are full of.
		flat := strings.NewReplacer("/", "\x00", "\n", "\x00")
		if ok, err := path.Match(flat.Replace(p), flat.Replace(command)); err == nil && ok {
			return true
		}
	}
	return false
}

// recordsItself matches what the hook need not tell.
var recordsItself = regexp.MustCompile(`^\s*(\S*/)?recount\s+exec\s`)

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+=:,./-]+$`)

// shellJoin writes words as a shell reads them.
func shellJoin(words []string) string {
	out := make([]string, len(words))
	for i, w := range words {
		if plainWord.MatchString(w) {
			out[i] = w
		} else {
			out[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(out, " ")
}
