package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/agenthook"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/node"
)

// An agent calls `recount hook run AGENT` and waits for it. It reads what the
// agent says, hands it to a process of its own session that nothing waits for,
// and exits with 0 and without a word, whatever happens. That process appends the
// events: the command when its tool is about to run, its outcome when it has.
//
// The two calls may overtake each other, for each has a process of its own. A
// note in the state directory joins them: the call before leaves the time in it,
// its process adds that the command is in the log. The call after without such a
// note appends the command too; it has the same id, and is one event.

const (
	// hookPatience is how long a hook may take, all in all.
	hookPatience = 8 * time.Second
	// noteKept is how long a note waits for the end of its command.
	noteKept = 48 * time.Hour
)

func (a *app) hookRunCmd() *cobra.Command {
	var deliver bool
	c := &cobra.Command{
		Use:    "run {" + strings.Join(agenthook.Names(), "|") + "}",
		Short:  "What an agent's settings call: records the tool's use that the standard input tells",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if deliver {
				return a.hookDeliver(cmd.Context())
			}
			if err := a.hookHandOver(args); err != nil {
				a.hookLog(err)
			}
			return nil
		},
	}
	// A program that exits with 2 forbids the agent its tool: so does no mistake here.
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.hookLog(fmt.Errorf("hook run: %w", err))
		return exitError(0)
	})
	c.Flags().BoolVar(&deliver, "deliver", false, "append the call that the standard input holds")
	return c
}

// hookHandOver reads the agent's call and starts the process that appends it.
// A fault of the program is an error too: the runtime would exit with 2, which
// forbids the agent its tool.
func (a *app) hookHandOver(args []string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("hook run: a fault of recount itself: %v", p)
		}
	}()
	if len(args) != 1 {
		return fmt.Errorf("hook run: want one agent of %s", strings.Join(agenthook.Names(), ", "))
	}
	agent, err := agenthook.Named(args[0])
	if err != nil {
		return err
	}
	end := time.AfterFunc(hookPatience, func() {
		a.hookLog(fmt.Errorf("%s: no end after %s: not recorded", agent.Title, hookPatience))
		os.Exit(0)
	})
	defer end.Stop()
	in, err := io.ReadAll(io.LimitReader(a.stdin, agenthook.MaxInput+1))
	if err != nil {
		return err
	}
	call, err := agent.Parse(in, time.Now().UTC())
	if err != nil || len(call.Commands) == 0 {
		return err
	}
	if call.Stage == agenthook.Before {
		if err := a.noteStart(call); err != nil {
			a.hookLog(err) // only the duration is lost
		}
	}
	b, err := json.Marshal(call)
	if err != nil {
		return err
	}
	return a.handTo(b)
}

// handTo starts this program once more, apart from the agent, and gives it the call.
func (a *app) handTo(call []byte) error {
	bin, err := os.Executable()
	if err != nil {
		return err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer w.Close()
	args := []string{"hook", "run", "--deliver"}
	for flag, value := range map[string]string{"--data-dir": a.dataDir, "--config": a.config, "--server": a.server} {
		if value != "" {
			args = append(args, flag, value)
		}
	}
	child := exec.Command(bin, args...)
	child.Stdin = r
	child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	log, err := a.openHookLog()
	if err == nil {
		defer log.Close()
		child.Stderr = log
	}
	if err := errors.Join(child.Start(), r.Close()); err != nil {
		return err
	}
	if err := w.SetWriteDeadline(time.Now().Add(hookPatience)); err != nil {
		return err
	}
	_, err = w.Write(call)
	return errors.Join(err, child.Process.Release())
}

// hookDeliver appends a call that was handed over.
func (a *app) hookDeliver(ctx context.Context) (err error) {
	var call agenthook.Call
	if err := json.NewDecoder(a.stdin).Decode(&call); err != nil {
		return fmt.Errorf("what was handed over: %w", err)
	}
	cfg, err := a.nodeConfig()
	if err != nil {
		return err
	}
	r, err := redactor(cfg)
	if err != nil {
		return err
	}
	b, err := a.open(ctx, cfg, hookWait, appendOnly...)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	// The notes are read only now: where processes take turns at the data
	// directory, the call before has told by now what it did.
	events, err := a.hookEvents(cfg, r, call)
	if err != nil || len(events) == 0 {
		return err
	}
	if _, err := b.Append(ctx, events); err != nil {
		return err
	}
	for _, c := range call.Commands {
		if call.Stage != agenthook.Before {
			a.dropNote(c.ID)
		} else if err := a.noteAppended(c.ID); err != nil {
			return err
		}
	}
	return nil
}

// hookEvents are the events of a call: its commands where they are not in the
// log yet, and what became of them.
func (a *app) hookEvents(cfg node.Config, r *redact.Redactor, call agenthook.Call) ([]schemas.Event, error) {
	var events []schemas.Event
	for _, c := range call.Commands {
		if ignored(c.Text, a.getenv("RECOUNT_IGNORE")) || recordsItself.MatchString(c.Text) {
			continue
		}
		before := a.readNote(c.ID)
		start, took := call.At.Add(-call.Took), call.Took
		if !before.start.IsZero() {
			start = before.start
			if took == 0 {
				took = max(0, call.At.Sub(start))
			}
		}
		p, err := a.payload(recordFlags{cwd: call.Cwd, session: call.Session, author: call.Agent, intent: c.Intent}, c.Text)
		if err != nil {
			return nil, err
		}
		p.StartedAt = timestamppb.New(start)
		if call.Stage == agenthook.Before || !before.appended {
			e, _, err := event(cfg, p, c.ID.String())
			if err != nil {
				return nil, err
			}
			e.Source = hookSource
			events = append(events, e)
		}
		if call.Stage == agenthook.Before || call.Pending {
			continue
		}
		o := &recountv1.OutcomeObserved{
			CommandEventId: c.ID.String(), ExitCode: call.ExitCode, ObservedAt: timestamppb.New(call.At),
			OutputTail: call.Output, Author: call.Agent,
		}
		if took > 0 {
			o.Duration = durationpb.New(took)
		}
		r.Event(o)
		payload, err := schemas.EncodePayload(o)
		if err != nil {
			return nil, err
		}
		events = append(events, schemas.Event{
			ID:   schemas.NewCanon("recount/agent-hook/outcome/1").Bytes(c.ID[:]).ID(),
			Type: schemas.TypeOutcomeObserved, Source: hookSource, Time: call.At, Key: schemas.KeyOf(p),
			ContentType: schemas.ContentJSON, Payload: payload,
		})
	}
	return events, nil
}

// hookSource is the ce_source of what agents' hooks append.
const hookSource = "recount/agent-hook"

// note is what the call before a tool left for the one after it.
type note struct {
	start    time.Time
	appended bool
}

func (a *app) noteStart(c agenthook.Call) error {
	dir, err := a.stateDir("recount-hooks")
	if err != nil {
		return err
	}
	for _, cmd := range c.Commands {
		if cmd.ID[0] < 16 { // one time in sixteen
			sweep(dir, c.At.Add(-noteKept))
		}
		if err := os.WriteFile(filepath.Join(dir, cmd.ID.String()), []byte(strconv.FormatInt(c.At.UnixNano(), 10)+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// noteAppended adds to a note that its command is in the log; one that is gone
// by now stays away.
func (a *app) noteAppended(id schemas.EventID) error {
	dir, err := a.stateDir("recount-hooks")
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, id.String()), os.O_WRONLY|os.O_APPEND, 0)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString("appended\n")
	return errors.Join(err, f.Close())
}

func (a *app) readNote(id schemas.EventID) (n note) {
	dir, err := a.stateDir("recount-hooks")
	if err != nil {
		return n
	}
	b, err := os.ReadFile(filepath.Join(dir, id.String()))
	if err != nil {
		return n
	}
	first, rest, _ := strings.Cut(string(b), "\n")
	nanos, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return n
	}
	return note{time.Unix(0, nanos).UTC(), strings.Contains(rest, "appended")}
}

func (a *app) dropNote(id schemas.EventID) {
	if dir, err := a.stateDir("recount-hooks"); err == nil {
		_ = os.Remove(filepath.Join(dir, id.String())) // there may be none
	}
}

// sweep removes the notes of commands that never ended, such as those the user
// did not allow.
func sweep(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if st, err := e.Info(); err == nil && st.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another hook may have been faster
		}
	}
}

// stateDir is a directory of ours for what need not last.
func (a *app) stateDir(name string) (string, error) {
	base := a.getenv("XDG_STATE_HOME")
	if base == "" || !filepath.IsAbs(base) {
		home := a.getenv("HOME")
		if home == "" {
			return "", errors.New("no state directory: neither XDG_STATE_HOME nor HOME is set")
		}
		base = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(base, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// openHookLog is the log that the shells' hooks write to as well.
func (a *app) openHookLog() (*os.File, error) {
	file := a.getenv("RECOUNT_HOOK_LOG")
	if file == "" {
		dir, err := a.stateDir("")
		if err != nil {
			return nil, err
		}
		file = filepath.Join(dir, "recount-hook.log")
	}
	return os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// hookLog tells the log why something was not recorded; nobody else is told.
func (a *app) hookLog(err error) {
	if f, openErr := a.openHookLog(); openErr == nil {
		fmt.Fprintf(f, "recount: %s\n", err)
		f.Close()
	}
}
