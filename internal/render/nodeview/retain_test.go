package nodeview

import "testing"

func TestLimits(t *testing.T) {
	for rule, want := range map[string]string{
		"age 24h0m0s":                         "age 1d",
		"age 36h0m0s, size 10737418240 bytes": "age 1d 12h, size 10737418240 bytes",
		"size 0 bytes":                        "size 0 bytes",
	} {
		if got := limits(rule); got != want {
			t.Errorf("%q: %q; want %q", rule, got, want)
		}
	}
}
