package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestFaultsFitTheCode applies every fault of the list and looks for its test, so that a change of
// code quoted by a fault is noticed at once, and not by the next run of make mutants, which checks
// that the tests detect the faults.
func TestFaultsFitTheCode(t *testing.T) {
	root := filepath.Join("..", "..")
	faults, err := readFaults("faults")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range faults {
		if names[f.name] {
			t.Errorf("%s: a second fault is named %q", f.at, f.name)
		}
		names[f.name] = true
		source, err := os.ReadFile(filepath.Join(root, f.file))
		if err != nil {
			t.Errorf("%s: %v", f.at, err)
			continue
		}
		if _, err := f.apply(string(source)); err != nil {
			t.Error(err)
		}
		if !hasTest(t, filepath.Join(root, f.pkg), f.test) {
			t.Errorf("%s: %s has no test %s", f.at, f.pkg, f.test)
		}
	}
}

// hasTest reports whether a test file in dir declares a test that matches the expression.
func hasTest(t *testing.T, dir, test string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	// The names of subtests are known only when they run.
	top, _, _ := strings.Cut(test, "/")
	declared := regexp.MustCompile(`(?m)^func (` + top + `)\(`)
	for _, name := range files {
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if declared.Match(b) {
			return true
		}
	}
	return false
}

func TestParseFaults(t *testing.T) {
	const whole = "fault a\nfile f.go\nin g\ntest ./p TestX\n- x := 1\n+ x := 2\n"
	faults, err := parseFaults(strings.NewReader("# first\n"+whole+"\n"+whole), "list.txt")
	if err != nil || len(faults) != 2 {
		t.Fatalf("%v, %v", faults, err)
	}
	f := faults[1]
	if f.at != "list.txt:9" || f.file != "f.go" || f.in != "g" || f.pkg != "./p" || f.test != "TestX" || f.old[0] != "x := 1" || f.new[0] != "x := 2" {
		t.Errorf("parsed %+v", f)
	}
	for _, bad := range []string{"file f.go\n", "fault a\nfile f.go\n\n", "fault a\nwhere f.go\n"} {
		if _, err := parseFaults(strings.NewReader(bad), "list.txt"); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func TestApply(t *testing.T) {
	const source = "package p\n\nfunc f() {\n\tx := 1\n\ty()\n}\n\nfunc (t T) g() {\n\tx := 1\n}\n"
	for _, tc := range []struct {
		name string
		f    fault
		want string // what the error says, or the changed line
		ok   bool
	}{
		{"in a function", fault{in: "g", old: []string{"x := 1"}, new: []string{"x := 2"}}, "func (t T) g() {\nx := 2\n}", true},
		{"several lines", fault{old: []string{"x := 1", "y()"}, new: []string{"y()"}}, "func f() {\ny()\n}", true},
		{"deleted", fault{old: []string{"y()"}}, "x := 1\n\n}", true},
		{"twice", fault{old: []string{"x := 1"}}, "name the function", false},
		{"not there", fault{old: []string{"z()"}}, "it has changed", false},
		{"no such function", fault{in: "h", old: []string{"y()"}}, "no function h", false},
	} {
		got, err := tc.f.apply(source)
		if tc.ok != (err == nil) {
			t.Errorf("%s: %v", tc.name, err)
		} else if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tc.want) {
			t.Errorf("%s: got %q, want %q in it", tc.name, got, tc.want)
		}
	}
}
