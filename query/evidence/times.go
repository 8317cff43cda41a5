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
	monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
	month := day.AddDate(0, 0, 1-day.Day())
	limit := ""
	switch {
	case spanDay.word(low) != "":
		m := spanDay.matches(low)
		s.phrase, limit = m[0], m[1]
		switch m[2] {
		case "the day before yesterday":
			s.from, s.until = day.AddDate(0, 0, -2), day.AddDate(0, 0, -1)
		case "yesterday":
			s.from, s.until = day.AddDate(0, 0, -1), day
		case "today":
			s.from, s.until = day, day.AddDate(0, 0, 1)
		case "this morning":
			s.from, s.until = day, day.Add(12*time.Hour)
		case "last night":
			s.from, s.until = day.Add(-6*time.Hour), day.Add(6*time.Hour)
		case "this week":
			s.from, s.until = monday, monday.AddDate(0, 0, 7)
		case "last week":
			s.from, s.until = monday.AddDate(0, 0, -7), monday
		case "this month":
			s.from, s.until = month, month.AddDate(0, 1, 0)
		case "last month":
			s.from, s.until = month.AddDate(0, -1, 0), month
		}
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
		switch m[2] {
		case "minute", "hour": // about then
			one := map[string]time.Duration{"minute": time.Minute, "hour": time.Hour}[m[2]]
			at := now.Add(-time.Duration(n) * one)
			s.from, s.until = at.Add(-one*time.Duration(max(1, n/4))), at.Add(one*time.Duration(max(1, n/4)))
		case "day":
			s.from = day.AddDate(0, 0, -n)
			s.until = s.from.AddDate(0, 0, 1)
		case "week":
			s.from = monday.AddDate(0, 0, -7*n)
			s.until = s.from.AddDate(0, 0, 7)
		case "month":
			s.from = month.AddDate(0, -n, 0)
			s.until = s.from.AddDate(0, 1, 0)
		}
	case spanLast.word(low) != "":
		m := spanLast.matches(low)
		s.phrase = m[0]
		n := 1
		if m[1] != "" {
			n, _ = strconv.Atoi(strings.TrimSpace(m[1]))
		}
		switch m[2] {
		case "minute", "hour":
			s.from = now.Add(-time.Duration(n) * map[string]time.Duration{"minute": time.Minute, "hour": time.Hour}[m[2]])
		case "day":
			s.from = now.AddDate(0, 0, -n)
		case "week":
			s.from = now.AddDate(0, 0, -7*n)
		case "month":
			s.from = now.AddDate(0, -n, 0)
		}
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
