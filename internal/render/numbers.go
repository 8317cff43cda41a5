package render

import (
	"strconv"
	"strings"
)

// Count returns a number with its noun; the plural is the noun with an s if none is given.
func Count(n int, noun string, plural ...string) string {
	switch {
	case n == 1:
		return "1 " + noun
	case len(plural) > 0:
		return Thousands(n) + " " + plural[0]
	}
	return Thousands(n) + " " + noun + "s"
}

// Thousands formats a number with its digits in groups of three.
func Thousands[N int | int64](n N) string {
	s := strconv.FormatInt(int64(n), 10)
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	if neg {
		return "-" + s
	}
	return s
}
