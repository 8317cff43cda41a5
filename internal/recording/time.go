package recording

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"time"
)

// ParseTime parses an RFC 3339 time, or seconds since 1970 with an optional fraction.
func ParseTime(s string) (time.Time, error) {
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t.UTC(), nil
	}
	whole, frac, _ := strings.Cut(s, ".")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil || len(frac) > 9 || strings.Trim(frac, "0123456789") != "" || sec > math.MaxInt64/int64(time.Second) {
		return time.Time{}, errors.New("want an RFC 3339 time such as 2026-11-20T12:00:00Z, or seconds since 1970 such as 1795176000.25")
	}
	nsec, _ := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	return time.Unix(sec, nsec).UTC(), nil
}
