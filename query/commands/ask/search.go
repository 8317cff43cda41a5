package ask

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// The modes of a search.
const (
	// ModeBest ranks by how the command matches and by what find finds together.
	ModeBest = "best"
	// ModeExact wants the whole text as it is, apart from case.
	ModeExact = "exact"
	// ModeFuzzy wants each word, or its letters in their order.
	ModeFuzzy = "fuzzy"
	// ModeMeaning is find.
	ModeMeaning = "meaning"
)

// Modes lists the modes, the default first.
var Modes = []string{ModeBest, ModeFuzzy, ModeExact, ModeMeaning}

// DefaultSearchLimit is the default number of hits of a search.
const DefaultSearchLimit = 50

// SearchRequest is a request to find commands while the text is typed.
type SearchRequest struct {
	Text    string            `json:"text,omitempty" maxLength:"4096" example:"docker pru" doc:"What was typed so far: words of the command or beginnings, parts and letters of words, in any order. A word with an upper-case letter is case-sensitive. Empty lists the newest commands."`
	Mode    string            `json:"mode,omitempty" enum:"best,fuzzy,exact,meaning" default:"best" example:"best" doc:"fuzzy: every word occurs, or its letters in order; exact: the whole text occurs as it is; meaning: as find; best: fuzzy and meaning in one list."`
	Limit   int               `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"50" example:"50" doc:"Maximum number of hits."`
	Filters Filters           `json:"filters,omitzero" doc:"Conditions that a run must satisfy to count."`
	People  bool              `json:"people,omitempty" doc:"Only commands without an author: what people type, since agents' hooks name their agent."`
	AtLeast schemas.Watermark `json:"at_least,omitempty" example:"recount.commands/0:42" doc:"Wait until everything below these offsets is visible, to read your own writes. TOPIC/PARTITION:NEXT, comma-separated, as in a response's watermark."`
	WaitMS  int               `json:"wait_ms,omitempty" minimum:"1" maximum:"60000" default:"5000" example:"5000" doc:"The maximum time to wait for at_least, in milliseconds."`
}

// Normal fills in the defaults and checks the request. The error is a *query.RequestError.
func (r SearchRequest) Normal() (SearchRequest, error) {
	r.Mode = cmp.Or(r.Mode, ModeBest)
	r.Limit = cmp.Or(r.Limit, DefaultSearchLimit)
	switch {
	case !slices.Contains(Modes, r.Mode):
		return r, &query.RequestError{Field: "mode", Value: strconv.Quote(r.Mode), Reason: "want " + strings.Join(Modes, ", ")}
	case r.Limit < 0 || r.Limit > MaxLimit:
		return r, &query.RequestError{Field: "limit", Value: r.Limit, Reason: fmt.Sprintf("want 1 to %d", MaxLimit)}
	case len(r.Text) > query.MaxText:
		return r, &query.RequestError{Field: "text", Value: fmt.Sprintf("%d bytes", len(r.Text)), Reason: fmt.Sprintf("want at most %d", query.MaxText)}
	case !utf8.ValidString(r.Text):
		return r, &query.RequestError{Field: "text", Value: strconv.QuoteToASCII(r.Text), Reason: "not UTF-8"}
	}
	m, err := r.Moment().Normal()
	if err != nil {
		return r, err
	}
	r.WaitMS = m.WaitMS
	return r, r.Filters.Check()
}

// Moment returns the state that the request is asked of.
func (r SearchRequest) Moment() query.Moment {
	return query.Moment{AtLeast: r.AtLeast, WaitMS: r.WaitMS}
}

// SearchResponse is the answer of a search.
type SearchResponse struct {
	query.Basis
	Hits []SearchHit `json:"hits" nullable:"false" doc:"The commands, best first; without a text the newest first. Commands with the same text are one hit."`
	// Matched, Commands and Runs are before the limit.
	Matched  int64    `json:"matched" example:"12" doc:"The number of commands that match the text; 0 in mode meaning."`
	Commands int64    `json:"commands" example:"5743" doc:"The number of distinct commands that pass the filters."`
	Runs     int64    `json:"runs" example:"100000" doc:"The number of their runs."`
	Authors  []string `json:"authors" nullable:"false" example:"[\"ada\",\"claude\"]" doc:"Who ran commands, persons and agents, whatever the filters; at most 20, the one with the most runs first."`
}

// SearchHit is one command: its newest run that passes the filters.
type SearchHit struct {
	Intent
	Runs  int     `json:"runs" example:"3" doc:"How often it ran, counting the runs that pass the filters."`
	Score float64 `json:"score" example:"0.93" doc:"What it is ranked by, comparable within one answer only; 0 if hits are ordered by time."`
}

// AroundRequest asks for the circumstances of a command.
type AroundRequest struct {
	Ref   string `json:"id" maxLength:"300" example:"018f3c2a" doc:"The command: its id, a prefix of the id, or TOPIC/PARTITION/OFFSET."`
	Limit int    `json:"limit,omitempty" minimum:"1" maximum:"100" default:"3" example:"3" doc:"Maximum number of commands before it, of commands after it, and of causes."`
}

// The limits of a request for circumstances.
const (
	DefaultAround = 3
	MaxAround     = 100
)

// Normal fills in the defaults and checks the request. The error is a *query.RequestError.
func (r AroundRequest) Normal() (AroundRequest, error) {
	r.Limit = cmp.Or(r.Limit, DefaultAround)
	if r.Limit < 0 || r.Limit > MaxAround {
		return r, &query.RequestError{Field: "limit", Value: r.Limit, Reason: fmt.Sprintf("want 1 to %d", MaxAround)}
	}
	if strings.TrimSpace(r.Ref) == "" {
		return r, &query.RequestError{Field: "id", Value: strconv.Quote(r.Ref), Reason: "want an id, a prefix of one, or TOPIC/PARTITION/OFFSET"}
	}
	return r, nil
}

// AroundResponse has the circumstances of a command.
type AroundResponse struct {
	query.Basis
	Root Intent `json:"root" doc:"The command."`
	// Before and After are of its session.
	Before       []Intent `json:"before" nullable:"false" doc:"What ran before it in its session, oldest first."`
	After        []Intent `json:"after" nullable:"false" doc:"What ran after it in its session, oldest first."`
	OutputTail   string   `json:"output_tail,omitempty" doc:"The end of its output, with secrets redacted."`
	StatedIntent string   `json:"stated_intent,omitempty" doc:"The stated purpose, in the author's own words."`
	GitHead      string   `json:"git_head,omitempty" doc:"The commit that HEAD pointed to."`
	Causes       []Reason `json:"causes" nullable:"false" doc:"If it failed: what led to that, the best supported first."`
	Fixes        []Reason `json:"fixes" nullable:"false" doc:"If it failed: what made the same command succeed later."`
	Record       Record   `json:"record" doc:"How often commands with this text work."`
}

// Reason is a command and how it relates to another one.
type Reason struct {
	Intent
	Why string `json:"why" example:"it wrote /src/app/Makefile, which this reads" doc:"How it relates, as a sentence."`
}

// Record counts the runs of a command.
type Record struct {
	Runs   int `json:"runs" example:"12" doc:"How often it ran."`
	Looked int `json:"looked" example:"12" doc:"How many of these runs, the newest, were looked at for the following."`
	OK     int `json:"ok" example:"9" doc:"How many ended with 0."`
	Failed int `json:"failed" example:"3" doc:"How many ended with anything else."`
}
