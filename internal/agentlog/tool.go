package agentlog

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/agenttool"
	recountv1 "github.com/recountdb/recount/schemas/recount/v1"
)

// call is a tool call that was issued.
type call struct {
	id      eventID
	at      time.Time
	thought string
	tool    *recountv1.Tool
	done    bool
}

// result is the result of a call.
type result struct {
	text     string
	failed   bool
	exitCode *int32
	duration time.Duration
	known    bool // whether duration is known
}

// issued makes the event of a call. The call is found by key when its result arrives.
func (r *run) issued(key string, e event) eventID {
	e.typ = schemas.TypeToolCall
	id := r.emit(e)
	if id.IsZero() {
		return id
	}
	c := &call{id: id, at: e.at, thought: e.Thought, tool: e.Tool}
	if key != "" {
		r.calls[key] = c
	}
	r.order = append(r.order, c)
	return id
}

// returned makes the event of a result. If its call is unknown, it follows the last event.
func (r *run) returned(key, own string, at time.Time, res result) eventID {
	c := r.calls[key]
	t := &recountv1.Tool{Result: res.text, Failed: res.failed, ExitCode: res.exitCode}
	e := event{typ: schemas.TypeToolResult, own: own, at: at, parent: r.last, AgentEvent: &recountv1.AgentEvent{Tool: t}}
	if c != nil {
		t.Name, t.CallId, e.parent = c.tool.Name, c.tool.CallId, c.id
		if !res.known && !at.IsZero() && !c.at.IsZero() && at.After(c.at) {
			res.duration, res.known = at.Sub(c.at), true
		}
	} else {
		t.CallId = key
	}
	if res.known && res.duration >= 0 {
		t.Duration = durationpb.New(res.duration)
	}
	id := r.emit(e)
	if c != nil && !c.done {
		c.done = true
		r.order = slices.DeleteFunc(r.order, func(x *call) bool { return x == c })
		r.command(c, &res)
	}
	if !id.IsZero() {
		r.last, r.round = id, append(r.round, id)
	}
	return id
}

// command makes a command.executed event of a call that ran a command; res is nil if there is no
// result.
func (r *run) command(c *call, res *result) {
	if !r.f.o.Commands {
		return
	}
	if strings.TrimSpace(c.tool.Command) != "" {
		if len(c.tool.Command) < maxText {
			r.ran(c, res, 0, strings.TrimRight(c.tool.Command, " \t\r\n"))
		}
		return
	}
	for i, edit := range agenttool.Edits(c.tool.Name, []byte(c.tool.Arguments)) {
		var done *result
		if res != nil {
			// A tool that changes files reports an error instead of an exit code.
			code := int32(0)
			if res.failed {
				code = 1
			}
			done = &result{text: res.text, exitCode: &code, duration: res.duration, known: res.known}
			if r.f.format.silent {
				done.exitCode = nil
			}
		}
		r.ran(c, done, i, clean(edit))
	}
}

// ran makes the event of the i-th command of a call.
func (r *run) ran(c *call, res *result, i int, command string) {
	cwd := c.tool.Cwd
	if cwd == "" {
		cwd = r.cwd
	}
	m := &recountv1.CommandExecuted{
		Command: command, Workspace: r.workspace, Cwd: cwd, Session: r.session,
		ParentEventId: c.id.String(), Author: r.agent, StatedIntent: clean(c.thought),
	}
	if m.StatedIntent == "" && c.tool.Command != "" {
		m.StatedIntent = clean(object([]byte(c.tool.Arguments)).text("description"))
	}
	if !c.at.IsZero() {
		m.StartedAt = timestamppb.New(c.at)
	}
	if res != nil {
		m.ExitCode, m.OutputTail = res.exitCode, clean(res.text)
		if res.known && res.duration >= 0 {
			m.Duration = durationpb.New(res.duration)
		}
	}
	if r.f.o.Redact != nil {
		// The complete texts are redacted, because half of a secret is not recognised.
		r.f.o.Redact(m)
	}
	m.StatedIntent, m.OutputTail = headOf(m.StatedIntent, 65536), tailOf(m.OutputTail, 65536)
	canon := schemas.NewCanon("recount/import/agent/command/1").Bytes(c.id.EventID[:])
	if i > 0 {
		canon = canon.Int(int64(i))
	}
	id := canon.ID()
	if r.hook != "" && c.tool.CallId != "" && r.f.o.Tenant == "" && r.f.o.Session == "" {
		id = agenttool.CommandID(r.hook, r.session, c.tool.CallId, i)
	}
	key := schemas.KeyOf(m)
	if key == nil {
		key = []byte(r.session)
	}
	r.send(id, schemas.TypeCommandExecuted, c.at, m, key)
}

// end makes the events of commands without a result.
func (r *run) end() {
	for _, c := range r.order {
		r.command(c, nil)
	}
	r.order = nil
}

// shells are tools that run a shell command, by their names in lower case.
var shells = []string{
	"bash", "shell", "sh", "zsh", "terminal", "execute_bash", "run_command", "run_in_terminal", "run_terminal_cmd",
	"execute_command", "run_shell_command", "local_shell", "exec_command", "exec", "cmd_run", "powershell",
}

// toolOf returns the fields of a call, from the tool's name and its arguments in JSON.
func toolOf(name, callID, arguments, cwd string) *recountv1.Tool {
	t := &recountv1.Tool{Name: name, CallId: callID, Arguments: arguments}
	args := object([]byte(arguments))
	if slices.Contains(shells, strings.ToLower(name)) {
		for _, field := range []string{"command", "cmd", "script"} {
			if t.Command = shellCommand(args[field]); t.Command != "" {
				t.Cwd = cwd
				break
			}
		}
		for _, field := range []string{"cwd", "workdir", "working_directory"} {
			if dir := args.text(field); dir != "" && t.Command != "" {
				t.Cwd = dir
			}
		}
	}
	for _, field := range []string{"path", "file_path", "filePath", "filename", "file", "notebook_path", "target_file"} {
		if raw := args[field]; len(raw) > 0 && raw[0] == '"' {
			t.Files = append(t.Files, args.text(field))
		}
	}
	return t
}

// shellCommand returns a command that is given as a string or as a list of words.
func shellCommand(raw json.RawMessage) string {
	if len(raw) == 0 {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var words []string
	if json.Unmarshal(raw, &words) != nil || len(words) == 0 {
		return ""
	}
	if len(words) == 3 && strings.HasSuffix(words[0], "sh") && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
		return words[2] // bash -lc "…"
	}
	for i, w := range words {
		words[i] = quoted(w)
	}
	return strings.Join(words, " ")
}

// quoted quotes a word for a shell, if necessary.
func quoted(w string) string {
	plain := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("_-./:=@%+,", c)
	}
	if w != "" && strings.IndexFunc(w, func(c rune) bool { return !plain(c) }) < 0 {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}

// ordinal returns the name of the n-th event of a kind.
func ordinal(kind string, n int) string { return fmt.Sprintf("%s/%d", kind, n) }
