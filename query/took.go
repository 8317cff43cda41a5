package query

import (
	"fmt"
	"time"
)

// Took formats a duration as people write it: from a minute on in two units, of which the second is left
// out if it is zero (6d 5h, 2h 5m, 1m 40s), from a hundred days on in days, and below a minute with three
// digits at most (12.3s, 40ms).
func Took(d time.Duration) string {
	const day = 24 * time.Hour
	if days := d.Round(day) / day; d >= 1000*day {
		return fmt.Sprintf("%d,%03dd", days/1000, days%1000)
	} else if d >= 100*day {
		return fmt.Sprintf("%dd", days)
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
