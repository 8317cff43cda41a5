package shellwords

import (
	"os/exec"
	"strings"
	"testing"
)

func TestJoin(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  string
	}{
		{[]string{"git", "commit", "-m", "it's done"}, `git commit -m 'it'\''s done'`},
		{[]string{"echo", ""}, "echo ''"},
		{[]string{"a=b", "x/y", "--z=1,2"}, "a=b x/y --z=1,2"},
		{[]string{"a\nb", "$HOME", "*"}, "'a\nb' '$HOME' '*'"},
	} {
		if got := Join(c.words); got != c.want {
			t.Errorf("%q: got %s, want %s", c.words, got, c.want)
		}
		out, err := exec.Command("sh", "-c", "printf '%s\\001' "+Join(c.words)).Output()
		if err != nil || string(out) != strings.Join(c.words, "\x01")+"\x01" {
			t.Errorf("%q: sh reads %q, %v", c.words, out, err)
		}
	}
}
