package code

import (
	"strings"
	"testing"
)

func TestSignatureDifference(t *testing.T) {
	fields := strings.Repeat("field int, ", 60)
	for _, c := range []struct{ before, after, was, is string }{
		{"func a(x int)", "func a(x int, y string)", "func a(x int)", "func a(x int, y string)"},
		{"func a(" + fields + "last int)", "func a(" + fields + "last string)", "… field int, last int)", "… field int, last string)"},
		{"func a(b int, " + fields + "c int)", "func a(b bool, " + fields + "c int)", "func a(b int, field int, …", "func a(b bool, field int, …"},
		{"func a(" + fields + "x int, " + fields + ")", "func a(" + fields + fields + ")", "… , field int, x int, field int, field …", "… , field int, field int, field …"},
	} {
		d := signatureDifference(c.before, c.after)
		if d == nil || d.Before != c.was || d.After != c.is {
			t.Errorf("%.40s: got %+v, want %q and %q", c.before, d, c.was, c.is)
		}
	}
	if d := signatureDifference("func a()", "func a()"); d != nil {
		t.Errorf("equal: %+v", d)
	}
}
