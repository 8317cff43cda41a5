// Package hookinput reads what coding agents pass to their hooks, in the formats of all of them. It
// is shared by the half of a hook that records and the half that recalls; the latter must start in
// a few milliseconds, so the package imports nothing large and compiles nothing when it is loaded.
//
// A field of an unexpected type counts as absent, because the formats change. Any bytes may be
// given: Parse returns an error only if they are no JSON object.
package hookinput

import (
	"encoding/json"
	"strings"
)

// Message is the union of the agents' formats.
type Message struct {
	Session    Text            `json:"session_id"`
	Cwd        Text            `json:"cwd"`
	Event      Text            `json:"hook_event_name"`
	Tool       Text            `json:"tool_name"`
	UseID      Text            `json:"tool_use_id"`
	Timestamp  Text            `json:"timestamp"`
	Input      json.RawMessage `json:"tool_input"`
	Response   json.RawMessage `json:"tool_response"`
	Error      json.RawMessage `json:"error"`
	Stopped    Flag            `json:"is_interrupt"`
	Transcript Text            `json:"transcript_path"`
	Prompt     Text            `json:"prompt"`
	LastAnswer Text            `json:"last_assistant_message"` // of Claude Code and Codex
	Answer     Text            `json:"prompt_response"`        // of Gemini CLI
	Source     Text            `json:"source"`
	Reason     Text            `json:"reason"`
	Model      Text            `json:"model"`
	DurationMS Number          `json:"duration_ms"`
}

// ToolInput is the union of the inputs of the tools that run commands.
type ToolInput struct {
	Command     Text `json:"command"`
	Description Text `json:"description"`
	Background  Flag `json:"run_in_background"`
}

// Parse reads a message.
func Parse(b []byte) (Message, error) {
	var m Message
	err := json.Unmarshal(b, &m)
	if err != nil {
		m = Message{}
	}
	return m, err
}

// RunsCommands reports whether a tool is one that runs commands in a shell.
func RunsCommands(tool string) bool { return tool == "Bash" || tool == "run_shell_command" }

// Runs reports whether the message is about such a tool.
func (m *Message) Runs() bool { return RunsCommands(string(m.Tool)) }

// ToolInput reads the input of the tool. The error means that it is no JSON object.
func (m *Message) ToolInput() (ToolInput, error) {
	var in ToolInput
	err := json.Unmarshal(m.Input, &in)
	return in, err
}

// Text, Number and Flag are absent if the JSON has another type.
type (
	Text   string
	Number float64
	Flag   bool
)

// UnmarshalJSON accepts any value.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = Text(s)
	}
	return nil
}

// UnmarshalJSON accepts any value.
func (n *Number) UnmarshalJSON(b []byte) error {
	var f float64
	if json.Unmarshal(b, &f) == nil {
		*n = Number(f)
	}
	return nil
}

// UnmarshalJSON accepts any value.
func (f *Flag) UnmarshalJSON(b []byte) error {
	var v bool
	if json.Unmarshal(b, &v) == nil {
		*f = Flag(v)
	}
	return nil
}

// Loose returns the content of a JSON string, the JSON of any other value, or "".
func Loose(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// joined joins parts of an output, a line end between two.
func joined(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p = strings.TrimRight(p, "\n"); p != "" {
			if b.Len() > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(p)
		}
	}
	return b.String()
}
