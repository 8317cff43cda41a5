package ask

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	recountv1 "github.com/recountdb/recount/schemas/recount/v1"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// Limits of a request. They are part of the API.
const (
	DefaultLimit = 10
	MaxLimit     = 1000
	// MaxEF is the maximum number of candidates in the vector search.
	MaxEF = 4096
)

// FindRequest is a request to find commands.
type FindRequest struct {
	Text     string            `json:"text,omitempty" maxLength:"4096" example:"which command removed the old images" doc:"The search text: words, or part of a command. Empty lists the newest commands."`
	Limit    int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10" example:"10" doc:"Maximum number of hits."`
	Filters  Filters           `json:"filters,omitzero" doc:"Conditions that every hit must satisfy."`
	EF       int               `json:"ef,omitempty" minimum:"1" maximum:"4096" example:"300" doc:"The number of candidates that the vector search keeps: more finds more similar commands and takes longer. At least three times the path's results; default 120."`
	Repeats  bool              `json:"repeats,omitempty" doc:"List each run of a command as a separate hit. By default commands with the same text are one hit: the newest of the best matching runs."`
	Replayed bool              `json:"replayed,omitempty" doc:"Only commands that a replay ran again."`
	Wrote    string            `json:"wrote,omitempty" maxLength:"4096" example:"/src/app/go.sum" doc:"Only commands that wrote, moved or removed this file: a recorder saw it change, or their text says so and no recorder saw it left as it was. An absolute path, or the part of one after a slash."`
	AtLeast  schemas.Watermark `json:"at_least,omitempty" example:"recount.commands/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS   int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
	AsOf     query.AsOf        `json:"as_of,omitzero" example:"2026-11-20T12:00:00Z" doc:"Answer from what was known at a time or watermark: an RFC 3339 time (only commands started and outcomes observed until then, whenever they were appended; an exit code in the command's own event counts as known with it) or a watermark (only events below its offsets; partitions that it does not name are left out). Scores still use current term frequencies: the proof names their offsets."`
}

// Filters are conditions that every hit must satisfy. An empty field is no condition.
type Filters struct {
	Since     time.Time `json:"since,omitzero" example:"2026-11-01T00:00:00Z" doc:"Started at this time or later."`
	Until     time.Time `json:"until,omitzero" example:"2026-12-01T00:00:00Z" doc:"Started before this time."`
	Cwd       string    `json:"cwd,omitempty" maxLength:"4096" example:"/src/app" doc:"Ran in this directory or below it."`
	Session   string    `json:"session,omitempty" maxLength:"256" example:"tty7-4711" doc:"The session's name."`
	Workspace string    `json:"workspace,omitempty" maxLength:"4096" example:"/src/app" doc:"The workspace's name."`
	Host      string    `json:"host,omitempty" maxLength:"256" example:"laptop" doc:"The host's name."`
	User      string    `json:"user,omitempty" maxLength:"256" example:"ada" doc:"The user's name."`
	Author    string    `json:"author,omitempty" maxLength:"256" example:"claude" doc:"The author's name, a person or an agent."`
	Shell     string    `json:"shell,omitempty" maxLength:"64" example:"zsh" doc:"The shell's name."`
	Exit      string    `json:"exit,omitempty" maxLength:"11" example:"fail" doc:"The outcome: ok (0), fail (not 0), unknown (not seen yet), or an exit code."`
	Category  string    `json:"category,omitempty" enum:"build,deploy,debug,configure,query,navigate,other" example:"deploy" doc:"The category of the command."`
	Program   string    `json:"program,omitempty" maxLength:"256" example:"docker" doc:"A program that the command runs, without its path."`
	Template  string    `json:"template,omitempty" maxLength:"4096" doc:"The normalised template, as printed in a hit."`
	Resource  string    `json:"resource,omitempty" maxLength:"4096" example:"Makefile" doc:"A resource that the command reads or writes: its canonical name, or the part of it after a slash (Makefile, app/Makefile). Prefix KIND: restricts it to path, url, container, image, host, branch, package or port."`
}

// Normal fills in the defaults and checks the request. The error is a
// *RequestError.
func (r FindRequest) Normal() (FindRequest, error) {
	if r.Limit == 0 {
		r.Limit = DefaultLimit
	}
	switch {
	case r.Limit < 0 || r.Limit > MaxLimit:
		return r, &query.RequestError{Field: "limit", Value: r.Limit, Reason: fmt.Sprintf("want 1 to %d", MaxLimit)}
	case r.EF < 0 || r.EF > MaxEF:
		return r, &query.RequestError{Field: "ef", Value: r.EF, Reason: fmt.Sprintf("want 1 to %d", MaxEF)}
	case len(r.Text) > query.MaxText:
		return r, &query.RequestError{Field: "text", Value: fmt.Sprintf("%d bytes", len(r.Text)), Reason: fmt.Sprintf("want at most %d", query.MaxText)}
	case len(r.Wrote) > query.MaxName:
		return r, &query.RequestError{Field: "wrote", Value: fmt.Sprintf("%d bytes", len(r.Wrote)), Reason: fmt.Sprintf("want at most %d", query.MaxName)}
	case !utf8.ValidString(r.Text):
		return r, &query.RequestError{Field: "text", Value: strconv.QuoteToASCII(r.Text), Reason: "not UTF-8"}
	}
	m, err := r.Moment().Normal()
	if err != nil {
		return r, err
	}
	r.WaitMS = m.WaitMS
	r.Text = strings.TrimSpace(r.Text)
	return r, r.Filters.Check()
}

// Moment returns the state that the request is asked of.
func (r FindRequest) Moment() query.Moment {
	return query.Moment{AtLeast: r.AtLeast, WaitMS: r.WaitMS, AsOf: r.AsOf}
}

// Check returns an error for filters that cannot be parsed, or that nothing can pass.
func (f Filters) Check() error {
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return &query.RequestError{Field: "filters.since", Value: f.Since.Format(time.RFC3339), Reason: "not before until, so nothing can match"}
	}
	if _, err := ParseExit(f.Exit); err != nil {
		return err
	}
	_, err := ParseCategory(f.Category)
	return err
}

// ExitFilter is Filters.Exit, parsed.
type ExitFilter struct {
	// Set reports that there is a filter.
	Set               bool
	ok, fail, unknown bool
	code              int32
}

// ParseExit parses Filters.Exit. The error is a *query.RequestError.
func ParseExit(s string) (ExitFilter, error) {
	f := ExitFilter{Set: s != ""}
	switch s {
	case "":
	case "ok":
		f.ok = true
	case "fail":
		f.fail = true
	case "unknown":
		f.unknown = true
	default:
		n, err := strconv.ParseInt(s, 10, 32)
		if err != nil {
			return f, &query.RequestError{Field: "filters.exit", Value: strconv.Quote(s), Reason: "want ok, fail, unknown or an exit code"}
		}
		f.code = int32(n)
	}
	return f, nil
}

// Match reports whether an exit code, nil if unknown, satisfies the filter.
func (f ExitFilter) Match(code *int32) bool {
	switch {
	case !f.Set:
		return true
	case f.unknown:
		return code == nil
	case code == nil:
		return false
	case f.ok:
		return *code == 0
	case f.fail:
		return *code != 0
	}
	return *code == f.code
}

// ParseResource splits an optional prefix KIND: from a resource's name.
func ParseResource(s string) (kind recountv1.ResourceKind, name string) {
	if k, rest, ok := strings.Cut(s, ":"); ok && rest != "" {
		if n, known := recountv1.ResourceKind_value["RESOURCE_KIND_"+strings.ToUpper(k)]; known && n != 0 && k == strings.ToLower(k) {
			return recountv1.ResourceKind(n), rest
		}
	}
	return 0, s
}

const categoryPrefix = "CATEGORY_"

// ParseCategory parses Filters.Category. The error is a *query.RequestError.
func ParseCategory(s string) (recountv1.Category, error) {
	if s == "" {
		return recountv1.Category_CATEGORY_UNSPECIFIED, nil
	}
	n, ok := recountv1.Category_value[categoryPrefix+strings.ToUpper(s)]
	if !ok || n == 0 {
		return 0, &query.RequestError{Field: "filters.category", Value: strconv.Quote(s), Reason: "want build, deploy, debug, configure, query, navigate or other"}
	}
	return recountv1.Category(n), nil
}

// CategoryName returns the name of a category in requests and answers: "build".
func CategoryName(c recountv1.Category) string {
	if c == recountv1.Category_CATEGORY_UNSPECIFIED {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(c.String(), categoryPrefix))
}
