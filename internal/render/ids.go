package render

import (
	"bytes"
	"slices"
	"strings"

	"github.com/recountdb/recount/schemas"
)

// The minimum digits of an abbreviated id: as many as git uses; for an id that begins with its time
// (UUIDv7), enough to include the whole millisecond.
const (
	minIDDigits     = 7
	minTimeIDDigits = 12
)

// Abbreviate returns for each id the shortest prefix that no other id has.
func Abbreviate(ids []schemas.EventID) map[schemas.EventID]string {
	sorted := slices.Clone(ids)
	slices.SortFunc(sorted, func(a, b schemas.EventID) int { return bytes.Compare(a[:], b[:]) })
	sorted = slices.Compact(sorted)
	short := make(map[schemas.EventID]string, len(sorted))
	for i, id := range sorted {
		n := minIDDigits
		if id[6]>>4 == 7 {
			n = minTimeIDDigits
		}
		for _, other := range []int{i - 1, i + 1} {
			if other >= 0 && other < len(sorted) {
				n = max(n, commonDigits(id, sorted[other])+1)
			}
		}
		short[id] = firstDigits(id, n)
	}
	return short
}

// commonDigits returns the number of leading digits that two ids share.
func commonDigits(a, b schemas.EventID) int {
	for i := range a {
		if x := a[i] ^ b[i]; x >= 0x10 {
			return 2 * i
		} else if x > 0 {
			return 2*i + 1
		}
	}
	return 2 * len(a)
}

// firstDigits returns the first n digits of an id's text, not counting hyphens.
func firstDigits(id schemas.EventID, n int) string {
	s := id.String()
	for i, r := range s {
		if r == '-' {
			continue
		}
		if n == 0 {
			return strings.TrimSuffix(s[:i], "-")
		}
		n--
	}
	return s
}
