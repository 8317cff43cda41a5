package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestWhatASkippedStepLeavesIsKept has a step that fails and is skipped, with one that needs it. Nothing of the others is
// applied, since the narrative is not whole; it is kept, and the command that is told takes it over.
func TestWhatASkippedStepLeavesIsKept(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	w := newWorld(t)
	for _, line := range []string{"echo a > a.txt", "nonesuch-program > b.txt", "cat b.txt > c.txt"} {
		if out, code := w.sh("recount record --session s --shell bash --exit 0 -- '" + line + "'"); code != 0 {
			t.Fatal(out)
		}
	}
	there := func(name string) bool {
		_, err := os.Stat(filepath.Join(w.dir, "work", name))
		return err == nil
	}
	out, code := w.sh("recount replay --session s --dir . --apply --on-failure skip")
	if strings.Contains(out, "no sandbox on this machine") {
		t.Skip(out)
	}
	if code != 2 || there("a.txt") || !strings.Contains(out, "nothing of this is in the real directory yet, since not all steps are done\n") {
		t.Errorf("exit code %d, applied: %t\n%s", code, there("a.txt"), out)
	}
	told := regexp.MustCompile(`recount replay --resume \S+ --without 2,3 --apply`).FindString(out)
	if told == "" {
		t.Fatalf("nothing is told that takes over the rest:\n%s", out)
	}
	if out, code := w.sh(told); code != 0 || !there("a.txt") || there("c.txt") {
		t.Errorf("%s: exit code %d, a.txt: %t, c.txt: %t\n%s", told, code, there("a.txt"), there("c.txt"), out)
	}
}

// TestWhatAnErasedReplayWroteIsForgotten erases what a replay ran, whose files were not applied: they may have the erased
// text, so that forget names the run, and the run can be discarded without its plan.
func TestWhatAnErasedReplayWroteIsForgotten(t *testing.T) {
	t.Setenv("TMPDIR", "/var/tmp") // not /dev/shm: a sandbox has a /dev of its own
	w := newWorld(t)
	if out, code := w.sh("recount record --session s --shell bash --exit 0 -- 'echo zebrafish > a.txt'"); code != 0 {
		t.Fatal(out)
	}
	out, code := w.sh("recount replay --session s --dir .")
	if strings.Contains(out, "no sandbox on this machine") {
		t.Skip(out)
	}
	if code != 0 {
		t.Fatal(out)
	}
	kept := func() string {
		out, _ := w.sh("grep -rl zebrafish $HOME")
		return out
	}
	if kept() == "" {
		t.Fatal("the replay keeps nothing")
	}
	out, code = w.sh("recount forget --pattern zebrafish --yes")
	run := regexp.MustCompile(`r-[0-9a-f]+`).FindString(out)
	if code != 0 || run == "" {
		t.Fatalf("exit code %d, the run is not named:\n%s", code, out)
	}
	if out, code := w.sh("recount replay --resume " + run); code != 2 || !strings.Contains(out, "--discard") {
		t.Errorf("went on: exit code %d\n%s", code, out)
	}
	if out, code := w.sh("recount replay --resume " + run + " --discard"); code != 0 || kept() != "" {
		t.Errorf("exit code %d\n%s\nstill kept: %s", code, out, kept())
	}
}
