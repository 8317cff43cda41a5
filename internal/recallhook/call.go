package recallhook

import (
	"strings"

	"github.com/recountdb/recount/internal/hookinput"
	"github.com/recountdb/recount/schemas/clip"
)

// question is what to ask the server about a message: its path, and the request. Names are those of
// query/recall, which is not imported because it is large.
type question struct {
	path    string
	request map[string]any
	// clears means that the session's context no longer has what was put into it.
	clears bool
}

const (
	// maxPrompt and maxOutput limit what is sent, in bytes.
	maxPrompt = 16 << 10
	maxOutput = 16 << 10
)

// questionOf returns what to ask about a message; ok is false if there is nothing to ask.
func questionOf(m *hookinput.Message, agent, workspace string) (q question, ok bool) {
	q.request = map[string]any{"workspace": workspace, "agent": agent, "session": string(m.Session)}
	switch m.Event {
	case "SessionStart":
		q.path, q.clears = "brief", m.Source == "compact" || m.Source == "clear"
		return q, true
	case "UserPromptSubmit", "BeforeAgent":
		q.path = "recall"
		q.request["on"], q.request["text"] = "prompt", clip.Head(string(m.Prompt), maxPrompt)
		return q, strings.TrimSpace(string(m.Prompt)) != ""
	case "PostToolUse", "PostToolUseFailure", "AfterTool":
		command, output, failed := outcome(m)
		if !failed || command == "" || output == "" {
			return q, false
		}
		q.path = "recall"
		q.request["on"], q.request["command"], q.request["output"] = "failure", clip.Head(command, maxPrompt), clip.Tail(output, maxOutput)
		return q, true
	}
	return q, false
}

// isOver reports whether a message tells what has happened: nobody waits until it is recorded. What
// is about to happen must be recorded before its outcome is.
func isOver(m *hookinput.Message) bool {
	switch m.Event {
	case "SessionStart", "UserPromptSubmit", "BeforeAgent", "PostToolUse", "PostToolUseFailure", "AfterTool":
		return true
	}
	return false
}

// outcome returns what a tool ran, what it printed, and whether it failed. Only tools that run
// commands count.
func outcome(m *hookinput.Message) (command, output string, failed bool) {
	if !m.Runs() || bool(m.Stopped) {
		return "", "", false
	}
	in, _ := m.ToolInput() // absent if it has another form
	r := m.Result()
	if r.Interrupted {
		return "", "", false
	}
	output = r.Output
	if more := hookinput.Loose(m.Error); more != "" {
		output = strings.TrimPrefix(output+"\n"+more, "\n")
	}
	switch {
	case m.Event == "PostToolUseFailure":
		failed = true
	case r.Exit != nil:
		failed = *r.Exit != 0
	default:
		failed = r.Failed
	}
	return string(in.Command), output, failed
}

// output is what a hook prints so that the agent takes up a text: the same for all agents.
type output struct {
	Specific struct {
		Event   string `json:"hookEventName"`
		Context string `json:"additionalContext"`
	} `json:"hookSpecificOutput"`
}

// answer is the part of the server's answer that is needed.
type answer struct {
	Text  string `json:"text"`
	Items []struct {
		ID string `json:"id"`
	} `json:"items"`
}
