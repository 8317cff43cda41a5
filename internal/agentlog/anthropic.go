package agentlog

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

var anthropicFormat = Format{
	Name: "anthropic", Files: "transcripts of Anthropic's API",
	is: isAnthropic, read: readAnthropic,
}

func isAnthropic(p probe) bool {
	if p.top.text("type") == "message" && p.top.has("content") && p.top.has("stop_reason", "model") {
		return true
	}
	if p.top.has("anthropic_version") || p.top.has("messages") && p.top.has("system") {
		return true
	}
	return slices.ContainsFunc(p.blocks, func(b string) bool {
		return slices.Contains([]string{"tool_use", "tool_result", "thinking", "redacted_thinking"}, b)
	})
}

// readAnthropic reads input and output of Anthropic's Messages API: an object with messages, a list
// of messages, or one message per line.
func readAnthropic(f *file, v value) error {
	doc := object(v.raw)
	messages, id, model := v.raw, "", ""
	if doc != nil {
		if !doc.has("messages") {
			if !doc.has("role") {
				return errors.New("no message: it has neither messages nor a role")
			}
			r := f.conversation("")
			m := anthropicMessage(doc, "")
			m.own = fmt.Sprint("line/", v.line)
			parent, causes := r.follows()
			r.addMessage(m, parent, causes)
			return nil
		}
		if doc.has("system") {
			f.leftOut("system prompt")
		}
		messages, id, model = doc["messages"], doc.text("id"), doc.text("model")
	}
	items := elementsOf(messages)
	if items == nil {
		return errors.New("messages is not a list")
	}
	if id == "" && v.line > 1 && f.o.Session == "" {
		id = fmt.Sprintf("%s:%d", f.o.Name, v.line)
	}
	r := f.conversation(id)
	for i, raw := range items {
		doc := object(raw)
		if !doc.has("role") {
			f.skip(v.line, fmt.Sprintf("message %d: not an object with a role", i))
			continue
		}
		m := anthropicMessage(doc, "")
		if m.own = ordinal("message", i); m.model == "" {
			m.model = model
		}
		parent, causes := r.follows()
		r.addMessage(m, parent, causes)
	}
	return nil
}

// anthropicMessage converts one message; its commands run in cwd.
func anthropicMessage(doc fields, cwd string) message {
	m := message{role: doc.text("role"), model: doc.text("model"), at: firstTime(doc.text("timestamp"), doc.text("created_at"))}
	var parts list
	if raw := doc["content"]; len(raw) > 0 && raw[0] == '[' {
		parts = elementsOf(raw)
	} else if s := contentText(raw); s != "" {
		m.blocks = []block{{said: s}}
	}
	for _, raw := range parts {
		f := object(raw)
		switch typ := f.text("type"); typ {
		case "text":
			m.blocks = append(m.blocks, block{said: f.text("text")})
		case "thinking":
			if s := f.text("thinking"); s != "" {
				m.blocks = append(m.blocks, block{thought: s})
			}
		case "redacted_thinking":
			m.blocks = append(m.blocks, block{aside: "encrypted thought"})
		case "tool_use", "server_tool_use", "mcp_tool_use":
			id := f.text("id")
			m.blocks = append(m.blocks, block{callID: id, call: toolOf(f.text("name"), id, f.text("input"), cwd)})
		case "tool_result", "web_search_tool_result", "web_fetch_tool_result", "mcp_tool_result", "code_execution_tool_result":
			m.blocks = append(m.blocks, block{callID: f.text("tool_use_id"), result: &result{
				text: contentText(f["content"]), failed: f.text("is_error") == "true",
			}})
		default:
			m.blocks = append(m.blocks, block{aside: asideOf(typ)})
		}
	}
	return m
}

func firstTime(texts ...string) time.Time {
	for _, s := range texts {
		if t := when(s); !t.IsZero() {
			return t
		}
	}
	return time.Time{}
}
