package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/agenthook"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/node"
)

// An agent calls `recount hook run AGENT` and waits for it. It reads the agent's message, puts
// events into the spool and exits with 0 and without output, whatever happens. It records a command
// when its tool is about to run, and its outcome when the tool has ended.
//
// A note in the state directory joins the two calls: the first call writes the start time to it
// once the command is in the spool. If the second call finds no note, it spools the command too;
// the command has the same id and remains one event.

const (
	// hookPatience is the maximum duration of a hook.
	hookPatience = 8 * time.Second
	// noteKept is how long a note is kept for a command that has not ended.
	noteKept = 48 * time.Hour
)

func (a *app) hookRunCmd() *cobra.Command {
	c := &cobra.Command{
		Use:    "run {" + strings.Join(agenthook.Names(), "|") + "}",
		Short:  "What an agent's settings call: records the tool's use that the standard input tells",
		Hidden: true,
		Args:   cobra.ArbitraryArgs,
		RunE: func(_ *cobra.Command, args []string) error {
			if err := runHook(a.connector, args); err != nil {
				a.hookLog(err)
			}
			return nil
		},
	}
	// Exit code 2 would forbid the agent its tool, so a usage error must not cause it.
	c.SetFlagErrorFunc(func(_ *cobra.Command, err error) error {
		a.hookLog(fmt.Errorf("hook run: %w", err))
		return exitError(0)
	})
	return c
}

// runHook reads the agent's message and spools its events. It converts panics to errors, because
// the Go runtime would exit with 2, which forbids the agent its tool.
func runHook(con *connector, args []string) (err error) {
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
		con.hookLog(fmt.Errorf("%s: no end after %s: not recorded", agent.Title, hookPatience))
		os.Exit(0)
	})
	defer end.Stop()
	in, err := io.ReadAll(io.LimitReader(con.In, agenthook.MaxInput+1))
	if err != nil {
		return err
	}
	call, err := agent.Parse(in, time.Now().UTC())
	if err != nil || len(call.Commands) == 0 {
		return err
	}
	cfg, err := con.nodeConfig()
	if err != nil {
		return err
	}
	r, err := redactor(cfg)
	if err != nil {
		return err
	}
	events, err := hookEvents(con, cfg, r, call)
	if err != nil || len(events) == 0 {
		return err
	}
	if err := con.spool(cfg, events...); err != nil {
		return err
	}
	if call.Stage == agenthook.Before {
		err = noteStart(con, call) // on failure the second call spools the command again
	} else {
		for _, c := range call.Commands {
			dropNote(con, c.ID)
		}
	}
	if con.serverURL() != "" {
		err = errors.Join(err, con.sendApart())
	}
	return err
}

// hookEvents returns the events of a call: its commands unless they are already spooled, and their
// outcomes.
func hookEvents(con *connector, cfg node.Config, r *redact.Redactor, call agenthook.Call) ([]schemas.Event, error) {
	var events []schemas.Event
	for _, c := range call.Commands {
		text, ok := recording.Hooked(c.Text, con.getenv("RECOUNT_IGNORE"))
		if !ok {
			continue
		}
		before := readNote(con, c.ID)
		start, took := call.At.Add(-call.Took), call.Took
		if !before.IsZero() {
			start = before
			if took == 0 {
				took = max(0, call.At.Sub(start))
			}
		}
		p, err := payload(con.getenv, details{cwd: call.Cwd, session: call.Session, author: call.Agent, intent: c.Intent}, text)
		if err != nil {
			return nil, err
		}
		p.StartedAt = timestamppb.New(start)
		if call.Stage == agenthook.Before || before.IsZero() {
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

// hookSource is the ce_source of events appended by agents' hooks.
const hookSource = "recount/agent-hook"

// noteStart writes the start times of a call's commands for the call after the tool.
func noteStart(con *connector, c agenthook.Call) error {
	dir, err := con.stateDir("recount-hooks")
	if err != nil {
		return err
	}
	for _, cmd := range c.Commands {
		if cmd.ID[0] < 16 { // for one call in sixteen
			sweep(dir, c.At.Add(-noteKept))
		}
		if err := os.WriteFile(filepath.Join(dir, cmd.ID.String()), []byte(strconv.FormatInt(c.At.UnixNano(), 10)+"\n"), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// readNote returns when a command started that the first call spooled; zero if there is no note.
func readNote(con *connector, id schemas.EventID) time.Time {
	dir, err := con.stateDir("recount-hooks")
	if err != nil {
		return time.Time{}
	}
	b, err := os.ReadFile(filepath.Join(dir, id.String()))
	if err != nil {
		return time.Time{}
	}
	first, _, _ := strings.Cut(string(b), "\n")
	nanos, err := strconv.ParseInt(first, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, nanos).UTC()
}

func dropNote(con *connector, id schemas.EventID) {
	if dir, err := con.stateDir("recount-hooks"); err == nil {
		_ = os.Remove(filepath.Join(dir, id.String())) // there may be no note
	}
}

// sweep removes old notes of commands that never ended, such as those that the user did not allow.
func sweep(dir string, before time.Time) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, e := range entries {
		if st, err := e.Info(); err == nil && st.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(dir, e.Name())) // another hook may have removed it already
		}
	}
}

// stateDir creates and returns a directory for temporary state.
func (con *connector) stateDir(name string) (string, error) {
	base := con.getenv("XDG_STATE_HOME")
	if base == "" || !filepath.IsAbs(base) {
		home := con.getenv("HOME")
		if home == "" {
			return "", errors.New("no state directory: neither XDG_STATE_HOME nor HOME is set")
		}
		base = filepath.Join(home, ".local", "state")
	}
	dir := filepath.Join(base, name)
	return dir, os.MkdirAll(dir, 0o700)
}

// openHookLog opens the log that the shells' hooks also write to.
func (con *connector) openHookLog() (*os.File, error) {
	file := con.getenv("RECOUNT_HOOK_LOG")
	if file == "" {
		dir, err := con.stateDir("")
		if err != nil {
			return nil, err
		}
		file = filepath.Join(dir, "recount-hook.log")
	}
	return os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
}

// hookLog writes to the log why something was not recorded; it prints nothing.
func (con *connector) hookLog(err error) {
	if f, openErr := con.openHookLog(); openErr == nil {
		fmt.Fprintf(f, "recount: %s\n", err)
		f.Close()
	}
}
