package timespec

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"time"
)

var span = regexp.MustCompile(`^([0-9]+)(?:([smhdwy])| ?(second|minute|hour|day|week|year)s?)(?: ago)?$`)

// Parse parses a time, a day, or a time before now: 90m, 1h30m, 2d, 1w, 3 days ago, yesterday. The
// empty string is the zero time.
func Parse(now time.Time, s string) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if d, ok := spanOf(s); ok {
		return now.Add(-d).UTC(), nil
	}
	midnight := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	switch s {
	case "now":
		return now.UTC(), nil
	case "today":
		return midnight.UTC(), nil
	case "yesterday":
		return midnight.AddDate(0, 0, -1).UTC(), nil
	}
	for _, layout := range []string{time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, s, now.Location()); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("want an age (90m, 2d, 1w), a day (2026-11-20, today, yesterday) or an RFC 3339 time")
}

// spanOf returns how long ago a text such as "2d", "3 days ago" or "1h30m" is.
func spanOf(s string) (time.Duration, bool) {
	m := span.FindStringSubmatch(s)
	if m == nil {
		d, err := time.ParseDuration(s)
		return d, err == nil && d >= 0
	}
	n, err := strconv.Atoi(m[1])
	unit := map[string]time.Duration{
		"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour, "y": 365 * 24 * time.Hour,
	}[m[2]+m[3][:min(1, len(m[3]))]]
	if d := time.Duration(n) * unit; err == nil && n <= 100_000 && d/unit == time.Duration(n) {
		return d, true
	}
	return 0, false
}

// Age is a flag's value: how old something is, as Parse takes an age (2d, 1w) or time.ParseDuration a
// duration (1h30m).
type Age time.Duration

// Set implements pflag.Value.
func (a *Age) Set(s string) error {
	d, ok := spanOf(s)
	if !ok {
		return errors.New("want an age such as 30d or 720h")
	}
	*a = Age(d)
	return nil
}

// String implements pflag.Value: "" if none was given.
func (a *Age) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

// Type implements pflag.Value.
func (*Age) Type() string { return "duration" }

// ParseExpiry parses the expiry of a token; the zero time is never.
func ParseExpiry(now time.Time, s string) (time.Time, error) {
	if s == "never" {
		return time.Time{}, nil
	}
	t, err := Parse(now, s)
	if err != nil || t.IsZero() {
		return t, errors.New("want a duration (12h, 90d), a day (2027-06-30), an RFC 3339 time, or never")
	}
	if d, ok := spanOf(s); ok {
		t = now.Add(d) // Parse counts back from now
	}
	if !t.After(now) {
		return t, errors.New("it is in the past")
	}
	return t.UTC().Truncate(time.Second), nil
}
