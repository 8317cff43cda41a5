package timespec

import (
	"testing"
	"time"

	"github.com/recountdb/recount/internal/render"
)

func TestParse(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]string{
		"2h": "2026-11-20T10:00:00Z", "1h30m": "2026-11-20T10:30:00Z", "yesterday": "2026-11-19T00:00:00Z", "1w": "2026-11-13T12:00:00Z", "2026-11-01": "2026-11-01T00:00:00Z",
		"2026-11-01T02:00:00+02:00": "2026-11-01T00:00:00Z", "2026-11-01 10:30": "2026-11-01T10:30:00Z",
	} {
		if got, err := Parse(now, s); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: got %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"2 fortnights", "-2h", "2026-13-01", "h"} {
		if got, err := Parse(now, s); err == nil {
			t.Errorf("%s: got %v", s, got)
		}
	}
	for d, want := range map[time.Duration]string{0: "just now", 59 * time.Second: "just now", 61 * time.Minute: "1h ago", 800 * 24 * time.Hour: "2y ago", -time.Hour: "in the future"} {
		if got := render.Ago(now, now.Add(-d)); got != want {
			t.Errorf("%v: got %s, want %s", d, got, want)
		}
	}
}

func TestParseExpiry(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 5, time.UTC)
	for s, want := range map[string]string{
		"never": "0001-01-01T00:00:00Z", "12h": "2026-11-22T00:00:00Z", "1h30m": "2026-11-21T13:30:00Z", "90d": "2027-02-19T12:00:00Z",
		"2027-06-30": "2027-06-30T00:00:00Z", "2026-11-21T12:00:01Z": "2026-11-21T12:00:01Z",
	} {
		if got, err := ParseExpiry(now, s); err != nil || got.Format(time.RFC3339) != want {
			t.Errorf("%s: %s %v, want %s", s, got.Format(time.RFC3339), err, want)
		}
	}
	for _, s := range []string{"", "soon", "2026-11-21", "0d", "-1d"} {
		if got, err := ParseExpiry(now, s); err == nil {
			t.Errorf("%q: %s, want an error", s, got)
		}
	}
}

func TestAge(t *testing.T) {
	for s, want := range map[string]time.Duration{"1d": 24 * time.Hour, "2w": 14 * 24 * time.Hour, "3 days": 72 * time.Hour, "1h30m": 90 * time.Minute, "720h": 720 * time.Hour, "1ms": time.Millisecond} {
		var got Age
		if err := got.Set(s); err != nil || time.Duration(got) != want {
			t.Errorf("%q: %s %v, want %s", s, time.Duration(got), err, want)
		}
	}
	for _, s := range []string{"", "d", "-1h", "-1d", "yesterday", "2026-11-20", "99999y"} {
		var got Age
		if err := got.Set(s); err == nil {
			t.Errorf("%q: %s, want an error", s, time.Duration(got))
		}
	}
}
