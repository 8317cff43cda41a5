package ask

import (
	"cmp"
	"regexp"
	"strconv"
	"time"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/schemas"
)

// StatisticsRequest is a request for statistics.
type StatisticsRequest struct {
	Filters Filters `json:"filters,omitzero" doc:"The commands to count."`
	Limit   int     `json:"limit,omitempty" minimum:"1" maximum:"1000" default:"10" example:"10" doc:"Maximum number of entries in each list of names."`
	// TimeZone decides where a day begins and which hour it is.
	TimeZone string `json:"time_zone,omitempty" maxLength:"64" default:"UTC" example:"Europe/Berlin" doc:"The time zone of days and hours: a name of the IANA database, or an offset from UTC such as +05:30."`
	query.Moment
}

// Normal fills in the defaults and checks the request. The error is a *query.RequestError.
func (r StatisticsRequest) Normal() (StatisticsRequest, error) {
	r.Limit = cmp.Or(r.Limit, DefaultLimit)
	if err := query.CheckLimit(r.Limit, MaxLimit); err != nil {
		return r, err
	}
	r.TimeZone = cmp.Or(r.TimeZone, "UTC")
	if _, err := ParseTimeZone(r.TimeZone); err != nil {
		return r, err
	}
	var err error
	if r.Moment, err = r.Moment.Normal(); err != nil {
		return r, err
	}
	return r, r.Filters.Check()
}

var offset = regexp.MustCompile(`^([+-])([01][0-9]|2[0-3]):([0-5][0-9])$`)

// ParseTimeZone parses StatisticsRequest.TimeZone. The error is a *query.RequestError.
func ParseTimeZone(s string) (*time.Location, error) {
	if m := offset.FindStringSubmatch(s); m != nil {
		h, _ := strconv.Atoi(m[2])
		min, _ := strconv.Atoi(m[3])
		seconds := h*3600 + min*60
		if m[1] == "-" {
			seconds = -seconds
		}
		return time.FixedZone(s, seconds), nil
	}
	if s != "Local" { // LoadLocation takes it for the zone of this process
		if loc, err := time.LoadLocation(s); err == nil {
			return loc, nil
		}
	}
	return nil, &query.RequestError{Field: "time_zone", Value: strconv.Quote(s), Reason: "want a name of the IANA database that this machine knows (Europe/Berlin, UTC), or an offset (+05:30)"}
}

// Tally counts runs of commands.
type Tally struct {
	Runs      int64 `json:"runs" example:"120" doc:"The number of runs."`
	Succeeded int64 `json:"succeeded" example:"100" doc:"Those that ended with exit code 0, or with 1 if their last program answers no by it (grep, diff, test)."`
	Failed    int64 `json:"failed" example:"14" doc:"Those that ended with another exit code but 130 and 141: ctrl-C, or a reader that went away. The outcome of the rest is unknown."`
	Duration  int64 `json:"duration_ns" example:"1500000000" doc:"How long they took together, in nanoseconds, as far as it is known."`
}

// FailureRate returns the failed runs as a fraction of those whose outcome is known; ok is false if
// none is.
func (t Tally) FailureRate() (rate float64, ok bool) {
	known := t.Succeeded + t.Failed
	if known == 0 {
		return 0, false
	}
	return float64(t.Failed) / float64(known), true
}

// Add adds another tally.
func (t *Tally) Add(o Tally) {
	t.Runs, t.Succeeded, t.Failed, t.Duration = t.Runs+o.Runs, t.Succeeded+o.Succeeded, t.Failed+o.Failed, t.Duration+o.Duration
}

// StatisticsResponse has statistics.
type StatisticsResponse struct {
	query.Basis
	Total    Tally     `json:"total" doc:"All commands that pass the filters."`
	Sessions int64     `json:"sessions" example:"31" doc:"The number of sessions with such a command. Commands recorded without a session belong to none."`
	Untimed  int64     `json:"untimed" example:"0" doc:"Commands whose start is unknown. They are in no day and no hour."`
	First    time.Time `json:"first,omitzero" doc:"When the first of them started."`
	Last     time.Time `json:"last,omitzero" doc:"When the last of them started."`
	TimeZone string    `json:"time_zone" example:"Europe/Berlin" doc:"The time zone of days and hours."`

	Days     []DayTally `json:"days" nullable:"false" doc:"The days on which commands started, in order."`
	Hours    []Tally    `json:"hours" nullable:"false" doc:"By the hour of the day: 24 entries, from midnight."`
	Weekdays []Tally    `json:"weekdays" nullable:"false" doc:"By the day of the week: 7 entries, from Monday."`

	Programs    Ranking `json:"programs" doc:"By program. A command that runs several counts, with all of its time, for each of them; if it failed, as failed for the one that most likely did, the last but echo, cd and the like."`
	Templates   Ranking `json:"templates" doc:"By template: the command with its values replaced."`
	Directories Ranking `json:"directories" doc:"By the directory that they started in."`
	People      Ranking `json:"people" doc:"By the account, of commands without an author or whose author is the account."`
	Agents      Ranking `json:"agents" doc:"By the author, of commands whose author is another than the account: agents, as a rule."`
}

// DayTally is the tally of one day.
type DayTally struct {
	Day string `json:"day" example:"2026-11-25" doc:"The date."`
	Tally
}

// Ranking lists names by the number of runs.
type Ranking struct {
	Total    Tally        `json:"total" doc:"The runs that are ranked, each counted once, and those without such a name."`
	Distinct int64        `json:"distinct" example:"57" doc:"The number of different names."`
	Entries  []NamedTally `json:"entries" nullable:"false" doc:"The most frequent names, the most frequent first."`
}

// NamedTally is the tally of one name.
type NamedTally struct {
	Name string `json:"name" example:"git" doc:"The name."`
	Tally
	Last     time.Time        `json:"last" doc:"When the newest run started."`
	Evidence schemas.Position `json:"evidence" doc:"The position of the newest run."`
}
