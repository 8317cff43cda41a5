package commands

import (
	"regexp"
	"strings"
)

// recordedTail is the length from which an end of an output may have been cut: exec and replays keep 8 KiB.
const recordedTail = 8<<10 - 64

// incidental are the values of an output that say nothing about what a command did. Other numbers, such as
// those of tests that passed, do say something and stay.
var incidental = []struct {
	of    func() *regexp.Regexp
	place string
}{
	{compiled(`\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b`), "<uuid>"},
	{compiled(`\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +(?:\d{1,2} +)?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*(?: +\d{1,2})?(?: +\d\d:\d\d(?::\d\d)?(?: +[AP]M)?)?(?: +[A-Z]{3,5})?(?: +\d{4})?`), "<date>"},
	{compiled(`\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +\d{1,2} +(?:\d\d:\d\d(?::\d\d)?|\d{4})`), "<date>"},
	{compiled(`\b\d{4}[-/]\d\d[-/]\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?Z| ?[+-]\d\d:?\d\d)?)?`), "<date>"},
	{compiled(`\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?`), "<time>"},
	{compiled(`\b\d+m ?\d+(?:\.\d+)?s\b|\b\d+(?:[.,]\d+)? ?(?:ns|us|µs|ms|s|secs?|seconds?|minutes?|min)\b`), "<took>"},
	{compiled(`\b\d+(?:\.\d+)? ?(?:[kKMGT]i?)?[Bb](?:yte)?s?(?:/s|ps)\b`), "<rate>"},
	{compiled(`(?i)\b(pid|process|ppid|tid)([ =:#]+|\[)\d+`), "$1$2<pid>"},
	{compiled(`(^|[\w.-])\[\d{2,7}\](:|$)`), "$1[<pid>]$2"}, // syslog's, and [1] 4711 of shells below
	{compiled(`^(\[\d+\]) \d+$`), "$1 <pid>"},
	{compiled(`/tmp/[\w.@+-]+|/var/folders/[\w/.+-]+|/var/tmp/[\w.@+-]+|/dev/fd/\d+|/proc/\d+`), "<temporary>"},
	{compiled(`\b(?:localhost|127\.0\.0\.1|\[::1\]):\d{4,5}\b`), "<port>"},
	{compiled(`\b0[xX][0-9a-fA-F]+\b`), hashPlace},
}

// hexRun matches what may be a hash: a letter and a digit tell it from words and numbers.
var hexRun = compiled(`\b[0-9a-f]{7,128}\b`)

// plainOutput removes the incidental values from a line.
func plainOutput(line string) string {
	for _, v := range incidental {
		line = v.of().ReplaceAllString(line, v.place)
	}
	line = hexRun().ReplaceAllStringFunc(line, func(s string) string {
		if strings.ContainsAny(s, "0123456789") && strings.ContainsAny(s, "abcdef") {
			return hashPlace
		}
		return s
	})
	return strings.Join(strings.Fields(line), " ")
}

// partingLine returns the first lines that differ between two ends of outputs after their values are
// taken out. The ends may begin at different places, so lines before what both have in common
// from the end on do not count if one end is at the limit of what is recorded.
func partingLine(was, now string) (a, b string, differs bool) {
	lines := func(s string) (all []string) {
		for line := range strings.Lines(ansi().ReplaceAllString(s, "")) {
			// A progress bar writes over its line; what it wrote last stands there.
			line = strings.TrimSpace(line)
			if i := strings.LastIndexByte(line, '\r'); i >= 0 {
				line = strings.TrimSpace(line[i+1:])
			}
			if line != "" {
				all = append(all, line)
			}
		}
		return all
	}
	x, y := lines(was), lines(now)
	same := func(a, b string) bool { return a == b || plainOutput(a) == plainOutput(b) }
	if cut := len(was) >= recordedTail || len(now) >= recordedTail; cut {
		// Only what both ends hold can be compared; the first line of each may be cut.
		n := max(0, min(len(x), len(y))-1)
		x, y = x[len(x)-n:], y[len(y)-n:]
	}
	for i := range max(len(x), len(y)) {
		switch {
		case i >= len(x):
			return "", y[i], true
		case i >= len(y):
			return x[i], "", true
		case !same(x[i], y[i]):
			return x[i], y[i], true
		}
	}
	return "", "", false
}
