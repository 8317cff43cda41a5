package plan

import (
	"testing"

	"github.com/recountdb/recount/schemas"
)

// TestFunctionsOfStartupFiles asks for a command whose function another session wrote into the startup file.
func TestFunctionsOfStartupFiles(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"an alias":            {[]string{"echo \"alias shout='echo'\" >> ~/.bashrc", "echo \"alias quiet='true'\" >> ~/.bashrc", "shout hi > out"}, "0 2"},
		"a function":          {[]string{"cat >> ~/.bashrc <<'X'\nupper() { tr a-z A-Z < \"$1\"; }\nX", "ls > list", "upper list > out"}, "0 1 2"},
		"one of its session":  {[]string{"echo \"alias shout='echo'\" >> ~/.bashrc", "shout() { echo; }", "shout hi > out"}, "1 2"},
		"a program, no alias": {[]string{"echo \"alias grep='grep -n'\" >> ~/.bashrc", "ls > list", "grep a list > out"}, "1 2"},
	} {
		n := narrative(c.lines...)
		n.Commands[0].Session = "before"
		n.Goals = []schemas.EventID{n.Commands[2].ID}
		if got := kept(made(t, n, Request{})); got != c.want {
			t.Errorf("%s: kept %s, want %s", name, got, c.want)
		}
	}
}
