package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestAReplayThatEndsOtherwiseIsKept has a program that does less where it is replayed. All steps are done there, but a
// file is missing: that is said, and nothing is applied until somebody has looked at it.
func TestAReplayThatEndsOtherwiseIsKept(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	w := newWorld(t)
	if out, code := w.sh(`mkdir a b; echo '[ -f flag ] && echo x > extra; echo y > out' > a/gen; cp a/gen b; touch a/flag; cd a; recount exec -- sh gen`); code != 0 {
		t.Fatal(out)
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(w.dir, "work/b", name))
		return err == nil
	}
	out, code := w.sh(`recount replay --find gen --map "$PWD/a=$PWD/b" --dir b --apply`)
	if strings.Contains(out, "no sandbox on this machine") {
		t.Skip(out)
	}
	if code != 2 || there("out") || !strings.Contains(out, "b/extra is missing\n") {
		t.Errorf("exit code %d, applied: %t\n%s", code, there("out"), out)
	}
	told := regexp.MustCompile(`recount replay --resume \S+ --apply`).FindString(out)
	if told == "" {
		t.Fatalf("nothing is told that takes it over:\n%s", out)
	}
	if out, _ := w.sh("recount replayed " + strings.Fields(told)[3]); !strings.Contains(out, "extra is missing") {
		t.Errorf("the log does not know it:\n%s", out)
	}
	if out, code := w.sh(told); code != 0 || !there("out") || there("extra") {
		t.Errorf("%s: exit code %d, out: %t\n%s", told, code, there("out"), out)
	}
}
