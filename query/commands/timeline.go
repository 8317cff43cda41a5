package commands

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// The limits of a timeline. They are part of the API.
const (
	DefaultTimeline = 100_000
	MaxTimeline     = 250_000
)

// TimelineRequest is a request for the commands of a time range, to be drawn.
type TimelineRequest struct {
	Filters Filters `json:"filters,omitzero" doc:"Conditions that every command must satisfy; since and until are the range."`
	Limit   int     `json:"limit,omitempty" minimum:"1" maximum:"250000" default:"100000" example:"100000" doc:"Maximum number of commands: the newest ones."`
	query.Moment
}

// TimelineResponse has commands as columns, one value a command in each, oldest first: a hundred
// thousand are a few megabytes. Values that repeat are numbers of entries in the tables.
type TimelineResponse struct {
	query.Basis
	// Times holds differences, which are small.
	Start     time.Time `json:"start,omitzero" doc:"The start of the first command, in whole milliseconds."`
	Times     []int64   `json:"times_ms" nullable:"false" doc:"The milliseconds from the start of the command before to that of this one; the first is 0."`
	Durations []int64   `json:"durations_ms" nullable:"false" doc:"Durations in milliseconds, -1 if unknown."`
	Outcomes  []int8    `json:"outcomes" nullable:"false" doc:"0 succeeded, 1 failed, -1 unknown."`
	Who       []int     `json:"who" nullable:"false" doc:"The author, or else the user: a number in people."`
	Sessions  []int     `json:"sessions" nullable:"false" doc:"The session: a number in session_names."`
	Category  []int     `json:"category" nullable:"false" doc:"The category: a number in categories."`
	Shards    []int     `json:"shards" nullable:"false" doc:"The partition: a number in partitions."`
	Offsets   []int64   `json:"offsets" nullable:"false" doc:"The offset in that partition: with it, the command's position."`

	People       []string `json:"people" nullable:"false" doc:"Authors and users."`
	SessionNames []string `json:"session_names" nullable:"false" doc:"Sessions."`
	Categories   []string `json:"categories" nullable:"false" doc:"Categories."`
	Partitions   []string `json:"partitions" nullable:"false" doc:"Partitions: TOPIC/PARTITION."`
	Untimed      int      `json:"untimed,omitempty" example:"1200" doc:"The number of commands that are left out because their time is unknown."`
	Truncated    bool     `json:"truncated" doc:"Whether older commands were left out because of limit."`
}

// Normal fills in the defaults and checks the request. The error is a *RequestError.
func (r TimelineRequest) Normal() (TimelineRequest, error) {
	if r.Limit == 0 {
		r.Limit = DefaultTimeline
	}
	if err := query.CheckLimit(r.Limit, MaxTimeline); err != nil {
		return r, err
	}
	var err error
	if r.Moment, err = r.Moment.Normal(); err != nil {
		return r, err
	}
	return r, r.Filters.Check()
}

// table numbers values in the order in which they first occur.
type table struct {
	number map[string]int
	values []string
}

func (t *table) numberOf(value string) int {
	if n, ok := t.number[value]; ok {
		return n
	}
	if t.number == nil {
		t.number = map[string]int{}
	}
	value = strings.Clone(value) // a view's strings end with it
	t.number[value] = len(t.values)
	t.values = append(t.values, value)
	return len(t.values) - 1
}

// list returns the values, never nil.
func (t *table) list() []string { return append([]string{}, t.values...) }

// Timeline returns the newest commands that pass the filters, as columns. An error is a
// *RequestError, a *NotVisibleError, the context's, or one of the projections.
func Timeline(ctx context.Context, s Sources, r TimelineRequest) (TimelineResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return TimelineResponse{}, err
	}
	a, err := s.open(ctx, r.Moment, segment.Name, narrative.Name)
	if err != nil {
		return TimelineResponse{}, err
	}
	defer a.Close()
	resp := TimelineResponse{
		Basis: query.Basis{Status: query.StatusOK, Watermark: a.Visible, AppliedFilters: []query.AppliedFilter{}},
		Times: []int64{}, Durations: []int64{}, Outcomes: []int8{}, Who: []int{}, Sessions: []int{}, Category: []int{}, Shards: []int{}, Offsets: []int64{},
	}
	for _, m := range compile(r.Filters, a.as, a.exitCode) {
		resp.AppliedFilters = append(resp.AppliedFilters, m.AppliedFilter)
	}
	if a.as.Offsets != nil {
		resp.AppliedFilters = append(resp.AppliedFilters, a.asOfFilter()...)
	}
	t := timeline{session: a, r: r, resp: &resp}
	if err := t.read(); err != nil {
		return TimelineResponse{}, err
	}
	t.finish()
	if len(t.resp.Times) == 0 {
		resp.Status, resp.Hint = query.StatusEmpty, "no command of this range passes the filters"
	}
	resp.Hint = s.knownSince(resp.Hint, r.Filters.Since)
	a.Step(query.Step{Operator: "scan", Counts: map[string]int64{"commands": int64(len(resp.Times)), "untimed": int64(resp.Untimed)}})
	if joined := a.joined.Load(); joined > 0 {
		a.Step(query.Step{Operator: "outcome", Counts: map[string]int64{"looked_up": joined}})
	}
	a.RecordTime("scan")
	resp.Proof, resp.Timing = a.Proof, a.Timing()
	return resp, nil
}

// timeline is the state of one query.
type timeline struct {
	*session
	r    TimelineRequest
	resp *TimelineResponse

	people, sessions, categories, shards table
}

// read appends the commands, the newest first. Times are milliseconds since 1970 until finish.
func (t *timeline) read() error {
	exit, err := ask.ParseExit(t.r.Filters.Exit)
	if err != nil {
		return err
	}
	var inner error
	err = t.segment.Scan(t.Ctx, pushed(t.r.Filters, t.as, t.Visible), segment.NewestFirst, func(v *segment.View) bool {
		if len(t.resp.Times) == t.r.Limit {
			t.resp.Truncated = true
			return false
		}
		inner = t.add(v, exit)
		return inner == nil
	})
	if inner != nil {
		return inner
	}
	return err
}

func (t *timeline) add(v *segment.View, exit ask.ExitFilter) error {
	code, known := v.ExitCode()
	took, timed := v.Duration()
	if !known || !timed {
		o, ok, err := t.outcome(v.ID())
		if err != nil {
			return err
		}
		if ok && !known && o.ExitCode != nil {
			code, known = *o.ExitCode, true
		}
		if ok && !timed && o.DurationNano >= 0 {
			took, timed = time.Duration(o.DurationNano), true
		}
	}
	if exit.Set {
		var seen *int32
		if known {
			seen = &code
		}
		if !exit.Match(seen) {
			return nil
		}
	}
	if schemas.TimeUnknown(v.Time()) {
		t.resp.Untimed++
		return nil
	}
	outcome, ms := int8(-1), int64(-1)
	if known {
		outcome = 0
		if code != 0 {
			outcome = 1
		}
	}
	if timed {
		ms = took.Milliseconds()
	}
	who := v.Author()
	if who == "" {
		who = v.User()
	}
	at := v.Position()
	r := t.resp
	r.Times = append(r.Times, v.Time().UnixMilli())
	r.Durations = append(r.Durations, ms)
	r.Outcomes = append(r.Outcomes, outcome)
	r.Who = append(r.Who, t.people.numberOf(who))
	r.Sessions = append(r.Sessions, t.sessions.numberOf(v.Session()))
	r.Category = append(r.Category, t.categories.numberOf(CategoryName(v.Category())))
	r.Shards = append(r.Shards, t.shards.numberOf(at.TP().String()))
	r.Offsets = append(r.Offsets, at.Offset)
	return nil
}

// finish puts the columns in the order of time and the times into differences.
func (t *timeline) finish() {
	r := t.resp
	slices.Reverse(r.Times)
	slices.Reverse(r.Durations)
	slices.Reverse(r.Outcomes)
	for _, column := range [][]int{r.Who, r.Sessions, r.Category, r.Shards} {
		slices.Reverse(column)
	}
	slices.Reverse(r.Offsets)
	if len(r.Times) > 0 {
		r.Start = time.UnixMilli(r.Times[0]).UTC()
	}
	before := r.Start.UnixMilli()
	for i, ms := range r.Times {
		r.Times[i], before = ms-before, ms
	}
	r.People, r.SessionNames, r.Categories, r.Partitions = t.people.list(), t.sessions.list(), t.categories.list(), t.shards.list()
}
