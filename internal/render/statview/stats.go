package statview

import (
	"fmt"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/render"
	"github.com/recountdb/recount/query"
	"github.com/recountdb/recount/query/commands/ask"
)

// Stats draws what was run: totals, bars by time, and tables of names.
func Stats(d *render.Drawing, r ask.StatisticsResponse) {
	summary(d, r)
	if len(r.Days) > 0 {
		periods(d, r.Days)
		clock(d, r.Hours)
		var week []row
		for i, t := range r.Weekdays {
			week = append(week, row{name: time.Weekday((i + 1) % 7).String()[:3], Tally: t})
		}
		bars(d, "By day of the week", "", week)
	}
	for _, l := range []struct {
		title, column string
		of            ask.Ranking
	}{
		{"Programs", "PROGRAM", r.Programs},
		{"Commands", "TEMPLATE", r.Templates},
		{"Directories", "DIRECTORY", r.Directories},
	} {
		var rows []row
		for _, e := range l.of.Entries {
			name := render.OneLine(e.Name)
			if l.column == "DIRECTORY" {
				name = d.Home(name)
			}
			rows = append(rows, row{name, e.Tally})
		}
		bars(d, l.title, l.column, rows)
		if n := int(l.of.Distinct) - len(rows); n > 0 {
			d.Text("  ", render.Dim, "… "+render.Thousands(n)+" more (--limit)")
		}
	}
	authors(d, r)
	d.Hint(r.Basis)
}

// summary draws the totals in a few lines.
func summary(d *render.Drawing, r ask.StatisticsResponse) {
	line := render.Count(int(r.Total.Runs), "command")
	if r.Sessions > 0 {
		line += " in " + render.Count(int(r.Sessions), "session")
	}
	d.Text("", render.Bold, line)
	if r.Total.Runs == 0 {
		return
	}
	var parts []string
	if !r.First.IsZero() {
		zone, err := ask.ParseTimeZone(r.TimeZone)
		if err != nil { // a server knows more zones
			zone = time.UTC
		}
		days := r.First.In(zone).Format(time.DateOnly)
		if last := r.Last.In(zone).Format(time.DateOnly); last != days {
			days += " to " + last
		}
		parts = append(parts, days+" ("+r.TimeZone+")")
	}
	if rate, ok := r.Total.FailureRate(); ok {
		parts = append(parts, fmt.Sprintf("%s of %s with a known outcome succeeded", percent(1-rate), render.Thousands(r.Total.Succeeded+r.Total.Failed)))
	}
	if r.Total.Duration > 0 {
		parts = append(parts, query.Took(time.Duration(r.Total.Duration))+" spent in them")
	}
	if r.Untimed > 0 {
		parts = append(parts, fmt.Sprintf("%s at an unknown time, in none of the bars by time", render.Thousands(r.Untimed)))
	}
	for _, p := range parts {
		d.Text("", "", p)
	}
}

// percent formats a fraction; only all is 100 %, and only none is 0 %.
func percent(rate float64) string {
	switch {
	case rate > 0 && rate < 0.01:
		return "<1 %"
	case rate < 1 && rate > 0.99:
		return ">99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*rate)
}

// authors compares people and agents, and lists them.
func authors(d *render.Drawing, r ask.StatisticsResponse) {
	if r.Agents.Total.Runs == 0 && len(r.People.Entries) < 2 {
		return
	}
	rows := []row{{"people", r.People.Total}, {"agents", r.Agents.Total}}
	for _, of := range []ask.Ranking{r.People, r.Agents} {
		for _, e := range of.Entries {
			rows = append(rows, row{"  " + render.OneLine(e.Name), e.Tally})
		}
	}
	bars(d, "People and agents", "", rows)
}

// maxPeriods is the maximum number of bars by day, by week or by month.
const maxPeriods = 31

// periods draws a bar for each day, or for each week, month or year if there are many. Those
// without a command have an empty bar.
func periods(d *render.Drawing, days []ask.DayTally) {
	first, err1 := time.Parse(time.DateOnly, days[0].Day)
	last, err2 := time.Parse(time.DateOnly, days[len(days)-1].Day)
	if err1 != nil || err2 != nil {
		return // no server sends this
	}
	var u unit
	for _, u = range units {
		if begin := u.begin(first); int(u.count(begin, last)) <= maxPeriods {
			break
		}
	}
	var rows []row
	at, next := u.begin(first), 0
	for ; !at.After(last); at = u.next(at) {
		r := row{name: at.Format(u.layout)}
		if u.title == "By week" {
			year, week := at.ISOWeek()
			r.name = fmt.Sprintf("%d-W%02d", year, week)
		}
		for end := u.next(at).Format(time.DateOnly); next < len(days) && days[next].Day < end; next++ {
			r.Add(days[next].Tally)
		}
		rows = append(rows, r)
	}
	bars(d, u.title, "", rows)
}

// unit is a period of time that has a bar.
type unit struct {
	title, layout string
	days          float64 // of a period, about
	begin, next   func(time.Time) time.Time
}

// count returns how many periods there are from the beginning of one to another day.
func (u unit) count(begin, last time.Time) float64 { return last.Sub(begin).Hours()/24/u.days + 1 }

var units = []unit{
	{"By day", "01-02 Mon", 1, func(t time.Time) time.Time { return t }, func(t time.Time) time.Time { return t.AddDate(0, 0, 1) }},
	{
		"By week", "", 7,
		func(t time.Time) time.Time { return t.AddDate(0, 0, -(int(t.Weekday())+6)%7) },
		func(t time.Time) time.Time { return t.AddDate(0, 0, 7) },
	},
	{
		"By month", "2006-01", 30,
		func(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC) },
		func(t time.Time) time.Time { return t.AddDate(0, 1, 0) },
	},
	{
		"By year", "2006", 365,
		func(t time.Time) time.Time { return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC) },
		func(t time.Time) time.Time { return t.AddDate(1, 0, 0) },
	},
}

// clock draws the hours of a day as columns.
func clock(d *render.Drawing, hours []ask.Tally) {
	const height = 4
	most := int64(0)
	for _, h := range hours {
		most = max(most, h.Runs)
	}
	if most == 0 || len(hours) != 24 {
		return
	}
	d.Print("", d.Paint(render.Bold, "By hour of the day"))
	wide := 1
	if d.Width == 0 || d.Width >= 2*24+2 {
		wide = 2
	}
	for level := height - 1; level >= 0; level-- {
		var b strings.Builder
		for _, h := range hours {
			b.WriteString(strings.Repeat(column(h.Runs, most, height, level), wide))
		}
		d.Print("  " + d.Paint(render.Cyan, strings.TrimRight(b.String(), " ")))
	}
	var axis strings.Builder
	for hour := 0; hour < 24; hour += 6 {
		axis.WriteString(render.Pad(fmt.Sprintf("%02d", hour), 6*wide))
	}
	d.Print("  " + d.Paint(render.Dim, strings.TrimRight(axis.String(), " ")))
}

// column returns the part of a column at a level; the lowest is 0.
func column(n, most int64, height, level int) string {
	eighths := int(n*int64(height)*8/most) - level*8
	if n > 0 && level == 0 {
		eighths = max(eighths, 1)
	}
	return []string{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}[min(max(eighths, 0), 8)]
}
