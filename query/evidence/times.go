package evidence

import (
	"strconv"
	"strings"
	"time"
)

// span is a time that a text names: from its beginning to before its end, each zero if it is open.
type span struct {
	from, until time.Time
	// phrase are the words that name it.
	phrase string
}

var (
	asksWhy     = newQuestionPattern(`^\s*why\b`, "why")
	spanAgo     = newQuestionPattern(`\b(\d{1,4}|an?|one|two|three) (minute|hour|day|week|month)s? ago\b`, " ago")
	spanLast    = newQuestionPattern(`\b(?:in|within|over|during|for)? ?the (?:last|past) (\d{1,4} )?(minute|hour|day|week|month)s?\b`, "last ", "past ")
	spanDay     = newQuestionPattern(`\b(since |from |after |before |until )?(the day before yesterday|yesterday|today|this (?:morning|week|month)|last (?:night|week|month))\b`, "yesterday", "today", "this ", "last ")
	spanWeekday = newQuestionPattern(`\b(since |from |after |before |until |on |last )(?:last )?(monday|tuesday|wednesday|thursday|friday|saturday|sunday)s?\b`, "day")
)

var smallNumbers = map[string]int{"a": 1, "an": 1, "one": 1, "two": 2, "three": 3}

// spanOf returns the time that a text names, relative to now, and false if it names none or asks why. Days and
// weeks, which begin on Monday, are those of now's zone. "On Monday" is the last Monday before today.
func spanOf(text string, now time.Time) (s span, ok bool) {
	low := strings.ToLower(text)
	if asksWhy.word(low) != "" {
		return s, false // causes may be earlier
	}
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, now.Location())
	limit := ""
	switch {
	case spanDay.word(low) != "":
		m := spanDay.matches(low)
		s.phrase, limit = m[0], m[1]
		s.from, s.until = daysNamed(m[2], day)
	case spanWeekday.word(low) != "":
		m := spanWeekday.matches(low)
		s.phrase, limit = m[0], m[1]
		s.from = day.AddDate(0, 0, -1)
		for !strings.EqualFold(s.from.Weekday().String(), m[2]) {
			s.from = s.from.AddDate(0, 0, -1)
		}
		s.until = s.from.AddDate(0, 0, 1)
	case spanAgo.word(low) != "":
		m := spanAgo.matches(low)
		s.phrase = m[0]
		n := smallNumbers[m[1]]
		if n == 0 {
			n, _ = strconv.Atoi(m[1])
		}
		if m[2] == "minute" || m[2] == "hour" { // about then
			at, about := before(now, n, m[2]), max(1, n/4)
			s.from, s.until = before(at, about, m[2]), before(at, -about, m[2])
			break
		}
		s.from = before(first(day, m[2]), n, m[2])
		s.until = before(s.from, -1, m[2])
	case spanLast.word(low) != "":
		m := spanLast.matches(low)
		s.phrase = m[0]
		n := 1
		if m[1] != "" {
			n, _ = strconv.Atoi(strings.TrimSpace(m[1]))
		}
		s.from = before(now, n, m[2])
	default:
		return s, false
	}
	switch strings.TrimSpace(limit) {
	case "since", "from":
		s.until = time.Time{}
	case "after":
		s.from, s.until = s.until, time.Time{}
	case "before", "until":
		s.from, s.until = time.Time{}, s.from
	}
	s.phrase = strings.TrimSpace(s.phrase)
	return s, true
}

// daysNamed returns the days of such a name as "last week", of which day is today.
func daysNamed(name string, day time.Time) (from, until time.Time) {
	switch name {
	case "the day before yesterday":
		return before(day, 2, "day"), before(day, 1, "day")
	case "yesterday":
		return before(day, 1, "day"), day
	case "today":
		return day, before(day, -1, "day")
	case "this morning":
		return day, before(day, -12, "hour")
	case "last night":
		return before(day, 6, "hour"), before(day, -6, "hour")
	}
	which, unit, _ := strings.Cut(name, " ") // this or last, week or month
	from = first(day, unit)
	if which == "last" {
		from = before(from, 1, unit)
	}
	return from, before(from, -1, unit)
}

// first returns the first day of the week or month of a day, which is its own.
func first(day time.Time, unit string) time.Time {
	switch unit {
	case "week":
		return day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	case "month":
		return day.AddDate(0, 0, 1-day.Day())
	}
	return day
}

// before returns the time n units before another.
func before(t time.Time, n int, unit string) time.Time {
	switch unit {
	case "minute":
		return t.Add(-time.Duration(n) * time.Minute)
	case "hour":
		return t.Add(-time.Duration(n) * time.Hour)
	case "week":
		return t.AddDate(0, 0, -7*n)
	case "month":
		return t.AddDate(0, -n, 0)
	}
	return t.AddDate(0, 0, -n)
}

// NamesTime reports whether a text names a time relative to now, such as "yesterday" or "on Monday".
// Such a time is a filter if the request says what now is (Request.At).
func NamesTime(text string) bool {
	_, ok := spanOf(text, time.Unix(0, 0).UTC())
	return ok
}

// limitTime makes a filter of the time that the text names, if the request gives a now to which it is
// relative and no limits of its own. Otherwise such words only prefer new objects (plan.go), since the
// time of the newest object may be far from when the question is asked.
func (a *session) limitTime() {
	r := &a.r
	now := r.At
	if now.IsZero() {
		now = r.AsOf.Time
	}
	if now.IsZero() || !r.Since.IsZero() || !r.Until.IsZero() {
		return
	}
	s, ok := spanOf(r.Text, now)
	if !ok {
		return
	}
	r.Since, r.Until = s.from, s.until
	in := map[string]string{"phrase": s.phrase, "now": now.Format(time.RFC3339Nano)}
	for name, t := range map[string]time.Time{"since": s.from, "until": s.until} {
		if !t.IsZero() {
			in[name] = t.UTC().Format(time.RFC3339Nano)
		}
	}
	a.Step(Step{Operator: "time", Why: "the text names a time", Inputs: in})
}
