package query

import (
	"testing"
	"time"
)

// TestTookIsWrittenAsPeopleDo checks durations of all sizes, also those that round to the next unit.
func TestTookIsWrittenAsPeopleDo(t *testing.T) {
	for d, want := range map[time.Duration]string{
		149*time.Hour + 49*time.Minute: "6d 6h",
		149*time.Hour + 10*time.Minute: "6d 5h",
		48 * time.Hour:                 "2d",
		1000 * 24 * time.Hour:          "1,000d", 99*24*time.Hour + 5*time.Hour: "99d 5h",
		23*time.Hour + 20*time.Minute:                  "23h 20m",
		23*time.Hour + 59*time.Minute + 50*time.Second: "1d",
		2 * time.Hour: "2h",
		59*time.Minute + 59*time.Second + 900*time.Millisecond: "1h",
		100 * time.Second:                     "1m 40s",
		time.Minute:                           "1m",
		59*time.Second + 700*time.Millisecond: "59.7s", 59*time.Second + 990*time.Millisecond: "1m", 59*time.Minute + 30*time.Second: "59m 30s",
		12345 * time.Millisecond: "12.3s",
		1234 * time.Millisecond:  "1.23s",
		time.Second:              "1s",
		40 * time.Millisecond:    "40ms",
		0:                        "0s",
	} {
		if got := Took(d); got != want {
			t.Errorf("%v: got %s, want %s", time.Duration(d), got, want)
		}
	}
}
