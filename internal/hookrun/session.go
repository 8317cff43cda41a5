package hookrun

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/internal/agenthook"
	"github.com/recountdb/recount/internal/connect"
	"github.com/recountdb/recount/internal/recording"
	"github.com/recountdb/recount/internal/redact"
	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// sessionEvents returns what a call says of its session itself: that it began or ended, and if the
// agent keeps no file of it, the prompt, the answer, or the tool's call and result.
func sessionEvents(con *connect.Connector, r *redact.Redactor, call agenthook.Call) ([]schemas.Event, error) {
	s := session{call: call, r: r}
	file := readable(call.Transcript)
	switch call.Stage {
	case agenthook.Began:
		s.add(schemas.TypeStateChanged, "", &recountv1.AgentEvent{State: &recountv1.StateChange{Key: "session", Value: call.Source}, Model: call.Model})
	case agenthook.Ended:
		s.add(schemas.TypeStateChanged, "", &recountv1.AgentEvent{State: &recountv1.StateChange{Key: "session", Removed: true}, Text: call.Source})
	case agenthook.Prompt:
		switch {
		case strings.TrimSpace(call.Text) == "" || file:
		case call.Transcript == "":
			s.add(schemas.TypeUserMessage, "", &recountv1.AgentEvent{Text: call.Text})
		default: // the first prompt comes before the file, which will have it
			return nil, notePrompt(con, call)
		}
	case agenthook.Answer:
		if first, ok := takePrompt(con, call); ok && !file {
			s.call.At = first.At
			s.add(schemas.TypeUserMessage, "", &recountv1.AgentEvent{Text: first.Text})
			s.call.At = call.At
		}
		if !file && strings.TrimSpace(call.Text) != "" {
			s.add(schemas.TypeAssistantMessage, "", &recountv1.AgentEvent{Text: call.Text, Model: call.Model})
		}
	case agenthook.After, agenthook.Failed:
		if call.Transcript == "" && call.UseID != "" {
			s.tool()
		}
	}
	return s.events, s.err
}

// session makes the events of a call.
type session struct {
	call   agenthook.Call
	r      *redact.Redactor
	events []schemas.Event
	err    error
}

// tool makes the events of a call of a tool and of its result.
func (s *session) tool() {
	t := &recountv1.Tool{Name: s.call.Tool, CallId: s.call.UseID, Arguments: s.call.Input}
	if len(s.call.Commands) == 1 && t.Name == "Bash" {
		t.Command, t.Cwd = s.call.Commands[0].Text, s.call.Cwd
	}
	id := s.add(schemas.TypeToolCall, "call", &recountv1.AgentEvent{Tool: t, Model: s.call.Model})
	back := &recountv1.Tool{Name: t.Name, CallId: t.CallId, Result: s.call.Output, ExitCode: s.call.ExitCode, Failed: s.call.Stage == agenthook.Failed}
	if s.call.Took > 0 {
		back.Duration = durationpb.New(s.call.Took)
	}
	s.add(schemas.TypeToolResult, "result", &recountv1.AgentEvent{Tool: back, ParentEventId: id.String()})
}

// add makes an event. A tool use names it; otherwise the time does.
func (s *session) add(typ, own string, m *recountv1.AgentEvent) schemas.EventID {
	m.Agent, m.Session, m.Workspace = s.call.Agent, s.call.Session, recording.MemoryWorkspace(s.call.Cwd)
	if m.Workspace == "" {
		m.Workspace = s.call.Cwd
	}
	canon := schemas.NewCanon("recount/agent-hook/event/1").String(m.Agent).String(m.Session).String(typ)
	if own == "" {
		canon = canon.Int(s.call.At.UnixNano())
	} else {
		canon = canon.String(own).String(s.call.UseID)
	}
	id := canon.ID()
	m.OccurredAt = timestamppb.New(s.call.At)
	s.r.Event(m)
	payload, err := schemas.EncodePayload(m)
	if err != nil {
		s.err = err
		return id
	}
	s.events = append(s.events, schemas.Event{
		ID: id, Type: typ, Source: hookSource, Time: s.call.At, Key: schemas.KeyOf(m), ContentType: schemas.ContentJSON, Payload: payload,
	})
	return id
}

// promptNote returns the path of the note that keeps a session's first prompt.
func promptNote(con *connect.Connector, call agenthook.Call) (string, error) {
	dir, err := con.StateDir("recount-hooks")
	sum := sha256.Sum256([]byte(call.Agent + "\x00" + call.Session))
	return filepath.Join(dir, "prompt-"+hex.EncodeToString(sum[:12])), err
}

// notePrompt keeps a prompt until it is known whether the agent keeps a file of the session.
func notePrompt(con *connect.Connector, call agenthook.Call) error {
	path, err := promptNote(con, call)
	if err != nil {
		return err
	}
	b, err := json.Marshal(call)
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}

// takePrompt returns the prompt that was kept, and removes it.
func takePrompt(con *connect.Connector, call agenthook.Call) (first agenthook.Call, ok bool) {
	path, err := promptNote(con, call)
	if err != nil {
		return first, false
	}
	b, err := os.ReadFile(path)
	_ = os.Remove(path) // there may be none
	return first, err == nil && json.Unmarshal(b, &first) == nil
}
