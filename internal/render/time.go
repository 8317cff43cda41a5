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
