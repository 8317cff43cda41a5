package commands

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
	// MaxEF bounds the candidates of the vector index.
	MaxEF = 4096
)

// FindRequest is a question to find.
type FindRequest struct {
	Text    string            `json:"text,omitempty" maxLength:"4096" example:"which command removed the old images" doc:"What to look for, in words or as part of a command. Empty lists the newest."`
	Limit   int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10" example:"10" doc:"How many hits at most."`
	Filters Filters           `json:"filters,omitzero" doc:"What a hit must satisfy; all of it."`
	EF      int               `json:"ef,omitempty" minimum:"1" maximum:"4096" example:"300" doc:"How many candidates the walk of the vector index keeps: more finds more of what is near in meaning, slower. Never less than three times what the path brings; default 120."`
	Repeats bool              `json:"repeats,omitempty" doc:"List each run of a command as a hit of its own. Otherwise commands that read alike are one hit: of the runs that match best, the newest."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.commands/0:42" doc:"Wait until everything below these offsets is visible: read your writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"How long at_least may wait, in milliseconds."`
	AsOf    query.AsOf        `json:"as_of,omitzero" example:"2026-11-20T12:00:00Z" doc:"Answer from what was known then: an RFC 3339 time (only commands started and outcomes observed up to it, whenever they were appended; an exit code that the command's own event carries comes with it) or a watermark (only events below its offsets; a partition it does not name is left out). Scores still weigh terms by how rare they are now: the proof says below which offsets."`
}

// Filters say what a hit must satisfy. An empty field asks for nothing.
type Filters struct {
	Since     time.Time `json:"since,omitzero" example:"2026-11-01T00:00:00Z" doc:"Started at this time or later."`
	Until     time.Time `json:"until,omitzero" example:"2026-12-01T00:00:00Z" doc:"Started before this time."`
	Cwd       string    `json:"cwd,omitempty" maxLength:"4096" example:"/src/app" doc:"Ran in this directory or below it."`
	Session   string    `json:"session,omitempty" maxLength:"256" example:"tty7-4711" doc:"The session's name."`
	Workspace string    `json:"workspace,omitempty" maxLength:"4096" example:"/src/app" doc:"The workspace's name."`
	Host      string    `json:"host,omitempty" maxLength:"256" example:"laptop" doc:"The host's name."`
	User      string    `json:"user,omitempty" maxLength:"256" example:"ada" doc:"The user's name."`
	Author    string    `json:"author,omitempty" maxLength:"256" example:"claude" doc:"Who typed it: a human's or an agent's name."`
	Shell     string    `json:"shell,omitempty" maxLength:"64" example:"zsh" doc:"The shell's name."`
	Exit      string    `json:"exit,omitempty" maxLength:"11" example:"fail" doc:"How it ended: ok (0), fail (not 0), unknown (not seen yet), or an exit code."`
	Category  string    `json:"category,omitempty" enum:"build,deploy,debug,configure,query,navigate,other" example:"deploy" doc:"The category of the command."`
	Program   string    `json:"program,omitempty" maxLength:"256" example:"docker" doc:"A binary that the command runs, without its path."`
	Template  string    `json:"template,omitempty" maxLength:"4096" doc:"The normalised template, as in a hit."`
	Resource  string    `json:"resource,omitempty" maxLength:"4096" example:"Makefile" doc:"Something that the command reads or writes: its canonical name, or the end of that from behind a slash (Makefile, app/Makefile); with KIND: before it only of that kind: path, url, container, image, host, branch, package, port."`
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
	case !utf8.ValidString(r.Text):
		return r, &query.RequestError{Field: "text", Value: strconv.QuoteToASCII(r.Text), Reason: "not UTF-8"}
	}
	m, err := r.moment().Normal()
	if err != nil {
		return r, err
	}
	r.WaitMS = m.WaitMS
	r.Text = strings.TrimSpace(r.Text)
	return r, r.Filters.check()
}

func (r FindRequest) moment() query.Moment {
	return query.Moment{AtLeast: r.AtLeast, WaitMS: r.WaitMS, AsOf: r.AsOf}
}

// check refuses filters that cannot be understood, or that nothing can pass.
func (f Filters) check() error {
	if !f.Since.IsZero() && !f.Until.IsZero() && !f.Since.Before(f.Until) {
		return &query.RequestError{Field: "filters.since", Value: f.Since.Format(time.RFC3339), Reason: "not before until, so that nothing can match"}
	}
	if _, err := parseExit(f.Exit); err != nil {
		return err
	}
	_, err := parseCategory(f.Category)
	return err
}

// exitFilter is Filters.Exit understood.
type exitFilter struct {
	set, ok, fail, unknown bool
	code                   int32
}

func parseExit(s string) (exitFilter, error) {
	f := exitFilter{set: s != ""}
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

// match says whether an exit code, nil where unknown, satisfies the filter.
func (f exitFilter) match(code *int32) bool {
	switch {
	case !f.set:
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

// parseResource takes KIND: off the front of a resource's name, if it is there.
func parseResource(s string) (kind recountv1.ResourceKind, name string) {
	if k, rest, ok := strings.Cut(s, ":"); ok && rest != "" {
		if n, known := recountv1.ResourceKind_value["RESOURCE_KIND_"+strings.ToUpper(k)]; known && n != 0 && k == strings.ToLower(k) {
			return recountv1.ResourceKind(n), rest
		}
	}
	return 0, s
}

const categoryPrefix = "CATEGORY_"

func parseCategory(s string) (recountv1.Category, error) {
	if s == "" {
		return recountv1.Category_CATEGORY_UNSPECIFIED, nil
	}
	n, ok := recountv1.Category_value[categoryPrefix+strings.ToUpper(s)]
	if !ok || n == 0 {
		return 0, &query.RequestError{Field: "filters.category", Value: strconv.Quote(s), Reason: "want build, deploy, debug, configure, query, navigate or other"}
	}
	return recountv1.Category(n), nil
}

// CategoryName is the name of a category in requests and answers: "build".
func CategoryName(c recountv1.Category) string {
	if c == recountv1.Category_CATEGORY_UNSPECIFIED {
		return ""
	}
	return strings.ToLower(strings.TrimPrefix(c.String(), categoryPrefix))
}
