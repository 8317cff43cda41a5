package sessions

import (
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/query"
)

// Limits of a request. They are part of the API.
const (
	DefaultLimit = 50
	MaxLimit     = 1000
)

// Request asks for sessions. GET /v1/sessions has its fields as query parameters.
type Request struct {
	Since     time.Time `json:"since,omitzero" query:"since" example:"2026-11-01T00:00:00Z" doc:"Only sessions in which something happened at this time or later; counts and times cover only that part."`
	Until     time.Time `json:"until,omitzero" query:"until" example:"2026-12-01T00:00:00Z" doc:"Only sessions in which something happened before this time; counts and times cover only that part."`
	Author    string    `json:"author,omitempty" query:"author" maxLength:"4096" example:"claude" doc:"Only sessions of this person or agent."`
	Workspace string    `json:"workspace,omitempty" query:"workspace" maxLength:"4096" example:"/src/app" doc:"Only what happened in this workspace."`
	Kind      string    `json:"kind,omitempty" query:"kind" enum:"commands,agents" example:"agents" doc:"commands: only sessions with commands. agents: only those in which an agent said or did something. Default: both."`
	Limit     int       `json:"limit,omitempty" query:"limit" minimum:"1" maximum:"1000" default:"50" example:"50" doc:"Maximum number of sessions in a page."`
	After     string    `json:"after,omitempty" query:"after" maxLength:"8192" example:"1795176000000000000/s-17/ada//" doc:"Only the sessions after this place: the value of next in the previous page."`
}

// The kinds of a request.
const (
	KindCommands = "commands"
	KindAgents   = "agents"
)

// Response is the answer.
type Response struct {
	query.Basis
	Sessions  []Session `json:"sessions" nullable:"false" doc:"The sessions, the one with the newest event first."`
	Total     int       `json:"total" example:"120" doc:"The number of sessions on all pages."`
	Truncated int       `json:"truncated,omitempty" example:"70" doc:"The number of sessions after this page."`
	Next      string    `json:"next,omitempty" doc:"The value of after for the next page, with the same filters; absent on the last page. Sessions that go on meanwhile move to the front."`
}

// Session is one session.
type Session struct {
	Session   string    `json:"session" example:"tty7-4711" doc:"Its name."`
	Author    string    `json:"author,omitempty" example:"ada" doc:"The person or agent whose session it is."`
	Agent     bool      `json:"agent,omitempty" doc:"Whether that is an agent."`
	Host      string    `json:"host,omitempty" example:"laptop" doc:"The host of a person's session."`
	Tenant    string    `json:"tenant,omitempty" doc:"The tenant of an agent's session; empty for the default tenant."`
	Workspace string    `json:"workspace,omitempty" example:"/src/app" doc:"The workspace of its newest event."`
	First     time.Time `json:"first" doc:"When its first event happened; of commands without a time, before all known times."`
	Last      time.Time `json:"last" doc:"When its newest event happened."`
	Commands  int       `json:"commands,omitempty" example:"42" doc:"The number of commands."`
	Objects   int       `json:"objects,omitempty" example:"17" doc:"The number of things that its agent said and did."`
	About     string    `json:"about,omitempty" example:"fix the checkout" doc:"What it is about: the beginning of the first message of a person, or of the first task; without these the newest command."`
}

// Normal fills in the defaults and checks the request. The error is a *query.RequestError.
func (r Request) Normal() (Request, error) {
	switch {
	case !r.Since.IsZero() && !r.Until.IsZero() && !r.Since.Before(r.Until):
		return r, &query.RequestError{Field: "since", Value: r.Since.Format(time.RFC3339), Reason: "not before until, so nothing can match"}
	case r.Kind != "" && r.Kind != KindCommands && r.Kind != KindAgents:
		return r, &query.RequestError{Field: "kind", Value: strconv.Quote(r.Kind), Reason: "want commands or agents"}
	}
	if err := cmp.Or(query.CheckLimit(r.Limit, MaxLimit), query.CheckName("author", r.Author), query.CheckName("workspace", r.Workspace)); err != nil {
		return r, err
	}
	r.Limit = cmp.Or(r.Limit, DefaultLimit)
	_, err := parsePlace(r.After)
	return r, err
}

// keyOf returns the key of a session, which a shell needs no quotes for.
func keyOf(name, author, host, tenant string) string {
	return strings.Join([]string{url.PathEscape(name), url.PathEscape(author), url.PathEscape(host), url.PathEscape(tenant)}, "/")
}

// place is where a page ends: a session by its newest event and its key.
type place struct {
	last int64
	key  string
}

func (p place) String() string { return strconv.FormatInt(p.last, 10) + "/" + p.key }

// parsePlace parses what String returns; nil is the beginning.
func parsePlace(s string) (*place, error) {
	if s == "" {
		return nil, nil
	}
	digits, key, ok := strings.Cut(s, "/")
	last, err := strconv.ParseInt(digits, 10, 64)
	if !ok || err != nil {
		return nil, &query.RequestError{Field: "after", Value: fmt.Sprintf("%.100q", s), Reason: "want the value of next in the previous answer"}
	}
	return &place{last, key}, nil
}

// compare orders places: the newest first.
func (p place) compare(o place) int {
	return cmp.Or(cmp.Compare(o.last, p.last), strings.Compare(p.key, o.key))
}
