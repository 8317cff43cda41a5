package recallhook

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// call is what an agent tells its hook. A field of an unexpected type counts as absent.
type call struct {
	Session  text            `json:"session_id"`
	Cwd      text            `json:"cwd"`
	Event    text            `json:"hook_event_name"`
	Prompt   text            `json:"prompt"`
	Source   text            `json:"source"`
	Tool     text            `json:"tool_name"`
	Input    json.RawMessage `json:"tool_input"`
	Response json.RawMessage `json:"tool_response"`
	Error    json.RawMessage `json:"error"`
	Stopped  flag            `json:"is_interrupt"`
}

// text is a string, flag a boolean; they are absent if the JSON has another type.
type (
	text string
	flag bool
)

// UnmarshalJSON accepts any value.
func (t *text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) == nil {
		*t = text(s)
	}
	return nil
}

// UnmarshalJSON accepts any value.
func (f *flag) UnmarshalJSON(b []byte) error {
	var v bool
	if json.Unmarshal(b, &v) == nil {
		*f = flag(v)
	}
	return nil
}

// question is what to ask the server about a call: its path, and the request. Names are those of
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

// ask returns what to ask about a call; ok is false if there is nothing to ask.
func (c *call) ask(agent, workspace string) (q question, ok bool) {
	q.request = map[string]any{"workspace": workspace, "agent": agent, "session": string(c.Session)}
	switch c.Event {
	case "SessionStart":
		q.path, q.clears = "brief", c.Source == "compact" || c.Source == "clear"
		return q, true
	case "UserPromptSubmit", "BeforeAgent":
		q.path = "recall"
		q.request["on"], q.request["text"] = "prompt", head(string(c.Prompt), maxPrompt)
		return q, strings.TrimSpace(string(c.Prompt)) != ""
	case "PostToolUse", "PostToolUseFailure", "AfterTool":
		command, output, failed := c.outcome()
		if !failed || command == "" || output == "" {
			return q, false
		}
		q.path = "recall"
		q.request["on"], q.request["command"], q.request["output"] = "failure", head(command, maxPrompt), tail(output, maxOutput)
		return q, true
	}
	return q, false
}

// outcome returns what a tool ran, what it printed, and whether it failed. Only tools that run
// commands count.
func (c *call) outcome() (command, output string, failed bool) {
	if c.Tool != "Bash" && c.Tool != "run_shell_command" || c.Stopped {
		return "", "", false
	}
	var in struct {
		Command text `json:"command"`
	}
	_ = json.Unmarshal(c.Input, &in) // absent if it has another form
	var r struct {
		Stdout      text            `json:"stdout"`
		Stderr      text            `json:"stderr"`
		Output      text            `json:"output"`
		LLMContent  text            `json:"llmContent"`
		Error       json.RawMessage `json:"error"`
		Exit        *float64        `json:"exit_code"`
		Interrupted flag            `json:"interrupted"`
		Metadata    struct {
			Exit *float64 `json:"exit_code"`
		} `json:"metadata"`
	}
	if json.Unmarshal(c.Response, &r) != nil {
		output = loose(c.Response)
	} else {
		for _, part := range []string{string(r.Stdout), string(r.Stderr), string(r.Output), string(r.LLMContent), loose(r.Error)} {
			if part != "" {
				output += strings.TrimRight(part, "\n") + "\n"
			}
		}
	}
	output += loose(c.Error)
	switch {
	case bool(r.Interrupted):
		return "", "", false
	case c.Event == "PostToolUseFailure":
		failed = true
	case r.Exit != nil:
		failed = *r.Exit != 0
	case r.Metadata.Exit != nil:
		failed = *r.Metadata.Exit != 0
	case loose(r.Error) != "":
		failed = true
	default:
		failed = exitIn(output) > 0
	}
	return string(in.Command), output, failed
}

// exitIn returns the exit code that a tool reports in its text, or -1.
func exitIn(output string) int {
	for line := range strings.Lines(output) {
		low := strings.ToLower(strings.TrimSpace(line))
		for _, before := range []string{"exit code:", "exit code ", "process exited with code "} {
			if rest, ok := strings.CutPrefix(low, before); ok {
				if n, err := strconv.Atoi(strings.TrimSpace(rest)); err == nil {
					return n
				}
			}
		}
	}
	return -1
}

// loose returns the content of a JSON string, the JSON of any other value, or "".
func loose(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	return string(raw)
}

// head returns the first n bytes of a text, tail the last: whole runes.
func head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
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
