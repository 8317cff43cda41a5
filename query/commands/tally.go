package commands

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/recountdb/recount/projections/narrative"
	"github.com/recountdb/recount/projections/segment"
	"github.com/recountdb/recount/schemas"
)

// outcomes joins rows with the outcomes observed later, for a pass over many rows: the first row
// that needs one makes it read all of them.
type outcomes struct {
	*session
	all    map[schemas.EventID]ending
	looked int64 // rows that needed one
}

// ending is how a command ended; code is nil and duration negative if unknown.
type ending struct {
	code     *int32
	duration int64
}

// outcomeOf returns a row's exit code and duration, its own or those of the outcome that counts.
func (o *outcomes) outcomeOf(v *segment.View) (code *int32, duration int64, err error) {
	n, hasCode := v.ExitCode()
	d, hasDuration := v.Duration()
	e := ending{duration: -1}
	if !hasCode || !hasDuration {
		o.looked++
		if o.all == nil {
			if err := o.load(); err != nil {
				return nil, 0, err
			}
		}
		if found, ok := o.all[v.ID()]; ok {
			e = found
		}
	}
	if hasCode {
		e.code = &n
	}
	if hasDuration {
		e.duration = int64(d)
	}
	return e.code, e.duration, nil
}

// load reads the outcomes that are visible to the answer. The latest of a command comes last.
func (o *outcomes) load() error {
	o.all = map[schemas.EventID]ending{}
	return o.graph.EachOutcome(func(x narrative.Outcome) error {
		if o.knowsOutcome(x) {
			o.all[x.IntentID] = ending{x.ExitCode, x.DurationNano}
		}
		return o.Ctx.Err()
	})
}

// ranking counts by name.
type ranking struct {
	number *segment.Numbering
	total  Tally
	counts []namedCount
}

type namedCount struct {
	Tally
	newest   int64 // when the newest run started
	evidence schemas.Position
}

func newRanking(n *segment.Numbering) *ranking { return &ranking{number: n} }

// add counts a row for the name with a number.
func (r *ranking) add(number int32, t Tally, v *segment.View) {
	r.total.Add(t)
	r.count(number, t, v)
}

func (r *ranking) count(number int32, t Tally, v *segment.View) {
	if number == segment.NoNumber || r.number.Texts[number] == "" {
		return
	}
	for int(number) >= len(r.counts) {
		r.counts = append(r.counts, namedCount{newest: math.MinInt64})
	}
	c := &r.counts[number]
	c.Add(t)
	if now := v.UnixNano(); now >= c.newest {
		if p := v.Position(); now > c.newest || p.Compare(c.evidence) > 0 {
			c.newest, c.evidence = now, p
		}
	}
}

// top returns the most frequent names.
func (r *ranking) top(limit int) Ranking {
	out := Ranking{Total: r.total, Entries: []NamedTally{}}
	var order []int32
	for i := range r.counts {
		if r.counts[i].Runs > 0 {
			order = append(order, int32(i))
		}
	}
	out.Distinct = int64(len(order))
	slices.SortFunc(order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(r.counts[b].Runs, r.counts[a].Runs), cmp.Compare(r.number.Texts[a], r.number.Texts[b]))
	})
	for _, i := range order[:min(limit, len(order))] {
		c := &r.counts[i]
		out.Entries = append(out.Entries, NamedTally{Name: r.number.Texts[i], Tally: c.Tally, Last: time.Unix(0, c.newest).UTC(), Evidence: c.evidence})
	}
	return out
}

// calendar counts by local time.
type calendar struct {
	zone     *time.Location
	hours    [24]Tally
	weekdays [7]Tally // from Monday
	byDay    map[int64]*Tally

	// The zone's offset in seconds holds from from until before to, in unix seconds.
	from, to, offset int64
	day              int64  // the last day that was counted for, in days since 1970
	tally            *Tally // its tally
}

const secondsOfDay = 24 * 60 * 60

func (c *calendar) add(unixNano int64, t Tally) {
	second := floorDiv(unixNano, int64(time.Second))
	if second < c.from || second >= c.to {
		c.setOffset(second)
	}
	local := second + c.offset
	day := floorDiv(local, secondsOfDay)
	c.hours[(local-day*secondsOfDay)/3600].Add(t)
	c.weekdays[(day%7+10)%7].Add(t) // 1970 began on a Thursday
	if c.tally == nil || day != c.day {
		c.day = day
		if c.byDay == nil {
			c.byDay = map[int64]*Tally{}
		}
		if c.tally = c.byDay[day]; c.tally == nil {
			c.tally = new(Tally)
			c.byDay[day] = c.tally
		}
	}
	c.tally.Add(t)
}

// setOffset looks up the offset at a time, and for how long it holds.
func (c *calendar) setOffset(second int64) {
	t := time.Unix(second, 0).In(c.zone)
	_, offset := t.Zone()
	from, to := t.ZoneBounds()
	c.from, c.to, c.offset = math.MinInt64, math.MaxInt64, int64(offset)
	if !from.IsZero() {
		c.from = from.Unix()
	}
	if !to.IsZero() {
		c.to = to.Unix()
	}
}

func (c *calendar) days() []DayTally {
	out := make([]DayTally, 0, len(c.byDay))
	for day, t := range c.byDay {
		out = append(out, DayTally{Day: time.Unix(day*secondsOfDay, 0).UTC().Format(time.DateOnly), Tally: *t})
	}
	slices.SortFunc(out, func(a, b DayTally) int { return cmp.Compare(a.Day, b.Day) })
	return out
}

// floorDiv divides and rounds down; b is positive.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
