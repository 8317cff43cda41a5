package hookrun

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/agenthook"
	"github.com/recountdb/recount/internal/commandevent"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
	"github.com/recountdb/recount/server/node"
)

const (
	// hookPatience is the maximum duration of a hook.
	hookPatience = 8 * time.Second
	// noteKept is how long a note is kept for a command that has not ended.
	noteKept = 48 * time.Hour
)

// Run reads the agent's message and spools its events. It converts panics to errors, because
// the Go runtime would exit with 2, which forbids the agent its tool.
func Run(con *connect.Connector, args []string) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("hook run: a bug in recount: %v", p)
		}
	}()
	if len(args) != 1 {
		return fmt.Errorf("hook run: want one agent of %s", strings.Join(agenthook.Names(), ", "))
	}
	agent, err := agenthook.Named(args[0])
	if err != nil {
		return err
	}
	end := time.AfterFunc(max(hookPatience, con.Patience), func() {
		con.HookLog(fmt.Errorf("%s: no end after %s: not recorded", agent.Title, hookPatience))
		os.Exit(0)
	})
	defer end.Stop()
	in, err := io.ReadAll(io.LimitReader(con.In, agenthook.MaxInput+1))
	if err != nil {
		return err
	}
	call, err := agent.Parse(in, time.Now().UTC())
	if err != nil || call.Stage == 0 {
		return err
	}
	// The session's file has the commands of an agent whose tool uses have no ids.
	inFile := readable(call.Transcript) && call.Agent == "gemini"
	if inFile && call.Stage == agenthook.After || readable(call.Transcript) && call.Stage > agenthook.Began {
		if err := startFollowing(con, call); err != nil {
			return err
		}
	}
	if inFile {
		call.Commands = nil
	}
	cfg, err := con.NodeConfig()
	if err != nil {
		return err
	}
	r, err := connect.Redactor(cfg)
	if err != nil {
		return err
	}
	events, err := hookEvents(con, cfg, r, call)
	if err != nil {
		return err
	}
	said, err := sessionEvents(con, r, call)
	if err != nil {
		return err
	}
	if events = append(events, said...); len(events) == 0 {
		return nil
	}
	if err := con.Spool(cfg, events...); err != nil {
		return err
	}
	if call.Stage == agenthook.Before {
		err = noteStart(con, call) // on failure the second call spools the command again
	} else {
		for _, c := range call.Commands {
			dropNote(con, c.ID)
		}
	}
	if con.ServerURL() != "" {
		err = errors.Join(err, con.SendApart())
	}
	return err
}

// hookEvents returns the events of a call: its commands unless they are already spooled, and their
// outcomes.
func hookEvents(con *connect.Connector, cfg node.Config, r *redact.Redactor, call agenthook.Call) ([]schemas.Event, error) {
	var events []schemas.Event
	for _, c := range call.Commands {
		text, ok := recording.Hooked(c.Text, call.Cwd, con.Getenv("RECOUNT_IGNORE"), con.Getenv)
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
		p, err := commandevent.New(con.Getenv, commandevent.Details{Cwd: call.Cwd, Session: call.Session, Author: call.Agent, Intent: c.Intent}, text)
		if err != nil {
			return nil, err
		}
		p.StartedAt = timestamppb.New(start)
		if call.Stage == agenthook.Before || before.IsZero() {
			e, _, err := commandevent.Event(cfg, p, c.ID.String())
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
