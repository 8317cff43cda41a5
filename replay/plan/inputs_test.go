package plan

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestInputs has narratives that read what none of their steps makes.
func TestInputs(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  map[string]bool // whether it was certainly there
	}{
		"read by name":              {[]string{"cat a > b", "sort b c > d"}, map[string]bool{"a": true, "c": true}},
		"made by a step":            {[]string{"echo 1 > a", "cat a > b"}, map[string]bool{}},
		"perhaps made by a step":    {[]string{"./gen", "cat a > b"}, map[string]bool{"gen": false}},
		"unpacked by a step":        {[]string{"tar xf t.tar", "cat a > b"}, map[string]bool{"t.tar": false}},
		"of several calls":          {[]string{"test -f a && cat a > b"}, map[string]bool{"a": false}},
		"changed, as was seen":      {[]string{"sed -i s/a/b/ f | f=1>2 ."}, map[string]bool{"f": true}},
		"changed, and nobody saw":   {[]string{"sed -i s/a/b/ f"}, map[string]bool{"f": false}},
		"appended to":               {[]string{"echo a >> f | f=1>2 ."}, map[string]bool{"f": false}},
		"of the machine":            {[]string{"cat /etc/hosts > h"}, map[string]bool{}},
		"read and removed":          {[]string{"cat a > b", "rm a", "sort c > d"}, map[string]bool{"a": true, "c": true}},
		"a tree that is copied":     {[]string{"cp -r src copy"}, map[string]bool{"src": true}},
		"what failed names no file": {[]string{"cat a > b; true"}, map[string]bool{"a": false}},
	} {
		t.Run(name, func(t *testing.T) {
			got := map[string]bool{}
			for _, in := range made(t, watched(c.lines...), Request{}).Inputs {
				got[in.Path[len("/home/ann/app/"):]] = in.Certain
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
