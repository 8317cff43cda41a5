package hookinput

import (
	"encoding/json"
	"strconv"
	"strings"
)

// Result is the content of a tool's response in any format.
type Result struct {
	Output string
	// Exit is the exit code, nil if the response does not tell it.
	Exit *int32
	// Interrupted means that the user stopped the tool, Background that it still runs, and Failed that
	// it reports an error instead of an exit code.
	Interrupted, Background, Failed bool
}

// Result reads the response of the tool.
func (m *Message) Result() Result {
	var r Result
	var o struct {
		Stdout      Text            `json:"stdout"`
		Stderr      Text            `json:"stderr"`
		Output      Text            `json:"output"`
		LLMContent  json.RawMessage `json:"llmContent"`
		Error       json.RawMessage `json:"error"`
		Exit        Number          `json:"exit_code"`
		Metadata    json.RawMessage `json:"metadata"`
		Interrupted Flag            `json:"interrupted"`
		Task        Text            `json:"backgroundTaskId"`
	}
	o.Exit = -1
	if json.Unmarshal(m.Response, &o) != nil {
		r.Output = Loose(m.Response)
		if code, ok := ExitCode(r.Output); ok {
			r.Exit = &code
		}
		return r
	}
	r.Interrupted, r.Background = bool(o.Interrupted), o.Task != ""
	r.Output = joined(string(o.Stdout), string(o.Stderr), string(o.Output), Loose(o.LLMContent), Loose(o.Error))
	var meta struct {
		Exit Number `json:"exit_code"`
	}
	meta.Exit = -1
	_ = json.Unmarshal(o.Metadata, &meta) // absent in most responses
	for _, n := range []Number{o.Exit, meta.Exit} {
		if n >= 0 && n <= 1<<30 && r.Exit == nil {
			code := int32(n)
			r.Exit = &code
		}
	}
	// Only if a tool reports in text: a program may print such a line itself.
	if r.Exit == nil && o.Stdout == "" && o.Stderr == "" {
		if code, ok := ExitCode(r.Output); ok {
			r.Exit = &code
		}
	}
	r.Failed = Loose(o.Error) != ""
	return r
}

// ExitCode finds the line in which the agents' tools report an exit code, such as "Exit code: 2" or
// "Process exited with code 101". The first one counts.
func ExitCode(s string) (int32, bool) {
	for line := range strings.Lines(s) {
		var rest string
		for _, before := range []string{"exit code", "process exited with code"} {
			if len(line) >= len(before) && strings.EqualFold(line[:len(before)], before) {
				rest = line[len(before):]
			}
		}
		if rest == "" {
			continue
		}
		rest = strings.TrimPrefix(rest, ":")
		number := strings.TrimLeft(rest, " \t")
		n := len(number) - len(strings.TrimLeft(number, "0123456789"))
		if n == 0 || n > 10 || len(number) == len(rest) || n < len(number) && isWord(number[n]) {
			continue
		}
		code, err := strconv.ParseInt(number[:n], 10, 32)
		return int32(code), err == nil
	}
	return 0, false
}

// isWord reports whether a byte continues a word.
func isWord(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}
