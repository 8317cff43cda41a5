package statview

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/recountdb/recount/internal/golden"
	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
)

// answer is an answer over n days from a Wednesday on, with few commands at the weekend.
func answer(n int) ask.StatisticsResponse {
	begin := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	r := ask.StatisticsResponse{
		Sessions: 17, Untimed: 3, First: begin.Add(7 * time.Hour), Last: begin.AddDate(0, 0, n-1).Add(20 * time.Hour), TimeZone: "Europe/Berlin",
		Hours: make([]ask.Tally, 24), Weekdays: make([]ask.Tally, 7),
	}
	for i := range n {
		t := ask.Tally{Runs: int64(40 + 7*(i%5)), Failed: int64(i % 9), Duration: int64(i) * int64(7*time.Minute)}
		day := begin.AddDate(0, 0, i)
		if i == 4 {
			continue // a day without a command
		}
		if day.Weekday() == time.Sunday {
			t = ask.Tally{Runs: 1, Failed: 1}
		}
		t.Succeeded = t.Runs - t.Failed
		r.Days = append(r.Days, ask.DayTally{Day: day.Format(time.DateOnly), Tally: t})
		r.Weekdays[(int(day.Weekday())+6)%7].Add(t)
		r.Hours[8+i%12].Add(t)
		r.Total.Add(t)
	}
	named := func(name string, part int64) ask.NamedTally {
		return ask.NamedTally{Name: name, Tally: ask.Tally{Runs: r.Total.Runs / part, Failed: r.Total.Failed / part, Succeeded: r.Total.Succeeded / part, Duration: r.Total.Duration / part}}
	}
	r.Programs = ask.Ranking{Total: r.Total, Distinct: 2041, Entries: []ask.NamedTally{named("git", 2), named("go", 3), {Name: "日本語", Tally: ask.Tally{Runs: 1}}}}
	r.Templates = ask.Ranking{Total: r.Total, Distinct: 2, Entries: []ask.NamedTally{named("git status", 2), named("kubectl \x1b[31mget pods\n--namespace <arg> --output <arg> --selector <arg>", 40)}}
	r.Directories = ask.Ranking{Total: r.Total, Distinct: 2, Entries: []ask.NamedTally{named("/home/ada/src/a/very/long/path/to/the/place/of/work", 2), named("/home/ada", 9)}}
	r.People = ask.Ranking{Total: named("", 2).Tally, Distinct: 1, Entries: []ask.NamedTally{named("ada", 2)}}
	r.Agents = ask.Ranking{Total: named("", 3).Tally, Distinct: 2, Entries: []ask.NamedTally{named("claude-code", 4), named("codex", 12)}}
	return r
}

// TestDraw compares the output for people with testdata; -rewrite updates it.
func TestDraw(t *testing.T) {
	for name, r := range map[string]ask.StatisticsResponse{
		"week": answer(7), "quarter": answer(90), "years": answer(365 * 4),
		"nothing": {Basis: query.Basis{Hint: "no command has been recorded yet"}},
		// A history without times and outcomes, as bash keeps it.
		"untimed": {Total: ask.Tally{Runs: 2}, Untimed: 2, Hours: make([]ask.Tally, 24), Weekdays: make([]ask.Tally, 7), Programs: ask.Ranking{Distinct: 1, Entries: []ask.NamedTally{{Name: "ls", Tally: ask.Tally{Runs: 2}}}}},
	} {
		for _, width := range []int{0, 24, 40, 80, 200} {
			if width != 80 && name != "week" {
				continue
			}
			t.Run(fmt.Sprint(name, "-", width), func(t *testing.T) {
				draw := func(colour bool) string {
					var out strings.Builder
					d := &render.Drawing{Terminal: &render.Terminal{Out: &out, Colour: colour, HomeDir: "/home/ada"}, Width: width}
					Stats(d, r)
					return out.String()
				}
				plain := draw(false)
				for line := range strings.Lines(plain) {
					if line = strings.TrimSuffix(line, "\n"); width > 0 && render.Columns(line) > width {
						t.Errorf("%d columns: %s", render.Columns(line), line)
					}
					if strings.ContainsAny(line, "\x1b\r") {
						t.Errorf("a control character is printed: %q", line)
					}
				}
				coloured := draw(true)
				if bare := strings.NewReplacer("\x1b[0m", "", "\x1b[1m", "", "\x1b[2m", "", "\x1b[31m", "", "\x1b[36m", "").Replace(coloured); bare == coloured {
					t.Error("nothing is coloured")
				}
				golden.Check(t, filepath.Join("testdata", fmt.Sprintf("%s-%d.txt", name, width)), plain)
			})
		}
	}
}

// TestBar checks that every run is visible, and that a bar has its width.
func TestBar(t *testing.T) {
	d := &render.Drawing{Terminal: &render.Terminal{}}
	for _, c := range []struct {
		runs, failed, most int64
		want               string
	}{
		{0, 0, 10, "        "},
		{1, 0, 1000, "▏       "},
		{10, 0, 10, "████████"},
		{10, 10, 10, "▒▒▒▒▒▒▒▒"},
		{10, 5, 10, "████▒▒▒▒"},
		{1, 1, 1000, "▏       "},
		{9, 1, 10, "███████▒"},
		{1000, 1, 1000, "████████"},
	} {
		if got := barOf(d, ask.Tally{Runs: c.runs, Failed: c.failed}, c.most, 8); got != c.want {
			t.Errorf("%d of %d, %d failed: %q, want %q", c.runs, c.most, c.failed, got, c.want)
		}
	}
}
