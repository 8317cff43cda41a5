package plan

import "testing"

// TestNamesOfOneFile has files with several names, which ln gives them: what is written under one is read under each,
// until one of them becomes a file of its own.
func TestNamesOfOneFile(t *testing.T) {
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"written under the new name":       {[]string{"ln a b", "echo x >> b", "cat a > c", "rm a b"}, "0 1 2 3"},
		"written under the old one":        {[]string{"ln a b", "echo x >> a", "cat b > c", "rm a b"}, "0 1 2 3"},
		"written as a whole":               {[]string{"ln a b", "echo x > b", "cat a > c", "rm a b"}, "0 1 2 3"},
		"by a third name":                  {[]string{"ln a b", "ln b d", "echo x >> d", "cat a > c", "rm a b d"}, "0 1 2 3 4"},
		"in a directory":                   {[]string{"mkdir d", "ln a d", "echo x >> d/a", "cat a > c", "rm -r a d"}, "0 1 2 3 4"},
		"after one was moved":              {[]string{"ln a b", "mv b d", "echo x >> d", "cat a > c", "rm a d"}, "0 1 2 3 4"},
		"in a tree of links":               {[]string{"cp -al t u", "echo x >> u/f", "cat t/f > c", "rm -r t u"}, "0 1 2 3"},
		"by a program that nobody knows":   {[]string{"ln a b", "./gen -o b | a=1 b=1", "cat a > c", "rm a b"}, "0 1 2 3"},
		"one that another file replaced":   {[]string{"ln a b", "rm b", "echo x > b", "cat a > c", "rm b"}, "3"},
		"one that mv replaced":             {[]string{"ln a b", "echo x > n", "mv n b", "echo y >> b", "cat a > c", "rm b"}, "0 1 2 4 5"},
		"one that sed replaced":            {[]string{"ln a b", "sed -i s/x/y/ b", "cat a > c", "rm b"}, "2"},
		"one that cp replaced":             {[]string{"ln a b", "cp --remove-destination n b", "echo x >> b", "cat a > c", "rm b"}, "3"},
		"one that was seen to be replaced": {[]string{"ln a b", "./gen b | b=1", "cat a > c", "rm b"}, "2"},
		"a symbolic link to it":            {[]string{"ln a b", "ln -s b l", "echo x >> l", "cat a > c", "rm a b l"}, "0 1 2 3 4"},
		"a mode":                           {[]string{"ln a b", "chmod 600 b", "cp -p a c", "rm a b"}, "0 1 2 3"},
	})
}
