package runtimeview

import (
	"testing"
)

func TestPercent(t *testing.T) {
	for share, want := range map[float64]string{1: "100 %", 0.9999: "more than 99 %", 0.994: "99 %", 0.21: "21 %", 0.0996: "10 %", 0.05: "5 %", 0.0123: "1.2 %", 0.0001: "0.01 %"} {
		if got := percent(share); got != want {
			t.Errorf("%g: %q, want %q", share, got, want)
		}
	}
}
