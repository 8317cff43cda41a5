package evidence

import (
	"testing"
	"time"
)

func TestSpanOf(t *testing.T) {
	// A Wednesday, in a zone whose day began two hours before UTC's.
	now := time.Date(2026, 11, 25, 15, 30, 0, 0, time.FixedZone("", 2*60*60))
	for _, c := range []struct{ text, from, until string }{
		{"what failed yesterday", "2026-11-24T00:00", "2026-11-25T00:00"},
		{"what did we decide the day before yesterday", "2026-11-23T00:00", "2026-11-24T00:00"},
		{"what broke since yesterday", "2026-11-24T00:00", ""},
		{"Why does checkout fail since yesterday?", "", ""},
		{"deploys before today", "", "2026-11-25T00:00"},
		{"who changed it after last week", "2026-11-23T00:00", ""},
		{"Last week's findings", "2026-11-16T00:00", "2026-11-23T00:00"},
		{"plans of this month", "2026-11-01T00:00", "2026-12-01T00:00"},
		{"errors this morning", "2026-11-25T00:00", "2026-11-25T12:00"},
		{"what happened last night", "2026-11-24T18:00", "2026-11-25T06:00"},
		{"what did the agent do on Monday", "2026-11-23T00:00", "2026-11-24T00:00"},
		{"what did the agent do on wednesday", "2026-11-18T00:00", "2026-11-19T00:00"},
		{"tests since last friday", "2026-11-20T00:00", ""},
		{"3 days ago", "2026-11-22T00:00", "2026-11-23T00:00"},
		{"two weeks ago", "2026-11-09T00:00", "2026-11-16T00:00"},
		{"an hour ago", "2026-11-25T13:30", "2026-11-25T15:30"},
		{"in the last 2 hours", "2026-11-25T13:30", ""},
		{"over the past week", "2026-11-18T15:30", ""},
		{"the last test that failed", "", ""},
		{"birthday of Monday", "", ""},
		{"todays", "", ""},
	} {
		s, ok := spanOf(c.text, now)
		of := func(t time.Time) string {
			if t.IsZero() {
				return ""
			}
			return t.Format("2006-01-02T15:04")
		}
		if of(s.from) != c.from || of(s.until) != c.until || ok != (c.from+c.until != "") {
			t.Errorf("%q: %s to %s, want %s to %s", c.text, of(s.from), of(s.until), c.from, c.until)
		}
	}
}
