package context

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// These are the limits of a request. They are part of the API.
const (
	DefaultBudget = 4000
	MinBudget     = 64
	MaxBudget     = 200_000
	// MaxTask is the maximum length of a task in bytes.
	MaxTask = 48 << 10
	// MaxFiles is the maximum number of given files.
	MaxFiles = 256
	// DefaultLimit and MaxLimit limit the number of files in an answer, and MaxLimit that of items.
	DefaultLimit = 20
	MaxLimit     = 1000
)

// These are the values of Request.Tests.
const (
	TestsAlso = ""
	TestsOnly = "only"
	TestsNone = "none"
)

// Request asks what to read for a task, for given files, or for the change between two revisions; at
// least one of them is required, and they may be combined.
type Request struct {
	Task       string            `json:"task,omitempty" maxLength:"49152" example:"session cookie is not deleted when the session is cleared" doc:"What is to be done: a description, the text of an issue, a failure with its stack trace."`
	Files      []string          `json:"files,omitempty" maxItems:"256" example:"src/flask/sessions.py" doc:"Files that are to be changed or were changed, by their paths in the repository."`
	Base       string            `json:"base,omitempty" maxLength:"1024" example:"main" doc:"The revision before a change: what differs between it and head is treated like given files and symbols."`
	Head       string            `json:"head,omitempty" maxLength:"1024" example:"HEAD" doc:"The revision after the change. Default HEAD. Not together with at."`
	Repository string            `json:"repo,omitempty" maxLength:"4096" example:"github.com/acme/shop" doc:"The repository: its name, or the part of it after a slash. Not needed if there is only one."`
	Revision   string            `json:"at,omitempty" maxLength:"1024" example:"main~3" doc:"The revision: a branch, a tag, a commit or a prefix of one, or HEAD, each optionally with ~N or ^N; or worktree. Default HEAD."`
	Budget     int               `json:"budget,omitempty" minimum:"64" maximum:"200000" default:"4000" example:"4000" doc:"Maximum number of tokens of the answer's text, by the vocabulary o200k."`
	Tests      string            `json:"tests,omitempty" enum:"only,none" example:"only" doc:"only: answer with tests. none: answer without tests. Default: both."`
	Limit      int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"20" example:"20" doc:"Maximum number of files. A higher number also takes more of the budget for the list of files."`
	Session    string            `json:"session,omitempty" maxLength:"4096" example:"run-17" doc:"The session that asks."`
	Agent      string            `json:"agent,omitempty" maxLength:"4096" example:"claude" doc:"The agent that asks."`
	Now        time.Time         `json:"now,omitzero" example:"2026-11-21T12:00:00Z" doc:"The time to use as now for announced work, which holds for some time only. Default: the time of the newest agents' event that you may see. The clock is not used."`
	AtLeast    schemas.Watermark `json:"at_least,omitempty" example:"recount.commits/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS     int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// AskedAt returns the time at which the question is asked, if the request says so.
func (r Request) AskedAt() time.Time { return r.Now }

func (r Request) check() error {
	refuse := func(field string, value any, reason string) error {
		return &query.RequestError{Field: field, Value: value, Reason: reason}
	}
	switch {
	case strings.TrimSpace(r.Task) == "" && len(r.Files) == 0 && r.Base == "" && r.Head == "":
		return refuse("task", `""`, "want a task, files, or a change (base and head)")
	case len(r.Task) > MaxTask:
		return refuse("task", fmt.Sprintf("%d bytes", len(r.Task)), fmt.Sprintf("want at most %d: give the description and the part of the output that shows the failure", MaxTask))
	case len(r.Files) > MaxFiles:
		return refuse("files", len(r.Files), fmt.Sprintf("want at most %d", MaxFiles))
	case r.Budget != 0 && (r.Budget < MinBudget || r.Budget > MaxBudget):
		return refuse("budget", r.Budget, fmt.Sprintf("want %d to %d tokens", MinBudget, MaxBudget))
	case r.Head != "" && r.Base == "":
		return refuse("base", `""`, "want the revision before the change, as head names the one after it")
	case r.Revision != "" && r.Base != "":
		return refuse("at", r.Revision, "not allowed with base and head, which name the revisions themselves")
	case r.Tests != TestsAlso && r.Tests != TestsOnly && r.Tests != TestsNone:
		return refuse("tests", r.Tests, "want only or none")
	}
	for _, f := range r.Files {
		if strings.TrimSpace(f) == "" {
			return refuse("files", `""`, "want a path in the repository")
		}
		if err := query.CheckName("files", f); err != nil {
			return err
		}
	}
	return cmp.Or(query.CheckName("repo", r.Repository), query.CheckName("at", r.Revision), query.CheckName("base", r.Base), query.CheckName("head", r.Head),
		query.CheckName("session", r.Session), query.CheckName("agent", r.Agent), query.CheckLimit(r.Limit, MaxLimit), query.CheckWait(r.WaitMS))
}

// normal returns the request with its defaults and in valid UTF-8.
func (r Request) normal() Request {
	r.Task = strings.ToValidUTF8(r.Task, "\uFFFD")
	r.Budget = cmp.Or(r.Budget, DefaultBudget)
	r.Limit = cmp.Or(r.Limit, DefaultLimit)
	if r.Base != "" {
		r.Revision = cmp.Or(r.Head, "HEAD")
	}
	return r
}
