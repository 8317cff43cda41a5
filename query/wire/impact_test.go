package wire

import (
	"strings"
	"testing"

	"github.com/recountdb/recount/query/code"
)

// TestPackagesBeyondTheLimitAreCounted checks that an impact lists the packages of the symbols that the
// limit left, and how many there are: one of 700 packages took 77 KB whatever the limit.
func TestPackagesBeyondTheLimitAreCounted(t *testing.T) {
	a := code.ImpactResponse{Groups: []code.ImpactGroup{
		{Package: "near", Count: 9, Least: 0.9, Symbols: []code.Affected{{Symbol: code.Symbol{Name: "near.F", File: "f.go"}}}},
		{Package: "far", Count: 2, Least: 0.5, Symbols: []code.Affected{}},
		{Package: "farther", Count: 1, Least: 0.5, Symbols: []code.Affected{}},
	}}
	p, _ := Of("impact", a)
	text, err := Builtin().EncodeWith(Text, p)
	if got := string(text); err != nil || strings.Contains(got, "far") || !strings.Contains(got, "packages=3") || !strings.Contains(got, "near") {
		t.Errorf("got %s %v", got, err)
	}
}
