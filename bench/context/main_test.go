package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDescribed(t *testing.T) {
	title, body := described("Merge pull request #12 from ada/fix\n\nKeep the cookie (#12)\n\n<!-- a\ntemplate -->It was lost.\n\nSigned-off-by: Ada <ada@example.org>\n")
	if title != "Keep the cookie" || body != "It was lost." {
		t.Errorf("title %q, body %q", title, body)
	}
}

func TestSamplesOfAChange(t *testing.T) {
	s := sample{title: "Fix the cookie's path", given: "src/cookie.py"}
	files := changedFiles(":100644 100644 aa bb M\tsrc/cookie.py\n:100644 100644 aa bb M\tsrc/session.py\n:100644 100644 aa bb M\ttests/test_cookie.py\n:000000 100644 00 bb A\ttests/test_new.py\n:100644 100644 aa bb M\tCHANGES.rst\n:100644 100644 aa bb M\tpoetry.lock\n")
	if got, ok := testsOf(s, files); !ok || !slices.Equal(got.gold, []string{"tests/test_cookie.py"}) {
		t.Errorf("code2test: %v, %v", got.gold, ok)
	}
	if got, ok := rippleOf(s, files); !ok || !slices.Equal(got.gold, []string{"src/session.py", "tests/test_cookie.py"}) {
		t.Errorf("edit2ripple: %v, %v", got.gold, ok)
	}
	s.body = "See tests/test_cookie.py and session.py."
	if _, ok := testsOf(s, files); ok {
		t.Error("code2test: the text names the file that is to be found")
	}
	if _, ok := rippleOf(s, files); ok {
		t.Error("edit2ripple: the text names a file that is to be found")
	}
	s.body = ""
	if got, ok := rippleOf(s, slices.Delete(slices.Clone(files), 1, 2)); ok {
		t.Errorf("edit2ripple with a test alone: %v", got.gold)
	}
}

func TestKindsOfFiles(t *testing.T) {
	for path, want := range map[string]bool{
		"pkg/a_test.go": true, "src/FooTest.java": true, "src/Foo.Tests/Bar.cs": true, "packages/x/__tests__/a.ts": true, "test_a.py": true,
		"src/latest.go": false, "contest/a.py": false, "src/Attestation.java": false,
	} {
		if isTest(path) != want {
			t.Errorf("isTest(%s) = %v", path, !want)
		}
	}
}

func TestMeasure(t *testing.T) {
	long := file{"long.go", &text{shown: budget}}
	files := map[string]file{"long.go": long, "a.go": {"a.go", &text{shown: 10}}, "b.go": {"b.go", &text{shown: 10}}}
	got := measure([]string{"b.go", "a.go", "long.go"}, []string{"a.go", "long.go"}, files)
	if got.MRR != 0.5 || got.Recall20 != 1 || got.Yield8K != 1 {
		t.Errorf("%+v", got)
	}
	got = measure([]string{"long.go", "a.go"}, []string{"a.go", "absent.go"}, files)
	if got.MRR != 0.5 || got.Recall20 != 0.5 || got.Yield8K != 0 {
		t.Errorf("behind a long file: %+v", got)
	}
}

func TestTokensOfCode(t *testing.T) {
	for text, want := range map[string]int{"": 0, "a1 := b_2(3);": 8, "### src/x.go": 8, "1a": 2, "  é ": 1} {
		if got := codeTokens(text); got != want {
			t.Errorf("codeTokens(%q) = %d, want %d", text, got, want)
		}
	}
}

func TestSamplesOfRepositories(t *testing.T) {
	repos, err := repositories()
	if err != nil {
		t.Fatal(err)
	}
	half := map[string]string{}
	for _, r := range repos {
		half[r.name] = r.half
	}
	held := 0
	for line := range strings.Lines(samplesFile) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if len(f) < 6 || half[f[0]] == "" || slices.Contains(f[5:], f[4]) {
			t.Errorf("%q", line)
		}
		held += one(half[f[0]] == "held")
	}
	if held < 300 {
		t.Errorf("%d samples of the half that nothing is tuned on, want 300", held)
	}
}
