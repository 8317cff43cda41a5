package plan

import (
	"slices"
	"testing"

	"github.com/recountdb/recount/replay"
)

// TestSwapped has directories that take the place of others: that one is there proves no step that removed the other,
// nor the one that put it there.
func TestSwapped(t *testing.T) {
	for name, c := range map[string]struct {
		lines    []string
		unproved []int
	}{
		"made anew":              {[]string{"rm -rf build | build/old=1>absent build/ .", "mkdir build | build/ .", "cp t.c build/ | build/t.c=1 build/"}, []int{0, 1, 2}},
		"made anew, in one line": {[]string{"rm -rf build && mkdir build | build/old=1>absent build/ .", "cp t.c build/ | build/t.c=1 build/"}, []int{0}},
		"a copy with more":       {[]string{"mkdir d && touch d/a | d/a=1 d/ .", "cp -r d new | new/a=1 new/ .", "echo b > new/b | new/b=1 new/", "rm -r d && mv new d | d/a=1>absent new/a=1>absent new/b=1>absent ."}, []int{3}},
		"two that change places": {[]string{"mkdir -p d e", "mv d t && mv e d && mv t e | ."}, []int{1}},
		"a file in its place":    {[]string{"rm a | a=1>absent .", "echo b > a | a=2 ."}, nil},
		"only made":              {[]string{"mkdir build | build/ .", "cp t.c build/ | build/t.c=1 build/"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := made(t, watched(c.lines...), Request{})
			if len(p.Steps) != len(c.lines) {
				t.Fatalf("kept %s", kept(p))
			}
			for i, s := range p.Steps {
				none := slices.ContainsFunc(s.Post, func(p replay.Postcondition) bool {
					return p.Kind == replay.PostNone
				})
				if none != slices.Contains(c.unproved, i) {
					t.Errorf("%q: %v", s.Original, s.Post)
				}
			}
		})
	}
}
