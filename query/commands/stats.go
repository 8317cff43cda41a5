package commands

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
	"github.com/recountdb/recount/schemas"
)

// maxStatsNames is the maximum number of distinct names in a ranking. Commands with further names are
// counted everywhere else.
const maxStatsNames = 1 << 17

// Stats counts the commands that pass the filters: in all, by time, by what ran, where, and who ran
// it. It reads each command once, in the order of the segments. What recurs, and in which order, is
// answered by Insights, which keeps the newest commands in memory; Stats has no such limit.
//
// An error is a *RequestError, a *NotVisibleError, the context's, or one of the projections.
func Stats(ctx context.Context, s Sources, r StatisticsRequest) (StatisticsResponse, error) {
	r, err := r.Normal()
	if err != nil {
		return StatisticsResponse{}, err
	}
	zone, err := ask.ParseTimeZone(r.TimeZone)
	if err != nil {
		return StatisticsResponse{}, err
	}
	a, err := s.open(ctx, r.Moment, segment.Name, narrative.Name)
	if err != nil {
		return StatisticsResponse{}, err
	}
	defer a.Close()
	c := newCounting(a, zone)
	if err := c.run(r); err != nil {
		return StatisticsResponse{}, err
	}
	resp := c.response(r)
	resp.Hint = s.knownSince(resp.Hint, r.Filters.Since)
	resp.Proof, resp.Timing = a.Proof, a.Timing()
	return resp, nil
}

// counting is the state of one query.
type counting struct {
	*session
	outcomes outcomes
	calendar calendar

	read, untimed int64
	total         Tally
	first, last   int64 // unix nanoseconds of timed commands; first is 0 before there is one

	sessions, hosts *segment.Numbering
	seen            map[[2]int32]struct{} // sessions: host and name
	lastSeen        [2]int32

	programs, templates, directories, people, agents *ranking
	room                                             []int32
}

func newCounting(a *session, zone *time.Location) *counting {
	number := func(c segment.Column) *segment.Numbering { return segment.NewNumbering(c, maxStatsNames) }
	return &counting{
		session: a, outcomes: outcomes{session: a}, calendar: calendar{zone: zone},
		sessions: number(segment.ColumnSession), hosts: number(segment.ColumnHost), seen: map[[2]int32]struct{}{},
		programs: newRanking(number(segment.ColumnPrograms)), templates: newRanking(number(segment.ColumnTemplate)),
		directories: newRanking(number(segment.ColumnCwd)),
		people:      newRanking(number(segment.ColumnUser)), agents: newRanking(number(segment.ColumnAuthor)),
	}
}

func (c *counting) run(r StatisticsRequest) error {
	exit, err := ask.ParseExit(r.Filters.Exit)
	if err != nil {
		return err
	}
	var inner error
	err = c.segment.Each(c.Ctx, pushed(r.Filters, c.as, c.Visible), func(v *segment.View) bool {
		c.read++
		inner = c.add(v, exit)
		return inner == nil
	})
	if err := cmp.Or(inner, err); err != nil {
		return err
	}
	c.RecordTime("scan")
	c.Step(query.Step{
		Operator: "scan", Inputs: map[string]string{"order": "of the segments", "time_zone": r.TimeZone},
		Counts: map[string]int64{"read": c.read, "commands": c.total.Runs, "time_unknown": c.untimed},
	})
	if n := c.outcomes.looked; n > 0 {
		c.Step(query.Step{Operator: "outcome", Counts: map[string]int64{"looked_up": n, "outcomes": int64(len(c.outcomes.all))}})
	}
	return nil
}

// add counts a row that passes all filters except exit.
func (c *counting) add(v *segment.View, exit ask.ExitFilter) error {
	code, duration, err := c.outcomes.outcomeOf(v)
	if err != nil || !exit.Match(code) {
		return err
	}
	t := Tally{Runs: 1, Duration: max(duration, 0)}
	if code != nil {
		switch resultOf(*code, v) {
		case narrative.Success:
			t.Succeeded = 1
		case narrative.Failure:
			t.Failed = 1
		}
	}
	c.total.Add(t)
	now := v.UnixNano()
	if schemas.TimeUnknown(v.Time()) {
		c.untimed++
	} else {
		c.calendar.add(now, t)
		if c.first == 0 || now < c.first {
			c.first = now
		}
		c.last = max(c.last, now)
	}
	c.templates.add(c.templates.number.Of(v), t, v)
	c.directories.add(c.directories.number.Of(v), t, v)
	c.room = c.programs.number.Items(v, c.room[:0])
	c.addPrograms(t, v)
	c.addAuthor(t, v)
	if s := [2]int32{c.hosts.Of(v), c.sessions.Of(v)}; s != c.lastSeen || len(c.seen) == 0 {
		if c.lastSeen = s; v.Session() != "" {
			c.seen[s] = struct{}{}
		}
	}
	return nil
}

// addPrograms counts a row for the programs that it ran. Its failure counts for the one that most likely failed:
// the last that does more than print, wait or set the shell up. Whether the others failed is unknown.
func (c *counting) addPrograms(t Tally, v *segment.View) {
	c.programs.total.Add(t)
	failed := len(c.room) - 1
	for i, n := range c.room {
		if !hardlyFails[c.programs.number.Texts[n]] {
			failed = i
		}
	}
	for i, n := range c.room {
		one := t
		if i != failed {
			one.Failed = 0
		}
		c.programs.count(n, one, v)
	}
}

// hardlyFails are programs that stand beside those that a command is about.
var hardlyFails = map[string]bool{
	":": true, "cd": true, "echo": true, "exit": true, "export": true, "popd": true, "printf": true, "pushd": true, "set": true,
	"shopt": true, "sleep": true, "source": true, ".": true, "time": true, "true": true, "umask": true, "unset": true, "wait": true,
}

// addAuthor counts a row for the account or for the agent that ran it.
func (c *counting) addAuthor(t Tally, v *segment.View) {
	if author := v.Author(); author == "" || author == v.User() {
		c.people.add(c.people.number.Of(v), t, v)
	} else {
		c.agents.add(c.agents.number.Of(v), t, v)
	}
}

// response ranks what was counted.
func (c *counting) response(r StatisticsRequest) StatisticsResponse {
	resp := StatisticsResponse{
		Basis: query.Basis{Status: query.StatusOK, Watermark: c.Visible, AppliedFilters: []query.AppliedFilter{}},
		Total: c.total, Sessions: int64(len(c.seen)), Untimed: c.untimed, TimeZone: r.TimeZone,
		Days: c.calendar.days(), Hours: c.calendar.hours[:], Weekdays: c.calendar.weekdays[:],
	}
	if c.first != 0 {
		resp.First, resp.Last = time.Unix(0, c.first).UTC(), time.Unix(0, c.last).UTC()
	}
	filters := compile(r.Filters, c.as, c.exitCode)
	for _, m := range filters {
		resp.AppliedFilters = append(resp.AppliedFilters, m.AppliedFilter)
	}
	if c.as.Offsets != nil {
		resp.AppliedFilters = append(resp.AppliedFilters, query.AppliedFilter{Field: "as_of", Op: "below", Value: c.as.Offsets.String()})
	}
	step := query.Step{Operator: "rank", Inputs: map[string]string{"by": "runs, then name", "limit": strconv.Itoa(r.Limit)}, Counts: map[string]int64{}}
	for _, l := range []struct {
		name string
		from *ranking
		to   *Ranking
	}{
		{"programs", c.programs, &resp.Programs},
		{"templates", c.templates, &resp.Templates},
		{"directories", c.directories, &resp.Directories},
		{"people", c.people, &resp.People},
		{"agents", c.agents, &resp.Agents},
	} {
		*l.to = l.from.top(r.Limit)
		step.Counts[l.name] = l.to.Distinct
		if l.from.number.Capped {
			step.Inputs[l.name+"_capped"] = fmt.Sprintf("only the first %d names were counted", maxStatsNames)
		}
	}
	c.Step(step)
	c.RecordTime("rank")
	if c.total.Runs == 0 {
		resp.Status, resp.Hint = query.StatusEmpty, c.s.noCommands()
		if !c.as.IsZero() || len(filters) > 0 {
			resp.Hint = "no command passes the filters; remove some of them"
		}
	}
	return resp
}
