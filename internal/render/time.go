package render

import (
	"fmt"
	"time"

	"github.com/recountdb/recount/schemas"
)

// Day returns a date for lists.
func Day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// Before describes how long before, or after, another time t is.
func Before(t, other time.Time) string {
	d, way := other.Sub(t), "before"
	if d < 0 {
		d, way = -d, "after"
	}
	switch {
	case d < time.Second:
		return "just " + way
	case d < time.Minute:
		return fmt.Sprintf("%ds %s", d/time.Second, way)
	case d < time.Hour:
		return fmt.Sprintf("%dm %s", d/time.Minute, way)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh %s", d/time.Hour, way)
	}
	const year = 365 * 24 * time.Hour
	if d >= 2*year {
		return fmt.Sprintf("%dy %s", d/year, way)
	}
	return fmt.Sprintf("%dd %s", d/(24*time.Hour), way)
}

// TimeUnknown is shown for entries of histories without times.
const TimeUnknown = "time unknown"

// When formats a time in a layout.
func When(t time.Time, layout string) string {
	if schemas.TimeUnknown(t) {
		return TimeUnknown
	}
	return t.Local().Format(layout)
}

// Ago returns how long before now t was, in the largest unit that fits.
func Ago(now, t time.Time) string {
	if schemas.TimeUnknown(t) {
		return TimeUnknown
	}
	d := now.Sub(t)
	for _, u := range []struct {
		size time.Duration
		name string
	}{{365 * 24 * time.Hour, "y"}, {24 * time.Hour, "d"}, {time.Hour, "h"}, {time.Minute, "m"}} {
		if d >= u.size {
			return fmt.Sprintf("%d%s ago", d/u.size, u.name)
		}
	}
	if d < -time.Minute {
		return "in the future"
	}
	return "just now"
}

// Took formats a duration as people write it: from a minute on in two units, of which the second is left
// out if it is zero (6d 5h, 2h 5m, 1m 40s), from a hundred days on in days, and below a minute with three
// digits at most (12.3s, 40ms).
func Took(d time.Duration) string {
	const day = 24 * time.Hour
	if d >= 100*day {
		return Thousands(int64(d.Round(day)/day)) + "d"
	}
	for _, u := range []struct {
		// fine is the precision of what is shorter than size.
		size, part, fine time.Duration
		name, partName   string
	}{
		{day, time.Hour, time.Minute, "d", "h"},
		{time.Hour, time.Minute, time.Second, "h", "m"},
		{time.Minute, time.Second, 100 * time.Millisecond, "m", "s"},
	} {
		if d.Round(u.fine) < u.size {
			continue
		}
		d = d.Round(u.part)
		if d%u.size == 0 {
			return fmt.Sprintf("%d%s", d/u.size, u.name)
		}
		return fmt.Sprintf("%d%s %d%s", d/u.size, u.name, d%u.size/u.part, u.partName)
	}
	switch {
	case d >= 10*time.Second:
		return d.Round(100 * time.Millisecond).String()
	case d >= time.Second:
		return d.Round(10 * time.Millisecond).String()
	case d >= time.Millisecond:
		return d.Round(time.Millisecond).String()
	}
	return d.Round(time.Microsecond).String()
}
