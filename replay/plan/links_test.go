package plan

import "testing"

// TestThroughLinks has what acts do below symbolic links: it concerns the files that the links lead to.
func TestThroughLinks(t *testing.T) {
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"a link in a linked directory that a file replaces": {[]string{
			"mkdir rel/3 && cp -r rel/2/. rel/3/ | rel/3/v=1 rel/3/ rel/", "ln -sfn rel/3 current | .",
			"rm current/cfg | rel/3/", "echo local > current/cfg | rel/3/cfg=1 rel/3/",
		}, "0 1 2 3"},
		"a link of which nothing is known":              {[]string{"rm old/cfg | rel/3/", "echo local > old/cfg | rel/3/cfg=1 rel/3/"}, "0 1"},
		"a file that is not there":                      {[]string{"rm -f a | nothing", "echo local > a | a=1 ."}, "1"},
		"what is written there is read by its own name": {[]string{"ln -s rel/2 current | .", "echo a > current/f | rel/2/f=1 rel/2/", "cp rel/2/f g | g=1 .", "rm -r rel current | -rel/2/f rel/ ."}, "0 1 2 3"},
		"what is read there is written by its own name": {[]string{"mkdir -p rel/2 | rel/2/ rel/ .", "echo a > rel/2/f | rel/2/f=1 rel/2/", "ln -sT rel/2 current | .", "cp current/f g | g=1 .", "rm -r rel current | -rel/2/f rel/ ."}, "0 1 2 3 4"},
		"a link that leads elsewhere later":             {[]string{"ln -sfn rel/1 current | .", "cat current/v > one | one=1 .", "ln -sfn rel/2 current | .", "cat current/v > two | two=1 ."}, "0 1 2 3"},
		"a copy of what is behind a link":               {[]string{"ln -s rel/2 current | .", "echo a > current/f | rel/2/f=1 rel/2/", "cp -r current/. rel/3 | rel/3/f=1 rel/3/ rel/", "rm -r rel/2 current | -rel/2/f rel/ ."}, "0 1 2 3"},
		"what is written through it":                    {[]string{"echo a > f", "ln -s f l", "echo b > l", "cat f > g", "rm f l"}, "0 1 2 3 4"},
		"a link that sed made a file of":                {[]string{"echo a > f", "ln -s f l", "sed -i s/a/b/ l", "echo c >> l", "cat f > g", "rm l"}, "0 4"},
		"a link that was seen in a directory":           {[]string{"ln -s ../f d | d/f=1 d/", "echo a > d/f | f=1", "cat f > g", "rm f"}, "0 1 2 3"},
		"one that was made in what a link leads to":     {[]string{"ln -s 1 l | l=1 .", "ln -s 2 l | 1/2=1 1/", "echo a > l/f | 1/f=1 1/", "cat 1/f > g | g=1 .", "rm -r 1 l | -1/f -1/2 1/ ."}, "0 1 2 3 4"},
		"one that was there before":                     {[]string{"echo a >> rel/1/v | rel/1/v=1>2", "cp current/v f | f=1 .", "echo b >> current/v | rel/1/v=2>3", "rm -r rel | -rel/1/v ."}, "0 1 3"},
		"one that was there before, of a file":          {[]string{"echo a >> shared | shared=1>2", "cp app.cfg f | f=1 .", "echo b > app.cfg | shared=2>3", "cp shared g | g=3 .", "echo c > shared | shared=3>4"}, "0 1 2 3 4"},
		"one that was there and is turned":              {[]string{"echo b >> current/v | rel/1/v=2>3", "ln -sfn rel/2 current | current=1 .", "echo a > rel/1/v | rel/1/v=3>4", "cp current/v f | f=1 ."}, "1 2 3"},
		"what is written behind one that was turned":    {[]string{"ln -sfn 1 l", "ln -sfn 2 l", "echo a > l/f", "cat 2/f > g", "rm -r 2 l"}, "1 2 3 4"},
		"links in a circle":                             {[]string{"ln -s b a | .", "ln -s a b | .", "cat a/v > one; true | one=1 ."}, "0 1 2"},
	})
}
