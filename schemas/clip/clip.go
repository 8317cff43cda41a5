// Package clip shortens texts between characters. The programs that shells and agents start use it
// without package schemas, which has all of protobuf.
package clip

import "unicode/utf8"

// Head returns the first bytes of a text, at most n, without a part of a character.
func Head(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// Tail returns the last bytes of a text, at most n, without a part of a character.
func Tail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[len(s)-n:]
	for len(s) > 0 && !utf8.RuneStart(s[0]) {
		s = s[1:]
	}
	return s
}
