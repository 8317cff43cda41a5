package recount

import (
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestIntegrationRunsEachTest checks that `make integration` runs every test with the build tag
// integration: it names their packages, and what their names have in them.
func TestIntegrationRunsEachTest(t *testing.T) {
	b, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	packages := regexp.MustCompile(`(?m)^KAFKA = (.*)$`).FindStringSubmatch(string(b))
	run := regexp.MustCompile(`(?m)-tags [^ ]*integration .*-run '(.*)' \$\(KAFKA\)$`).FindStringSubmatch(string(b))
	if packages == nil || run == nil {
		t.Fatal("Makefile: no KAFKA, or no tests of it")
	}
	out, err := exec.Command("git", "grep", "-lE", "^//go:build .*integration", "--", "*_test.go").Output()
	if err != nil {
		t.Fatalf("git grep: %v", err)
	}
	tests := 0
	for file := range strings.Lines(string(out)) {
		file = strings.TrimSpace(file)
		if !slices.Contains(strings.Fields(packages[1]), "./"+path.Dir(file)) {
			t.Errorf("make integration does not name the package of %s", file)
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(`).FindAllStringSubmatch(string(text), -1) {
			if tests++; !regexp.MustCompile(run[1]).MatchString(m[1]) {
				t.Errorf("make integration does not run %s of %s", m[1], file)
			}
		}
	}
	if tests < 6 {
		t.Errorf("only %d tests", tests)
	}
}
