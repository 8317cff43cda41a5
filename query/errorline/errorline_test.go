package errorline

import (
	"strings"
	"testing"
)

func TestIn(t *testing.T) {
	plain, prefixed := Parse("failed can't", ""), Parse("failed", "assert")
	for _, c := range []struct {
		line            string
		plain, prefixed bool
	}{
		{"", false, false},
		{"all is well", false, false},
		{"FAILED: 3 of 4", true, true},
		{"1 test failed", true, true},
		{"unfailed", false, false},
		{"I can't", true, false},
		{"ValueError: x", true, true},
		{"java.lang.IllegalStateException", true, true},
		{"errors", false, false},
		{"assertion of x", false, true},
		{strings.Repeat("x", 100) + "error", true, true},
		{strings.Repeat("x", 100), false, false},
	} {
		if got := plain.In(c.line); got != c.plain {
			t.Errorf("%q: %v without a beginning, want %v", c.line, got, c.plain)
		}
		if got := prefixed.In(c.line); got != c.prefixed {
			t.Errorf("%q: %v with a beginning, want %v", c.line, got, c.prefixed)
		}
	}
	line := strings.Repeat("nothing of note ", 20)
	if n := testing.AllocsPerRun(10, func() { plain.In(line) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
