package commands

import (
	"fmt"
	"strings"
	"testing"
)

func TestAlign(t *testing.T) {
	for name, tc := range map[string]struct{ a, b, want string }{
		"nothing":                    {"", "", ""},
		"one side":                   {"", "xy", "-x -y"},
		"equal":                      {"abc", "abc", "aa bb cc"},
		"one more":                   {"abc", "abxc", "aa bb -x cc"},
		"one less":                   {"abc", "ac", "aa b- cc"},
		"another":                    {"abc", "axc", "aa b- -x cc"},
		"a capital is nearly alike":  {"abc", "aBc", "aa bB cc"},
		"the better pair":            {"b", "Bb", "-B bb"},
		"the better pair, first":     {"b", "bB", "bb -B"},
		"as late as can be":          {"a", "aa", "-a aa"},
		"order is kept":              {"ab", "ba", "a- bb -a"},
		"only a before only b":       {"xy", "uv", "x- y- -u -v"},
		"two nearly beat one wholly": {"ab", "Bab", "-B aa bb"},
	} {
		score := func(i, j int) int32 {
			switch {
			case tc.a[i] == tc.b[j]:
				return 3
			case strings.EqualFold(tc.a[i:i+1], tc.b[j:j+1]):
				return 2
			}
			return 0
		}
		var got []string
		for _, p := range align(len(tc.a), len(tc.b), score) {
			x, y := "-", "-"
			if p.a >= 0 {
				x = tc.a[p.a : p.a+1]
			}
			if p.b >= 0 {
				y = tc.b[p.b : p.b+1]
			}
			got = append(got, x+y)
		}
		if s := fmt.Sprint(strings.Join(got, " ")); s != tc.want {
			t.Errorf("%s: got %q, want %q", name, s, tc.want)
		}
	}
}
