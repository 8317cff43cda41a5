package spelling

import (
	"strings"
	"testing"
)

func TestDistance(t *testing.T) {
	long := strings.Repeat("kubernetes", 10)
	for _, c := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 1, 0},
		{"docker", "docker", 1, 0},
		{"dokcer", "docker", 1, 1}, // swapped
		{"doker", "docker", 1, 1},
		{"dockerr", "docker", 1, 1},
		{"dacker", "docker", 1, 1},
		{"dokcre", "docker", 2, 2},
		{"kitten", "sitting", 3, 3},
		{"kitten", "sitting", 2, 3}, // more than the limit
		{"", "abc", 2, 3},
		{"abc", "", 3, 3},
		{long, long[1:], 2, 1},
		{long, strings.ToUpper(long), 2, 3},
	} {
		if got := Distance(c.a, c.b, c.limit); got != c.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", c.a, c.b, c.limit, got, c.want)
		}
		if got := Distance(c.b, c.a, c.limit); got != c.want {
			t.Errorf("Distance(%q, %q, %d) = %d, want %d", c.b, c.a, c.limit, got, c.want)
		}
	}
}
