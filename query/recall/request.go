package recall

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
	"github.com/recountdb/recount/schemas/clip"
)

// These are the occasions to be reminded.
const (
	OnPrompt  = "prompt"
	OnFailure = "failure"
)

// These are the limits of requests. They are part of the API.
const (
	PromptTokens  = 600
	FailureTokens = 300
	BriefTokens   = 1200
	// MinTokens and MaxTokens limit what a request may ask for.
	MinTokens = 60
	MaxTokens = 8000
	// MaxText and MaxOutput are how many bytes of a prompt and of an output count: the beginning of
	// the former, the end of the latter.
	MaxText   = 16 << 10
	MaxOutput = 32 << 10
	// maxName limits names, maxWithout the length of Without.
	maxName    = 4096
	maxWithout = 4096
)

// Request asks what bears on a moment of a session.
type Request struct {
	On        string    `json:"on,omitempty" enum:"prompt,failure" default:"prompt" example:"failure" doc:"What happened: the user sent a prompt, or a command failed."`
	Text      string    `json:"text,omitempty" example:"make the retry tests pass" doc:"The prompt. Its first 16 KiB count."`
	Command   string    `json:"command,omitempty" example:"go test ./cart" doc:"The command that failed."`
	Output    string    `json:"output,omitempty" example:"undefined: parseFlags" doc:"What it printed. The last 32 KiB count."`
	ExitCode  *int32    `json:"exit_code,omitempty" example:"1" doc:"Its exit code."`
	Workspace string    `json:"workspace,omitempty" maxLength:"4096" example:"/src/app" doc:"Only records of this workspace; empty means all that you may see."`
	Agent     string    `json:"agent,omitempty" maxLength:"4096" example:"claude-code" doc:"The agent that asks."`
	Session   string    `json:"session,omitempty" maxLength:"4096" example:"run-17" doc:"The session that asks. Its own records are in its context already and are left out, except for a failure that was mended in it before."`
	Without   []string  `json:"without,omitempty" maxItems:"4096" example:"recount.agents/0/1042" doc:"Ids of items that the session was given before: they are left out."`
	Tokens    int       `json:"tokens,omitempty" minimum:"60" maximum:"8000" example:"600" doc:"The maximum number of tokens of the answer's text (o200k). Default: 600 for a prompt, 300 for a failure."`
	Now       time.Time `json:"now,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time from which ages count. Default: as_of's time, or that of the newest record."`
	query.Moment
}

// BriefRequest asks for a brief on a workspace.
type BriefRequest struct {
	Workspace string    `json:"workspace,omitempty" maxLength:"4096" example:"/src/app" doc:"The workspace; empty means all that you may see."`
	Agent     string    `json:"agent,omitempty" maxLength:"4096" example:"claude-code" doc:"The agent to brief: commits since it was last here are listed."`
	Session   string    `json:"session,omitempty" maxLength:"4096" example:"run-17" doc:"The session to brief, whose own records are left out."`
	Without   []string  `json:"without,omitempty" maxItems:"4096" doc:"Ids of items that the session was given before: they are left out."`
	Tokens    int       `json:"tokens,omitempty" minimum:"60" maximum:"8000" default:"1200" example:"1200" doc:"The maximum number of tokens of the answer's text (o200k)."`
	Now       time.Time `json:"now,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time from which ages count. Default: as_of's time, or that of the newest record."`
	Dates     bool      `json:"dates,omitempty" doc:"Give the date of each record instead of its age, so that the same records give the same text at any time."`
	query.Moment
}

func (r Request) check() error {
	_, err := r.normal()
	return err
}

func (r BriefRequest) check() error {
	_, err := r.normal()
	return err
}

// normal fills in the defaults and checks the request. The error is a *query.RequestError.
func (r Request) normal() (Request, error) {
	r.On = cmp.Or(r.On, OnPrompt)
	budget := PromptTokens
	switch r.On {
	case OnPrompt:
	case OnFailure:
		budget = FailureTokens
	default:
		return r, &query.RequestError{Field: "on", Value: r.On, Reason: "want " + OnPrompt + " or " + OnFailure}
	}
	r.Tokens = cmp.Or(r.Tokens, budget)
	r.Text = schemas.Clip(strings.ToValidUTF8(r.Text, "\uFFFD"), MaxText)
	r.Command = schemas.Clip(strings.ToValidUTF8(r.Command, "\uFFFD"), MaxText)
	r.Output = clip.Tail(strings.ToValidUTF8(r.Output, "\uFFFD"), MaxOutput)
	var err error
	r.Moment, err = checked(r.Moment, r.Tokens, r.Without, r.Workspace, r.Agent, r.Session)
	return r, err
}

// normal fills in the defaults and checks the request. The error is a *query.RequestError.
func (r BriefRequest) normal() (BriefRequest, error) {
	r.Tokens = cmp.Or(r.Tokens, BriefTokens)
	var err error
	r.Moment, err = checked(r.Moment, r.Tokens, r.Without, r.Workspace, r.Agent, r.Session)
	return r, err
}

// checked checks what both requests have.
func checked(m query.Moment, tokens int, without []string, workspace, agent, session string) (query.Moment, error) {
	switch {
	case tokens < MinTokens || tokens > MaxTokens:
		return m, &query.RequestError{Field: "tokens", Value: tokens, Reason: fmt.Sprintf("want %d to %d", MinTokens, MaxTokens)}
	case len(without) > maxWithout:
		return m, &query.RequestError{Field: "without", Value: len(without), Reason: fmt.Sprintf("want at most %d", maxWithout)}
	}
	for _, f := range []struct{ field, value string }{{"workspace", workspace}, {"agent", agent}, {"session", session}} {
		if len(f.value) > maxName {
			return m, &query.RequestError{Field: f.field, Value: len(f.value), Reason: fmt.Sprintf("want at most %d bytes", maxName)}
		}
	}
	return m.Normal()
}
