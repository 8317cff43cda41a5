package plan

import (
	"strings"
	"testing"
)

// TestMendThatStood has failures that were mended more than once: the plan ends with the run whose mend stood, named by its number.
// Lines that begin with ! failed.
func TestMendThatStood(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  int
	}{
		"one run that worked":           {[]string{"!make | nothing", "sed -i s/a/b/ f | f=1>2 .", "make | nothing", "sed -i s/b/a/ f | f=2>1 ."}, 2},
		"nothing was taken back":        {[]string{"!make | nothing", "sed -i s/a/b/ f | f=1>2 .", "make | nothing", "sed -i s/x/y/ g | g=1>2 .", "make | nothing"}, 2},
		"an edit that a copy took back": {[]string{"cp f f.bak | f.bak=1 .", "!sh r | nothing", "sed -i /x/d f | f=1>2 .", "sh r | out=1 .", "cp f.bak f | f=2>1", "sed -i s/x/y/ g | g=1>2 .", "sh r | out=1>2"}, 6},
		"git checkout":                  {[]string{"!sh r | nothing", "sed -i s/a/b/ f | f=1>2 .", "sh r | nothing", "git checkout -- f | f=2>1", "!sh r | nothing", "sed -i s/x/y/ g | g=1>2 .", "sh r | nothing", "echo a > h | +h=1 .", "sh r | nothing"}, 6},
		"git checkout, nobody looked":   {[]string{"!make", "sed -i s/a/b/ f", "make", "git checkout -- f", "!make", "sed -i s/x/y/ g", "make"}, 6},
		"git revert":                    {[]string{"!sh r | nothing", "sed -i s/a/b/ f | f=1>2 .", "sh r | nothing", "git commit -qam try | .git/refs/heads/main=1", "git revert --no-edit HEAD | f=2>1 .git/refs/heads/main=2", "sed -i s/x/y/ g | g=1>2 .", "sh r | nothing"}, 6},
		"the last is not taken back":    {[]string{"!sh r | nothing", "sed -i s/a/b/ f | f=1>2 .", "sh r | nothing", "git checkout -- f | f=2>1", "sed -i s/x/y/ g | g=1>2 .", "sh r | nothing", "git checkout -- g | g=2>1", "sed -i s/i/j/ h | h=1>2 .", "sh r | nothing"}, 8},
		"a package that is removed":     {[]string{"!python3 app.py", "pip install old", "python3 app.py", "pip uninstall -y old", "pip install new", "python3 app.py"}, 5},
		"a variable that is unset":      {[]string{"!sh r", "export A=1", "sh r", "unset A", "!sh r", "echo a > conf", "sh r"}, 6},
		"a file that it names":          {[]string{"!sort a b", "echo x > b", "sort a b", "rm b", "!sort a b", "echo y > c", "cp c b", "sort a b"}, 7},
		"a patch that is tidied up":     {[]string{"!make | nothing", "cat > p <<'EOF'\nx\nEOF | +p=1 .", "patch f p | f=1>2 .", "make | nothing", "rm p | -p .", "make | nothing"}, 3},
		"all are taken back":            {[]string{"!sh r | nothing", "sed -i s/a/b/ f | f=1>2 .", "sh r | nothing", "git checkout -- f | f=2>1", "sed -i s/x/y/ g | g=1>2 .", "sh r | nothing", "git checkout -- g | g=2>1"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			lines := make([]string, len(c.lines))
			for i, l := range c.lines {
				lines[i] = strings.TrimPrefix(l, "!")
			}
			n := watched(lines...)
			one, at := int32(1), -1
			for i := range n.Commands {
				n.Commands[i].ContentHash = n.Commands[i].Command
				if strings.HasPrefix(c.lines[i], "!") {
					n.Commands[i].ExitCode = &one
					if at < 0 {
						at = i
					}
				}
			}
			m, after, err := mended(n.Commands, n.Commands[at])
			if err != nil {
				t.Fatal(err)
			}
			n.Commands = append(n.Commands[:at:at], after...)
			n.mend(m)
			if n.Goals[0] != id(c.want) || n.Commands[len(n.Commands)-1].ID != id(c.want) {
				t.Errorf("it ends with %q, want line %d", n.Commands[len(n.Commands)-1].Command, c.want)
			}
		})
	}
}
