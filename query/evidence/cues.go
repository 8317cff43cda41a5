package evidence

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/recountdb/recount/internal/lazyregexp"
)

// cues are the intentions that a question's words express besides the search terms.
type cues struct {
	// from is the beginning of the time range that the text names, 0 for none; fromWord is the
	// phrase.
	from     int64
	fromWord string
	// newest is the phrase that asks for recent objects, such as "latest".
	newest string
	// why is the phrase that asks for a reason.
	why string
	// failing is the phrase that asks about a failure.
	failing string
	// remedy is the phrase that asks what was done about something.
	remedy string
}

// questionPattern is a regular expression and a list of literals. Every match contains at least one of the
// literals, so the cheap literal test runs first; few questions pass it.
type questionPattern struct {
	*lazyregexp.Regexp
	words []string
}

func newQuestionPattern(pattern string, words ...string) questionPattern {
	return questionPattern{lazyregexp.New(pattern), words}
}

// matches returns the match and its groups in a text in lower case, or nil.
func (c questionPattern) matches(low string) []string {
	if !slices.ContainsFunc(c.words, func(w string) bool { return strings.Contains(low, w) }) {
		return nil
	}
	return c.FindStringSubmatch(low)
}

// without returns a text in lower case without the matches.
func (c questionPattern) without(low string) string {
	if c.word(low) == "" {
		return low
	}
	return c.ReplaceAllString(low, "")
}

// word returns the match in a text in lower case, or "".
func (c questionPattern) word(low string) string {
	if m := c.matches(low); m != nil {
		return m[0]
	}
	return ""
}

var (
	agoCue    = newQuestionPattern(`\b(?:in|within|over|during|for)? ?the (?:last|past) (\d{1,4} )?(minute|hour|day|week|month)s?\b|\b(\d{1,4}) (minute|hour|day|week|month)s? ago\b`, "last ", "past ", " ago")
	dayCue    = newQuestionPattern(`\b(since|from|after)? ?(today|yesterday|this week|last week)\b`, "today", "yesterday", "week")
	newestCue = newQuestionPattern(`\b(latest|newest|most recent|recently|just now)\b`, "latest", "newest", "recent", "just now")
	whyCue    = newQuestionPattern(`\b(why|what (?:caused|causes|broke|breaks|made|went wrong)|root cause|reason)\b`, "why", "what ", "root cause", "reason")
	// timeClause is what says when: "after the fix", "before it was changed".
	timeClause = newQuestionPattern(`\b(?:after|before|since|until|once)\b[^,;:.?!]*`, "after", "before", "since", "until", "once")
	remedyCue  = newQuestionPattern(`\b(fix(?:ed|es)?|put right|mend(?:ed|s)?|remed\w+|solv\w+|solution|resolv\w+|patch\w*|repair\w*|work(?:ed)? ?around|came of|did (?:it|that) help|what (?:was|did|has|have) .*\bchange[ds]?)\b`, "fix", "right", "mend", "remed", "solv", "solution", "patch", "repair", "around", "came of", "help", "change")
	failCue    = newQuestionPattern(`\b(fail\w*|error\w*|broke\w*|breaks?|crash\w*|down|slow\w*|time[sd]? ?out|timeouts?|panic\w*|exception\w*|5\d\d)\b`, "fail", "error", "broke", "break", "crash", "down", "slow", "time", "panic", "exception", "5")
)

// readCues finds the cues in a text. moment is in nanoseconds since 1970; days begin at midnight
// UTC.
func readCues(text string, moment int64) cues {
	var c cues
	low := strings.ToLower(text)
	now := time.Unix(0, moment).UTC()
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	if m := dayCue.matches(low); m != nil {
		monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
		from := map[string]time.Time{"today": day, "yesterday": day.AddDate(0, 0, -1), "this week": monday, "last week": monday.AddDate(0, 0, -7)}[m[2]]
		c.from, c.fromWord = from.UnixNano(), strings.TrimSpace(m[0])
	} else if m := agoCue.matches(low); m != nil {
		n, unit := 1, m[2]
		if count := strings.TrimSpace(m[1] + m[3]); count != "" {
			n, _ = strconv.Atoi(count)
		}
		if m[4] != "" {
			unit = m[4]
		}
		hour := time.Hour
		one := map[string]time.Duration{"minute": time.Minute, "hour": hour, "day": 24 * hour, "week": 7 * 24 * hour, "month": 30 * 24 * hour}[unit]
		c.from, c.fromWord = moment-int64(n)*int64(one), strings.TrimSpace(m[0])
	}
	c.newest = newestCue.word(low)
	if c.why = whyCue.word(low); c.why != "" {
		if fails := failCue.word(low); fails != "" {
			c.failing = c.why + " … " + fails
		}
	}
	c.remedy = remedyCue.word(timeClause.without(low))
	return c
}
