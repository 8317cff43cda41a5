package plan

import "testing"

// TestLoopsLeaveTheirVariables has loops that only display something, and lines that use the variable afterwards.
func TestLoopsLeaveTheirVariables(t *testing.T) {
	narratives(t, map[string]struct {
		lines []string
		want  string
	}{
		"for":                 {[]string{"for v in old new; do cat $v.1; done", "rm -f $v*"}, "0 1"},
		"counting":            {[]string{"for ((i=0; i<3; i++)); do echo $i; done", "echo $i > f"}, "0 1"},
		"select":              {[]string{"select v in a b; do echo $v; break; done", "echo $v > f"}, "0 1"},
		"in a subshell":       {[]string{"(for v in old new; do cat $v.1; done)", "echo $v > f"}, "1"},
		"set since":           {[]string{"for v in old new; do cat $v.1; done", "v=1", "echo $v > f"}, "1 2"},
		"set before":          {[]string{"v=1", "for v in old new; do cat $v.1; done", "echo $v > f"}, "1 2"},
		"a loop of its own":   {[]string{"for v in old new; do cat $v.1; done", "for v in a b; do echo $v > $v; done"}, "1"},
		"nobody uses it":      {[]string{"for v in old new; do cat $v.1; done", "echo a > f"}, "1"},
		"another one's shell": {[]string{"bash -c 'for v in old new; do cat $v.1; done'", "echo $v > f"}, "1"},
	})
}
