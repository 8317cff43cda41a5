package lazyregexp

import "testing"

func TestRegexp(t *testing.T) {
	r := New(`(\w)=(\d+)`)
	if got := r.FindStringSubmatch("a=1"); len(got) != 3 || got[1] != "a" || got[2] != "1" {
		t.Errorf("FindStringSubmatch: %q", got)
	}
	if got := r.ReplaceAllString("a=1 b=2", "$2"); got != "1 2" {
		t.Errorf("ReplaceAllString: %q", got)
	}
	if !r.MatchString("c=3") || r.MatchString("c=") || r.String() != `(\w)=(\d+)` {
		t.Error("MatchString or String")
	}
}

func TestCompileAllFindsWhatIsWrong(t *testing.T) {
	before := len(all)
	t.Cleanup(func() { delete(all, `fine`); delete(all, `(`) })
	if first := New(`fine`); New(`fine`) != first {
		t.Error("the same text gives two expressions")
	}
	if got := CompileAll(); got != before+1 {
		t.Errorf("%d expressions, want %d", got, before+1)
	}
	New(`(`)
	defer func() {
		if recover() == nil {
			t.Error("an expression that is wrong is not found")
		}
	}()
	CompileAll()
}
