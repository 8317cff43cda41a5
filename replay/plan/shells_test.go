package plan

import (
	"slices"
	"testing"
)

// TestLinesOfFish plans a session of fish: what later lines need of its shell is kept, and nothing is dangerous that would
// not be in bash.
func TestLinesOfFish(t *testing.T) {
	n := narrative("mkdir pkg", "set -gx MODE prod", "set other 1", "echo $MODE > pkg/mode", "for i in 1 2; echo $i > f$i; end", "tar cf p.tar pkg; and rm -r pkg", "string replace a b < f1 > g")
	for i := range n.Commands {
		n.Commands[i].Shell = "fish"
	}
	p := made(t, n, Request{})
	var kept []string
	for _, s := range p.Steps {
		kept = append(kept, s.Command)
		if len(s.Danger)+len(s.Asks) > 0 {
			t.Errorf("%s: %v %v", s.Command, s.Danger, s.Asks)
		}
	}
	if want := []string{"mkdir pkg", "set -gx MODE prod", "echo $MODE > pkg/mode", "for i in 1 2; echo $i > f$i; end", "tar cf p.tar pkg; and rm -r pkg", "string replace a b < f1 > g"}; !slices.Equal(kept, want) {
		t.Errorf("got %q", kept)
	}
}

// TestUnreadIsKept has lines that cannot be parsed, and that nobody looked at.
func TestUnreadIsKept(t *testing.T) {
	for _, lines := range [][]string{{"for i in (", "echo end > end"}, {"echo a > a", "for i in ("}} {
		if p := made(t, narrative(lines...), Request{}); len(p.Steps) != 2 {
			t.Errorf("%q: %d steps, %v", lines, len(p.Steps), p.Left)
		}
	}
}

// TestDirectoriesOfLines has a stack of directories over several lines.
func TestDirectoriesOfLines(t *testing.T) {
	for want, lines := range map[string][]string{
		"0 1 2": {"mkdir a b", "pushd a; pushd ../b", "echo o > o1; popd"},
		"0 2":   {"mkdir a b", "pushd a", "echo o > o1"},
		"0 1 3": {"mkdir a b", "pushd a", "pushd ../b; ls; popd", "dirs | wc -w > nd"},
	} {
		n := narrative(lines...)
		got := ""
		for _, s := range made(t, n, Request{}).Steps {
			i := slices.IndexFunc(lines, func(l string) bool { return l == s.Command })
			if got != "" {
				got += " "
			}
			got += string(rune('0' + i))
		}
		if got != want {
			t.Errorf("%q: %s, want %s", lines, got, want)
		}
	}
}
