package plan

import (
	"testing"
)

// TestMadeAnew has programs of which nothing is known that run again, and what the contents of their files tell.
func TestMadeAnew(t *testing.T) {
	const look, edit = "ls | nothing", "sed -i s/a/b/ gen | gen=1>2"
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"another content after an edit":            {[]string{look, "./gen | +f=1 .", edit, "./gen | f=1>2"}, "1 2 3"},
		"a longer one, and the same once more":     {[]string{look, "./gen | +f=1 .", edit, "./gen; cat f | f=1>22", "./gen | f=22>22"}, "2 3"},
		"two runs of a wrong edit":                 {[]string{look, "./gen | +f=1 .", edit, "./gen | f=1>2", "./gen | f=2>2", "sed -i s/b/a/ gen | gen=2>1", "sed -i s/a/c/ gen | gen=1>3", "./gen | f=2>3"}, "6 7"},
		"a run that adds to what it finds":         {[]string{look, "./gen | +f=1 .", edit, "./gen | f=1>12"}, "1 2 3"},
		"a run that counts":                        {[]string{look, "./gen | +f=1 .", "./gen | f=1>2"}, "1 2"},
		"what was there before":                    {[]string{look, "./gen | f=0>1", edit, "./gen | f=1>2", "./gen | f=2>2"}, "1 2 3"},
		"what another wrote meanwhile":             {[]string{look, "./gen | +f=1 .", "echo x >> f | f=1>2", "./gen | f=2>3", "./gen | f=3>3"}, "1 2 3"},
		"what its own line keeps of it before":     {[]string{look, "./gen | +f=1 .", edit, "cp f old; ./gen | f=1>2 +old=1 ."}, "1 2 3"},
		"other words":                              {[]string{look, "./add a | +f=1 .", "./add b | f=1>12", "./add b | f=12>12"}, "1 2"},
		"what a step reads meanwhile":              {[]string{look, "./gen | +f=1 .", "cp f g | +g=1 .", edit, "./gen | f=1>2"}, "1 2 3 4"},
		"what another run leaves beside it":        {[]string{look, "./gen | +f=1 +h=1 .", edit, "./gen | f=1>2"}, "1 2 3"},
		"a directory that is removed and made":     {[]string{look, "./gen | +s/f=1 +s/g=1 s/ .", edit, "rm -r s && ./gen | s/f=1>22 -s/g s/ ."}, "2 3"},
		"a directory that another program filled":  {[]string{look, "./gen | +s/f=1 s/ .", "./fill | s/g=1 s/", "rm -r s; ./gen | s/f=1>22 -s/g s/ ."}, "3"},
		"what is made after the removal of others": {[]string{look, "./gen | +s/f=1 s/ .", "rm -f s/*.tmp; ./gen | s/f=1>12 s/"}, "1 2"},
	})
}
