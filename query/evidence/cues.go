package evidence

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// cues are what a question's words ask for besides what they search for.
type cues struct {
	// from is the beginning of the range of time that the words name, 0 for none; fromWord
	// are these words.
	from     int64
	fromWord string
	// newest says that they ask for what is new: "latest".
	newest string
	// failing says that they ask why something fails.
	failing string
	// remedy says that they ask what was done about something.
	remedy string
}

var (
	agoCue    = regexp.MustCompile(`\b(?:in|within|over|during|for)? ?the (?:last|past) (\d{1,4} )?(minute|hour|day|week|month)s?\b|\b(\d{1,4}) (minute|hour|day|week|month)s? ago\b`)
	dayCue    = regexp.MustCompile(`\b(since|from|after)? ?(today|yesterday|this week|last week)\b`)
	newestCue = regexp.MustCompile(`\b(latest|newest|most recent|recently|just now)\b`)
	whyCue    = regexp.MustCompile(`\b(why|what (?:caused|causes|broke|breaks|made)|root cause|reason)\b`)
	remedyCue = regexp.MustCompile(`\b(fix(?:ed|es)?|put right|mend(?:ed|s)?|remed\w+|solv\w+|solution|resolv\w+|patch\w*|repair\w*|work(?:ed)? ?around|came of|did (?:it|that) help|what (?:was|did|has|have) .*\bchange[ds]?)\b`)
	failCue   = regexp.MustCompile(`\b(fail\w*|error\w*|broke\w*|breaks?|crash\w*|down|slow\w*|time[sd]? ?out|timeouts?|panic\w*|exception\w*|5\d\d)\b`)
)

// readCues reads a text, at a moment in nanoseconds since 1970 (UTC is where its days
// begin).
func readCues(text string, moment int64) cues {
	var c cues
	low := strings.ToLower(text)
	now := time.Unix(0, moment).UTC()
	day := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	if m := dayCue.FindStringSubmatch(low); m != nil {
		monday := day.AddDate(0, 0, -(int(day.Weekday())+6)%7)
		from := map[string]time.Time{"today": day, "yesterday": day.AddDate(0, 0, -1), "this week": monday, "last week": monday.AddDate(0, 0, -7)}[m[2]]
		c.from, c.fromWord = from.UnixNano(), strings.TrimSpace(m[0])
	} else if m := agoCue.FindStringSubmatch(low); m != nil {
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
	c.newest = newestCue.FindString(low)
	if why := whyCue.FindString(low); why != "" {
		if fails := failCue.FindString(low); fails != "" {
			c.failing = why + " … " + fails
		}
	}
	c.remedy = remedyCue.FindString(low)
	return c
}
