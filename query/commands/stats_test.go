package commands_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands"
	"github.com/recountdb/recount/schemas"
)

func (h *history) stats(r commands.StatisticsRequest) commands.StatisticsResponse {
	h.t.Helper()
	a, err := commands.Stats(h.t.Context(), h.sources(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	return a
}

// executed appends a command; fields are the rest of its payload.
func (h *history) executed(partition int32, minute int, command, fields string) schemas.Position {
	h.t.Helper()
	return h.add(partition, minute, fmt.Sprintf(`{"command":%q,"user":"ada","host":"laptop",%s}`, command, fields))
}

// statsHistory is a small history, counted by hand. It begins on Friday, 2026-05-01, 00:00 UTC.
func statsHistory(t *testing.T) *history {
	h := newHistory(t)
	h.executed(0, 0, "make test", `"cwd":"/src/a","session":"s1","exit_code":2,"duration":"3s"`)
	h.executed(0, 1, "make test", `"cwd":"/src/a","session":"s1","exit_code":0,"duration":"4s"`)
	h.executed(1, 60, "cat x | sort | cat", `"cwd":"/src/b","session":"s2","exit_code":0,"duration":"0.5s"`)
	h.executed(1, 26*60, "git push", `"cwd":"/src/a/cmd","session":"s1","author":"claude-code"`)
	h.executed(0, 26*60+30, "git status", `"cwd":"/src/a","author":"ada","exit_code":0`)
	return h
}

func TestStatsCount(t *testing.T) {
	h := statsHistory(t)
	// The outcome of git push arrives later, in another partition.
	h.add(0, 26*60+1, fmt.Sprintf(`{"command_event_id":%q,"exit_code":1,"duration":"2s"}`, h.commandID("git push")))

	s := h.stats(commands.StatisticsRequest{})
	second := int64(time.Second)
	if want := (commands.Tally{Runs: 5, Succeeded: 3, Failed: 2, Duration: 9*second + second/2}); s.Total != want {
		t.Errorf("total %+v, want %+v", s.Total, want)
	}
	if s.Sessions != 2 || !s.First.Equal(epoch) || !s.Last.Equal(epoch.Add(26*time.Hour+30*time.Minute)) || s.Untimed != 0 {
		t.Errorf("%d sessions, from %s to %s, %d untimed", s.Sessions, s.First, s.Last, s.Untimed)
	}
	ranked := func(r commands.Ranking) string {
		var out []string
		for _, e := range r.Entries {
			out = append(out, fmt.Sprintf("%s %d/%d %v", e.Name, e.Runs, e.Failed, time.Duration(e.Duration)))
		}
		return fmt.Sprintf("%d of %d: %s", r.Distinct, r.Total.Runs, strings.Join(out, ", "))
	}
	for name, c := range map[string]struct {
		of   commands.Ranking
		want string
	}{
		"programs":    {s.Programs, "4 of 5: git 2/1 2s, make 2/1 7s, cat 1/0 500ms, sort 1/0 500ms"},
		"templates":   {s.Templates, "4 of 5: make test 2/1 7s, cat <path> | sort | cat 1/0 500ms, git push 1/1 2s, git status 1/0 0s"},
		"directories": {s.Directories, "3 of 5: /src/a 3/1 7s, /src/a/cmd 1/1 2s, /src/b 1/0 500ms"},
		"people":      {s.People, "1 of 4: ada 4/1 7.5s"},
		"agents":      {s.Agents, "1 of 1: claude-code 1/1 2s"},
	} {
		if got := ranked(c.of); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, c.want)
		}
	}
	if e := s.Programs.Entries[1]; e.Evidence != (schemas.Position{Topic: topic, Partition: 0, Offset: 1}) || !e.Last.Equal(epoch.Add(time.Minute)) {
		t.Errorf("the newest make: %s at %s", e.Evidence, e.Last)
	}
	if s.Watermark.String() != h.next.String() || len(s.Proof) == 0 {
		t.Errorf("at %s with %d steps", s.Watermark, len(s.Proof))
	}
}

// TestStatsBlameOneProgram counts commands that run several programs: one of them is told to have failed.
func TestStatsBlameOneProgram(t *testing.T) {
	h := newHistory(t)
	for i, command := range []string{"cd src && make", "make && echo done", "make; go vet", "cd nowhere", "echo $X; exit 3"} {
		h.executed(0, i, command, `"cwd":"/src","exit_code":2,"duration":"1s"`)
	}
	h.executed(0, 10, "cd src && make", `"cwd":"/src","exit_code":0,"duration":"1s"`)
	got := map[string]string{}
	for _, e := range h.stats(commands.StatisticsRequest{}).Programs.Entries {
		got[e.Name] = fmt.Sprintf("%d runs, %d good, %d failed", e.Runs, e.Succeeded, e.Failed)
	}
	want := map[string]string{
		"cd": "3 runs, 1 good, 1 failed", "make": "4 runs, 1 good, 2 failed", "echo": "2 runs, 0 good, 0 failed",
		"go": "1 runs, 0 good, 1 failed", "exit": "1 runs, 0 good, 1 failed",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestStatsAnswersAndInterruptions counts exit codes other than 0 that are no failures.
func TestStatsAnswersAndInterruptions(t *testing.T) {
	h := newHistory(t)
	for i := range 3 {
		h.executed(0, 10*i, "grep -r x .", `"cwd":"/src","session":"s","exit_code":1`)
		h.executed(0, 10*i+1, "npm run dev", `"cwd":"/src","session":"s","exit_code":130`)
		h.executed(0, 10*i+2, "make", `"cwd":"/src","session":"s","exit_code":1`)
	}
	if got, want := h.stats(commands.StatisticsRequest{}).Total, (commands.Tally{Runs: 9, Succeeded: 3, Failed: 3}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	in := h.insights(commands.InsightsRequest{})
	for _, f := range in.Failures {
		if f.Template != "make" {
			t.Errorf("%s is told to fail", f.Template)
		}
	}
	for _, x := range in.Templates {
		want := map[string][2]int64{"make": {3, 0}, "npm run dev": {0, 3}}[x.Template]
		if x.Failed != want[0] || x.Unknown != want[1] {
			t.Errorf("%s: %d failed, %d unknown", x.Template, x.Failed, x.Unknown)
		}
	}
	if len(in.Templates) != 3 || len(in.Failures) != 1 {
		t.Errorf("%d templates, %d failures", len(in.Templates), len(in.Failures))
	}
}

// commandID returns the id of the newest command with a text.
func (h *history) commandID(text string) string {
	h.t.Helper()
	hits := h.find(commands.FindRequest{Text: text}).Hits
	for _, hit := range hits {
		if hit.Command == text {
			return hit.ID.String()
		}
	}
	h.t.Fatalf("no %q among %d hits", text, len(hits))
	return ""
}

// TestStatsLocalTime counts by the day and hour of a zone, over a change of its clocks.
func TestStatsLocalTime(t *testing.T) {
	h := newHistory(t)
	// In Berlin 2026-10-25 has two hours from 02:00 on: the second begins at 01:00 UTC.
	change := int(time.Date(2026, 10, 25, 0, 30, 0, 0, time.UTC).Sub(epoch) / time.Minute)
	for _, minutes := range []int{change, change + 60, change + 23*60, change - 24*60*200, -60 * 24 * 365 * 60} {
		h.executed(0, minutes, "true", `"exit_code":0`)
	}
	counted := func(s commands.StatisticsResponse) (out []string) {
		for _, d := range s.Days {
			out = append(out, fmt.Sprintf("%s %d", d.Day, d.Runs))
		}
		for hour, x := range s.Hours {
			if x.Runs > 0 {
				out = append(out, fmt.Sprintf("%02d:00 %d", hour, x.Runs))
			}
		}
		for weekday, x := range s.Weekdays {
			if x.Runs > 0 {
				out = append(out, fmt.Sprintf("%s %d", time.Weekday((weekday+1)%7), x.Runs))
			}
		}
		return out
	}
	since := commands.Filters{Since: epoch.AddDate(-1, 0, 0)}
	for zone, want := range map[string][]string{
		"Europe/Berlin": {"2026-04-08 1", "2026-10-25 2", "2026-10-26 1", "00:00 1", "02:00 3", "Monday 1", "Wednesday 1", "Sunday 2"},
		"":              {"2026-04-08 1", "2026-10-25 3", "00:00 2", "01:00 1", "23:00 1", "Wednesday 1", "Sunday 3"},
		"-03:45":        {"2026-04-07 1", "2026-10-24 2", "2026-10-25 1", "19:00 1", "20:00 2", "21:00 1", "Tuesday 1", "Saturday 2", "Sunday 1"},
	} {
		if d := cmp.Diff(counted(h.stats(commands.StatisticsRequest{TimeZone: zone, Filters: since})), want); d != "" {
			t.Errorf("%q: got - want +\n%s", zone, d)
		}
	}
	if s := h.stats(commands.StatisticsRequest{}); s.Days[0].Day != "1966-05-16" || s.Hours[0].Runs != 3 {
		t.Errorf("before 1970: %+v", s.Days[0])
	}
}

// TestStatsSelect checks that the filters, and as_of, leave the rest out everywhere.
func TestStatsSelect(t *testing.T) {
	h := statsHistory(t)
	for name, c := range map[string]struct {
		r    commands.StatisticsRequest
		runs int64
	}{
		"directory": {commands.StatisticsRequest{Filters: commands.Filters{Cwd: "/src/a"}}, 4},
		"session":   {commands.StatisticsRequest{Filters: commands.Filters{Session: "s2"}}, 1},
		"author":    {commands.StatisticsRequest{Filters: commands.Filters{Author: "claude-code"}}, 1},
		"since":     {commands.StatisticsRequest{Filters: commands.Filters{Since: epoch.Add(time.Minute)}}, 4},
		"until":     {commands.StatisticsRequest{Filters: commands.Filters{Until: epoch.Add(time.Minute)}}, 1},
		"failed":    {commands.StatisticsRequest{Filters: commands.Filters{Exit: "fail"}}, 1},
		"unknown":   {commands.StatisticsRequest{Filters: commands.Filters{Exit: "unknown"}}, 1},
		"as_of":     {commands.StatisticsRequest{Moment: query.Moment{AsOf: query.AsOf{Offsets: schemas.Watermark{{Topic: topic, Partition: 1}: 1}}}}, 1},
	} {
		s := h.stats(c.r)
		days, hours := int64(0), int64(0)
		for _, d := range s.Days {
			days += d.Runs
		}
		for _, x := range s.Hours {
			hours += x.Runs
		}
		if s.Total.Runs != c.runs || days != c.runs || hours != c.runs || s.Directories.Total.Runs != c.runs || s.People.Total.Runs+s.Agents.Total.Runs != c.runs {
			t.Errorf("%s: %+v, %d by day, %d by hour", name, s.Total, days, hours)
		}
		if len(s.AppliedFilters) != 1 {
			t.Errorf("%s: filters %v", name, s.AppliedFilters)
		}
	}
	if s := h.stats(commands.StatisticsRequest{Filters: commands.Filters{Session: "none"}}); s.Status != query.StatusEmpty || !strings.Contains(s.Hint, "filters") {
		t.Errorf("nothing: %s, %s", s.Status, s.Hint)
	}
	if s := newHistory(t).stats(commands.StatisticsRequest{}); s.Status != query.StatusEmpty || !strings.Contains(s.Hint, "no command has been recorded yet") {
		t.Errorf("an empty log: %s, %s", s.Status, s.Hint)
	}
	if s := h.stats(commands.StatisticsRequest{Limit: 1}); len(s.Programs.Entries) != 1 || s.Programs.Distinct != 4 {
		t.Errorf("limit: %+v", s.Programs)
	}
}

// Equal histories give equal statistics, however they were batched and sealed, and stats counts what
// insights counts.
func TestStatsAreReproducible(t *testing.T) {
	h := work(t, 1000)
	want := h.stats(commands.StatisticsRequest{Limit: 50})
	for _, size := range []int{1, 7, 64} {
		if diff := cmp.Diff(work(t, size).stats(commands.StatisticsRequest{Limit: 50}), want, untimed); diff != "" {
			t.Errorf("in batches of %d: %s", size, diff)
		}
	}
	in := h.insights(commands.InsightsRequest{Limit: 50})
	var insights, stats []string
	for _, x := range in.Templates {
		insights = append(insights, fmt.Sprintf("%s %d %d", x.Template, x.Runs, x.Failed))
	}
	for _, x := range want.Templates.Entries {
		stats = append(stats, fmt.Sprintf("%s %d %d", x.Name, x.Runs, x.Failed))
	}
	sorted := cmpopts.SortSlices(func(x, y string) bool { return x < y })
	if diff := cmp.Diff(insights, stats, sorted); diff != "" || in.Commands != want.Total.Runs {
		t.Errorf("insights and stats differ: %s", diff)
	}
}

func TestStatsRefuse(t *testing.T) {
	h := newHistory(t)
	for field, r := range map[string]commands.StatisticsRequest{
		"limit":        {Limit: commands.MaxLimit + 1},
		"time_zone":    {TimeZone: "Mars/Olympus"},
		"filters.exit": {Filters: commands.Filters{Exit: "perhaps"}},
	} {
		var re *query.RequestError
		if _, err := commands.Stats(t.Context(), h.sources(), r); !errors.As(err, &re) || re.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	for _, zone := range []string{"Local", "+24:00", "../etc/passwd", "+1:00"} {
		if _, err := (commands.StatisticsRequest{TimeZone: zone}).Normal(); err == nil {
			t.Errorf("%q is taken", zone)
		}
	}
}
