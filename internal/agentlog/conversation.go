package agentlog

import (
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/recountdb/recount/schemas"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// message is one message of a conversation, in any format.
type message struct {
	// role is user, assistant, tool or system.
	role string
	// own is the message's id in the conversation.
	own    string
	at     time.Time
	model  string
	blocks []block
	// attributes are added to each of its events.
	attributes map[string]string
}

// block is a part of a message. One of its fields is set.
type block struct {
	said    string
	thought string
	call    *recountv1.Tool
	result  *result
	// callID is the id of the call, or of the call that the result belongs to.
	callID string
	// aside is the name of a part that is skipped.
	aside string
}

// addMessage makes the events of a message. They follow parent: the previous message, or the results of
// the previous calls.
func (r *run) addMessage(m message, parent eventID, causes []eventID) {
	own := func(i int) string { return ordinal(m.own, i) }
	e := func(i int, x *recountv1.AgentEvent) event {
		if m.role == "assistant" {
			x.Model = m.model
		}
		x.Attributes = maps.Clone(m.attributes)
		return event{own: own(i), at: m.at, parent: parent, causes: causes, AgentEvent: x}
	}
	// next makes id the parent of the message's next event.
	next := func(id eventID) {
		if !id.IsZero() {
			parent, causes = id, nil
		}
	}
	thought := ""
	for i, b := range m.blocks {
		switch {
		case b.aside != "":
			r.f.leftOut(b.aside)
		case m.role == "system":
			r.f.leftOut("system prompt")
		case b.thought != "":
			thought = strings.TrimLeft(thought+"\n\n"+b.thought, "\n")
		case b.call != nil:
			x := e(i, &recountv1.AgentEvent{Thought: thought, Tool: b.call})
			thought = ""
			id := r.issued(b.callID, x)
			r.plan(own(i), m.at, id, b.call)
			if !id.IsZero() {
				r.last, r.round = id, nil
			}
		case b.result != nil:
			r.returned(b.callID, own(i), m.at, *b.result)
			if m.role == "user" {
				next(r.last)
			}
		case strings.TrimSpace(b.said) != "":
			x := e(i, &recountv1.AgentEvent{Text: b.said, Thought: thought})
			x.typ, thought = schemas.TypeUserMessage, ""
			if m.role == "assistant" {
				x.typ = schemas.TypeAssistantMessage
			}
			next(r.add(x))
		}
	}
	if thought != "" {
		x := e(len(m.blocks), &recountv1.AgentEvent{Thought: thought})
		x.typ = schemas.TypeAssistantMessage
		r.add(x)
	}
}

// follows returns what the next message follows: all results since the agent's last message, the
// newest of them as the parent.
func (r *run) follows() (parent eventID, causes []eventID) {
	if len(r.round) > 1 {
		causes = append(causes, r.round[:len(r.round)-1]...)
	}
	return r.last, causes
}

// plan makes the events of calls that write a plan or delegate work.
func (r *run) plan(own string, at time.Time, parent eventID, t *recountv1.Tool) {
	if parent.IsZero() {
		return
	}
	args := object([]byte(t.Arguments))
	switch t.Name {
	case "TodoWrite", "update_plan", "task_tracker":
		todos := args.list("todos")
		if len(todos) == 0 {
			todos = args.list("plan")
		}
		if len(todos) == 0 {
			todos = args.list("task_list")
		}
		p := &recountv1.Plan{Id: t.Name}
		for _, raw := range todos {
			todo := object(raw)
			s := &recountv1.PlanStep{Status: planStatus(todo.text("status"))}
			for _, field := range []string{"content", "step", "title", "text"} {
				if s.Text == "" {
					s.Text = todo.text(field)
				}
			}
			p.Steps = append(p.Steps, s)
		}
		if len(p.Steps) > 0 {
			r.emit(event{typ: schemas.TypePlanUpdated, own: own + "/plan", at: at, parent: parent, AgentEvent: &recountv1.AgentEvent{Plan: p}})
		}
	case "Task", "Agent":
		if args.has("prompt") {
			r.emit(event{typ: schemas.TypeHandoff, own: own + "/handoff", at: at, parent: parent, AgentEvent: &recountv1.AgentEvent{
				Handoff: &recountv1.Handoff{ToAgent: args.text("subagent_type"), Reason: args.text("prompt")}, Text: args.text("description"),
			}})
		}
	}
}

// planStatus returns the state of a step in the terms of agents.proto, if there is one.
func planStatus(s string) string {
	switch s {
	case "todo", "open":
		return "pending"
	case "completed", "complete":
		return "done"
	case "cancelled", "canceled":
		return "dropped"
	}
	return s
}

// contentText returns the text of a content that is a string or a list of parts.
func contentText(raw json.RawMessage) string {
	var s string
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	parts := elementsOf(raw)
	if parts == nil {
		return string(raw)
	}
	var texts []string
	for _, p := range parts {
		if f := object(p); f.has("text") {
			texts = append(texts, f.text("text"))
		} else if json.Unmarshal(p, &s) == nil {
			texts = append(texts, s)
		}
	}
	return strings.Join(texts, "\n")
}
