package plan

import "testing"

// TestToldBefore checks that what a line means by earlier lines of its session is judged where it runs.
func TestToldBefore(t *testing.T) {
	for why, c := range map[string]struct {
		lines []string
		want  bool // whether the last step is dangerous
	}{
		"an alias":                             {[]string{"alias tidy='rm -rf'", "tidy /srv/data"}, true},
		"an alias that is harmless":            {[]string{"alias tidy='rm -rf'", "mkdir build", "tidy build"}, false},
		"an alias that is taken back":          {[]string{"alias tidy='rm -rf'", "unalias tidy", "tidy /srv/data"}, false},
		"a function":                           {[]string{"tidy() { rm -rf \"$1\"; }", "tidy /srv/data"}, true},
		"a function given a path of the tree":  {[]string{"tidy() { rm -rf \"$1\"; }", "mkdir build", "tidy build"}, false},
		"a function that forwards":             {[]string{"run() { echo \"+ $*\"; \"$@\"; }", "run kubectl delete ns prod"}, true},
		"a function that an alias calls":       {[]string{"on() { h=$1; shift; ssh \"$h\" \"$@\"; }", "alias web='on web1'", "web sudo reboot"}, true},
		"a variable of several words":          {[]string{"CMD='rm -rf /srv/data'", "$CMD"}, true},
		"a variable whose words are harmless":  {[]string{"CMD='echo done'", "$CMD"}, false},
		"a program by a variable":              {[]string{"export K=kubectl", "$K delete ns prod"}, true},
		"a function of another shell":          {[]string{"bash -c 'tidy() { rm -rf \"$1\"; }'", "tidy /srv/data"}, false},
		"a variable that a later line changes": {[]string{"CMD='rm -rf /srv/data'", "CMD='echo done'", "$CMD"}, false},
	} {
		p := made(t, narrative(c.lines...), Request{All: true})
		last := p.Steps[len(p.Steps)-1]
		if got := len(last.Danger) > 0; last.Original != c.lines[len(c.lines)-1] || got != c.want {
			t.Errorf("%s: %s: %v, want dangerous %t", why, last.Original, last.Danger, c.want)
		}
	}
}
