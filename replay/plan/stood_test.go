package plan

import "testing"

// TestStoodBefore has removals of what was there before the narrative, or may have been.
func TestStoodBefore(t *testing.T) {
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"beside what came back from an archive": {[]string{
			"rm d/b/1 d/b/2 | d/b/1=1>absent d/b/2=2>absent d/b/", "tar xf s.tar -C d b/1 b/2 | d/b/1=1 d/b/2=2 d/b/", "rm -r d/a d/b/1 | d/a/1=7>absent d/b/1=1>absent d/ d/b/",
		}, "2"},
		"a folder whose files were moved out": {[]string{"(cd in && for f in *; do mv $f $f.x; done) | -in/a in/a.x=1 in/", "mv in/* . | -in/a.x a.x=1 in/ .", "rmdir in | ."}, "0 1 2"},
		"a file that was edited":              {[]string{"sed -i s/a/b/ f | f=1>2", "rm f | f=2>absent ."}, "1"},
		"a file of a folder that was moved":   {[]string{"mkdir d && echo a > d/a | d/a=1 d/ .", "mv d e | -d/a .", "rm -r e | -e/a .", "echo x > h | h=1 ."}, "3"},
		"a file that a step made":             {[]string{"./gen > out | out=1 .", "rm out | out=1>absent .", "echo x > h | h=1 ."}, "2"},
	})
}
