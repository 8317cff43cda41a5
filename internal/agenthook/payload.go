package agenthook

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/hookinput"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/agenttool"
	"github.com/recountdb/recount/schemas/clip"
)

// These are the limits of what is read and kept, in bytes.
const (
	// MaxInput limits the input of one call, which contains the whole text of an edit.
	MaxInput = 16 << 20
	// MaxOutput limits the end of an output that is kept.
	MaxOutput = 8 << 10
	// maxText limits a session's name and similar fields; longer ones are cut.
	maxText = 256
	// maxSaid limits a prompt, an answer, and the arguments of a tool.
	maxSaid = 1 << 20
	// maxIntent limits a stated intent.
	maxIntent = 4 << 10
)

// Call is the content of one call of a hook.
type Call struct {
	Agent   string    `json:"agent"`
	Stage   Stage     `json:"stage"`
	Session string    `json:"session,omitempty"`
	Cwd     string    `json:"cwd,omitempty"`
	At      time.Time `json:"at"` // when the hook was called
	// Commands are the commands that the tool runs: one, or one for each file of a patch.
	Commands []Command `json:"commands"`
	// These are the results, unless Stage is Before. A nil ExitCode means unknown.
	ExitCode *int32        `json:"exit_code,omitempty"`
	Output   string        `json:"output,omitempty"`
	Took     time.Duration `json:"took,omitempty"`
	// Pending means that the command continues in the background, and has no outcome yet.
	Pending bool `json:"pending,omitempty"`

	// Transcript is the file in which the agent records the session; "" if there is none.
	Transcript string `json:"transcript,omitempty"`
	// Text is the prompt, or the last answer. Source says why a session began or ended, if the
	// agent says so.
	Text   string `json:"text,omitempty"`
	Source string `json:"source,omitempty"`
	Model  string `json:"model,omitempty"`
	// Tool, UseID and Input are the tool use.
	Tool  string `json:"tool,omitempty"`
	UseID string `json:"use_id,omitempty"`
	Input string `json:"input,omitempty"`
}

// Command is one command of a call.
type Command struct {
	// ID is the id of the command's event.
	ID     schemas.EventID `json:"id"`
	Text   string          `json:"text"`
	Intent string          `json:"intent,omitempty"`
}

// Parse reads an agent's input to the hook at time now. A call that is not relevant has no stage
// (another event), or no commands (another tool). The error is for a log.
func (a Agent) Parse(b []byte, now time.Time) (Call, error) {
	c := Call{Agent: a.Name, At: now}
	if len(b) > MaxInput {
		return c, fmt.Errorf("%s: more than %d bytes: not recorded", a.Title, MaxInput)
	}
	p, err := hookinput.Parse(b)
	if err != nil {
		return c, fmt.Errorf("%s: cannot parse the hook's input: %w", a.Title, err)
	}
	for _, e := range a.events {
		if e.name == string(p.Event) {
			c.Stage = e.stage
		}
	}
	if c.Stage == 0 {
		return c, nil
	}
	c.Session, c.Cwd = cut(string(p.Session), maxText), cut(string(p.Cwd), 4096)
	c.Transcript, c.Source, c.Model = string(p.Transcript), cut(string(p.Source+p.Reason), maxText), cut(string(p.Model), maxText)
	switch c.Stage {
	case Prompt:
		c.Text = cut(string(p.Prompt), maxSaid)
	case Answer:
		c.Text = cut(string(p.LastAnswer+p.Answer), maxSaid)
	}
	if !c.Stage.tool() {
		return c, nil
	}
	c.Tool, c.UseID, c.Input = cut(string(p.Tool), maxText), cut(string(p.UseID), maxText), cut(string(p.Input), maxSaid)
	in, err := p.ToolInput()
	if err != nil {
		return c, errors.New(a.Title + ": cannot parse the tool's input")
	}
	texts := commands(string(p.Tool), in, p.Input)
	if len(texts) == 0 {
		return c, nil
	}
	if p.UseID == "" && c.Stage == Before {
		return c, nil // nothing would match the outcome to it: the call after the tool reports both
	}
	c.Took = time.Duration(min(max(p.DurationMS, 0), 1e12)) * time.Millisecond
	for i, t := range texts {
		if len(t) > 1<<20 {
			return Call{Agent: a.Name, Stage: c.Stage, At: now, Session: c.Session, Cwd: c.Cwd, Transcript: c.Transcript}, errors.New(a.Title + ": a command of more than 1 MiB: not recorded")
		}
		c.Commands = append(c.Commands, Command{ID: id(a, p, i), Text: t, Intent: cut(string(in.Description), maxIntent)})
	}
	if c.Stage != Before {
		a.outcome(&c, p, in)
	}
	return c, nil
}

// id returns the id of the i-th command of a tool use. If the agent gives the use no id, the time
// and the input are used instead.
func id(a Agent, p hookinput.Message, i int) schemas.EventID {
	if p.UseID != "" {
		return agenttool.CommandID(a.Name, string(p.Session), string(p.UseID), i)
	}
	return schemas.NewCanon("recount/agent-hook/1").String(a.Name).String(string(p.Session)).String("").
		String(string(p.Timestamp)).String(string(p.Tool)).Bytes(p.Input).Int(int64(i)).ID()
}

// commands returns what a tool does, as command lines.
func commands(tool string, in hookinput.ToolInput, arguments []byte) []string {
	if !hookinput.RunsCommands(tool) {
		return agenttool.Edits(tool, arguments)
	}
	if strings.TrimSpace(string(in.Command)) == "" {
		return nil
	}
	return []string{string(in.Command)}
}

// outcome sets the results of the call.
func (a Agent) outcome(c *Call, p hookinput.Message, in hookinput.ToolInput) {
	if c.Stage == Failed {
		out := hookinput.Loose(p.Error)
		c.Output = tail(out)
		code, ok := hookinput.ExitCode(out)
		switch {
		case ok && code != 0:
		case bool(p.Stopped):
			code = 130
		default:
			code = 1
		}
		c.ExitCode = &code
		return
	}
	r := p.Result()
	c.Output = tail(r.Output)
	switch {
	case bool(in.Background) || r.Background:
		c.Pending = true
	case r.Interrupted:
	case r.Exit != nil:
		c.ExitCode = r.Exit
	case r.Failed:
		one := int32(1)
		c.ExitCode = &one
	case a.tellsFailures(), !p.Runs():
		// This hook is called for success, and another one for failure; or the tool changes a file
		// and reports an error instead of an exit code.
		zero := int32(0)
		c.ExitCode = &zero
	}
}

// tellsFailures reports whether the agent has a separate hook for failures.
func (a Agent) tellsFailures() bool {
	for _, e := range a.events {
		if e.stage == Failed {
			return true
		}
	}
	return false
}

// tail returns the end of an output, from the start of a rune, limited to MaxOutput.
func tail(s string) string {
	return clip.Tail(strings.ToValidUTF8(s, "\uFFFD"), MaxOutput)
}

// cut returns the start of a text: whole runes, at most n bytes.
func cut(s string, n int) string {
	return clip.Head(strings.ToValidUTF8(s, "\uFFFD"), n)
}
