package agentlog

import (
	"encoding/json"
	"slices"
)

// probe holds the properties of a value that identify its format.
type probe struct {
	top fields
	// first are the first objects in the value's list, or in its messages, history, input or
	// output; as many as needed.
	first []fields
	// blocks are the types of the parts of their contents.
	blocks []string
}

const probed = 64

func newProbe(raw []byte) probe {
	var p probe
	var items list
	_ = json.Unmarshal(raw, &items)
	p.top = object(raw)
	for _, name := range []string{"messages", "history", "input", "output"} {
		if len(items) == 0 {
			items = p.top.list(name)
		}
	}
	for _, item := range items[:min(len(items), probed)] {
		var pair list
		if json.Unmarshal(item, &pair) == nil && len(pair) > 0 {
			item = pair[0] // older versions of OpenHands kept an action and its result as a pair
		}
		p.first = append(p.first, object(item))
	}
	for _, m := range append(p.first, p.top) {
		if m.has("message") {
			m = m.object("message")
		}
		for _, b := range m.list("content") {
			p.blocks = append(p.blocks, object(b).text("type"))
		}
	}
	return p
}

// any reports whether one of the objects has one of the fields.
func (p probe) any(names ...string) bool {
	return slices.ContainsFunc(p.first, func(f fields) bool { return f.has(names...) })
}

// anyIs reports whether a field of one of the objects, or of the value, has one of the values.
func (p probe) anyIs(name string, values ...string) bool {
	is := func(f fields) bool { return slices.Contains(values, f.text(name)) }
	return is(p.top) || slices.ContainsFunc(p.first, is)
}

func isTraj(p probe) bool {
	return p.top.has("trajectory") || p.top.has("history") && p.anyIs("role", "user", "assistant") && !p.top.has("instance_id")
}

func isOpenHands(p probe) bool {
	if p.top.has("instance_id") && p.top.has("history", "test_result") {
		return true
	}
	return p.top == nil && p.any("action", "observation") && p.any("source")
}

func isClaudeCode(p probe) bool {
	switch p.top.text("type") {
	case "summary":
		return p.top.has("leafUuid")
	case "file-history-snapshot": // a session may begin with many of these lines
		return p.top.has("snapshot")
	}
	return p.top.has("sessionId") && p.top.has("uuid", "type")
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

func isOpenAI(p probe) bool {
	switch p.top.text("object") {
	case "chat.completion", "response":
		return true
	}
	return p.anyIs("role", "user", "assistant", "system", "developer", "tool") || p.anyIs("type", "function_call", "function_call_output")
}

func isGeneric(p probe) bool {
	return p.top.has("type") && p.top.has("id", "agent", "workspace", "session", "text", "tool", "memory")
}
