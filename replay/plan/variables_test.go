package plan

import "testing"

// TestUnset checks that a variable which was unset again brings nobody the line that set it, unless it is not known that
// it was unset, or the variable may have been there before.
func TestUnset(t *testing.T) {
	for name, c := range map[string]struct {
		lines []string
		want  string
	}{
		"set, tried and unset":        {[]string{"export F=x", "ls", "unset F", "./gen > out"}, "3"},
		"after something that works":  {[]string{"export F=x", "cd . && true && unset F", "./gen > out"}, "2"},
		"used in between":             {[]string{"export F=x", "./gen > out", "unset F", "./gen > again"}, "0 1 2 3"},
		"not unset":                   {[]string{"export F=x", "./gen > out"}, "0 1"},
		"set again":                   {[]string{"export F=x", "unset F", "export F=y", "./gen > out"}, "2 3"},
		"unset in a branch":           {[]string{"export F=x", "if test -f a; then unset F; fi", "./gen > out"}, "0 1 2"},
		"unset if something fails":    {[]string{"export F=x", "test -f a || unset F", "./gen > out"}, "0 1 2"},
		"unset in a shell of its own": {[]string{"export F=x", "(unset F)", "./gen > out"}, "0 2"},
		"unset before something else": {[]string{"export F=x", "unset F; true", "./gen > out"}, "0 1 2"},
		"the time that builds stamp":  {[]string{"export SOURCE_DATE_EPOCH=1", "tar cf a.tar b"}, "0 1"},
		"one that all programs have":  {[]string{"export TZ=UTC", "unset TZ", "./gen > out"}, "0 1 2"},
	} {
		p := made(t, narrative(c.lines...), Request{})
		if got := kept(p); got != c.want {
			t.Errorf("%s: kept %s, want %s", name, got, c.want)
		}
	}
}

// TestAliases has an alias of a function: who uses it needs both.
func TestAliases(t *testing.T) {
	p := made(t, narrative("greet() { echo hi $1 > f; }", "alias g='greet amy'", "g"), Request{})
	if got := kept(p); got != "0 1 2" {
		t.Errorf("kept %s", got)
	}
}
