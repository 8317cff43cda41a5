package settingsfile

import (
	"strings"
)

// Diff returns the removed and added lines, from the first to the last that differ, with three
// lines of context.
func Diff(before, after string) string {
	a, b := lines(before), lines(after)
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	const around = 3
	var out strings.Builder
	say := func(mark string, ls []string) {
		for _, l := range ls {
			out.WriteString(mark + l + "\n")
		}
	}
	say(" ", a[max(0, head-around):head])
	say("-", a[head:len(a)-tail])
	say("+", b[head:len(b)-tail])
	say(" ", a[len(a)-tail:min(len(a), len(a)-tail+around)])
	return out.String()
}

func lines(s string) []string {
	if s == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(s, "\n"), "\n")
}
